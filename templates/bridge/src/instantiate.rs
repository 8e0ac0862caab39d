//! Generic code that most snippets need, compiled here once instead of in each of them.
//!
//! At the lowest optimisation levels, the compiler shares instances of generic code across crates: what is instantiated
//! here is linked, not compiled again. A snippet with one call then compiles 28 functions instead of 168. An instance
//! that a snippet does not compile saves it about 500 times what each instance costs every snippet, which reads the list
//! of them. So only what a noticeable part of all snippets needs belongs here.

mod collections;
mod errors;
mod iterators;
mod json;
mod results;
mod text;

pub use collections::collections;
pub use errors::errors;
pub use iterators::iterators;
pub use json::{json, read};
pub use results::{Common, conversions, results};
pub use text::text;
