//! From the tools of an MCP server to Rust: types, conversions and stubs, and their short form for models.
//!
//! Pure: text in, text out. The caller decides where tools come from, how the code is compiled and how calls
//! travel. The generated code uses the crate `bridge`.

#![forbid(unsafe_code)]

mod bindings;
mod diff;
mod documentation;
mod emit;
mod form;
mod ground;
pub mod highlight;
mod identity;
mod likeness;
mod model;
mod names;
mod normal_form;
mod normalise;
pub mod observe;
mod once;
mod report;
mod share;
mod signature;
mod spelling;
mod text;
mod tokens;
mod tool;
mod typing;

pub use bindings::{Bindings, ToolBinding, TypeBinding, generate, generate_with, root};
pub use diff::{Change, Changed, ToolsDiff, diff};
pub use names::module_names;
pub use normal_form::{NormalForm, normal_form};
pub use once::Once;
pub use report::{Fallback, Fidelity, Warning};
pub use signature::Style;
pub use text::clean;
pub use tokens::tokens;
pub use tool::{Answers, SchemaSource, Server, Tool};

/// The identity of this generator, for the keys of caches: a hash of its sources and of the locked dependencies.
pub const BUILD: &str = env!("CODEGEN_BUILD");
