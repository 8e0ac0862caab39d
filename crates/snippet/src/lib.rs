//! From a model's text to the text that the compiler reads, and from the compiler's messages to hints and corrections.
//!
//! Pure: text in, text out. The caller runs the compiler, and has the tools, which are read through [`Catalog`].
//!
//! The modules are in the order of a text's way: it is read (also as the file of a saved program), spliced, and
//! compiled; then messages about it are read, explained and acted on.

#![forbid(unsafe_code)]

mod balance;
mod encoded;
mod lexical;
mod markdown;
pub mod other_languages;
mod syntax_depth;
mod syntax_error;
mod tokens;

mod captured_copies;
mod entry;
mod flow;
mod insertion;
mod plain_tail;
mod purpose;
mod snippet;
mod unused_calls;

mod code;
mod program_file;

pub mod in_scope;
pub mod splice;

mod catalog;
mod messages;

pub mod diagnostics;
mod hints;

mod attempts;
pub mod repair;

#[cfg(test)]
mod fixtures;

pub use attempts::Attempts;
pub use catalog::{Catalog, ServerModule, Tool};
pub use code::{Code, ProgramText};
pub use diagnostics::Diagnostic;
pub use hints::nearest::nearest;
pub use messages::{error_texts, is_summary};
pub use program_file::{
    About, Argument, ArgumentKind, Example, Flaw, InvalidProgram, ProgramFile, is_program_name,
};
pub use purpose::{Purpose, SCHEMA_CRATE};
pub use repair::Fix;
pub use snippet::{SNIPPET_LIMIT, Snippet};
pub use splice::Spliced;
pub use syntax_depth::{CHAIN_LIMIT, NESTING_LIMIT};
pub use syntax_error::SyntaxError;
