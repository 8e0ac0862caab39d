//! Writes bundles: the program, the parts of the toolchain that compiling snippets opens, compiled crates and bindings,
//! licences, lists of components and a manifest, as a folder or as an archive.
//!
//! `runner::bundle` finds a bundle and uses it. The caller builds what goes into it.

#![forbid(unsafe_code)]

mod archive;
mod elf;
mod error;
mod exercises;
mod folders;
mod licences;
mod opened;
mod sbom;
mod stage;
mod symbols;
mod write;

pub use archive::LEVELS;
pub use write::{ARCHIVE, Contents, Written, check, write};
