//! Composes one static executable from two images: a base that was linked once, and a program linked against it.
//!
//! Pure: bytes in, bytes out. Running the base's linker, keeping files and executing the result are left to the caller.
//!
//! 1. The caller links the base: all libraries as a whole, without an entry point, at the linker's default address.
//! 2. [`prepare()`] returns the base's [`Layout`], its bytes without symbols, and a table of its symbols.
//! 3. [`link()`] links each program against that table, at addresses after the base's.
//! 4. [`compose()`] returns the bytes to write over a copy of the prepared base: headers, tables and the program.
//!
//! None accepts what it does not know: each unknown segment, section or relocation is an [`Error`], and the caller
//! links such a program as a whole.

mod compose;
mod elf;
#[cfg(test)]
mod fixtures;
mod layout;
mod link;
mod machine;
mod prepare;
mod symbols;
mod tls;
mod unwind;

pub use compose::{Composition, compose};
pub use layout::Layout;
pub use link::{Inputs, link};
pub use machine::Machine;
pub use prepare::{Prepared, prepare};

/// Version of what [`prepare()`] and [`link()`] return: part of the key of everything that is kept of it. Raise it with
/// each change of the layout, of the symbols, of the rooms that the layout reserves, or of how programs are linked.
pub const VERSION: u32 = 6;

/// The reason why an image can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not a well-formed executable.
    #[error("the image is malformed: {0}")]
    Malformed(String),
    /// The image has a part that has no defined place in the result.
    #[error("the image has {0}, which can't be composed")]
    Unsupported(String),
}

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

fn malformed(what: impl Into<String>) -> Error {
    Error::Malformed(what.into())
}

fn unsupported(what: impl Into<String>) -> Error {
    Error::Unsupported(what.into())
}
