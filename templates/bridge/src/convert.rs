//! Conversions between JSON values and the types of generated bindings.
//!
//! Which types there are and what they are called is decided by the generator; here is what all of
//! them share, so that a generated type holds little more than the names of its fields. Nothing here is
//! `#[inline]`: it is compiled once, not in each set of bindings.

mod argument;
mod forward;
mod json;
mod mismatch;
mod number;
mod object;
mod reader;
mod sent;
mod shape;
mod text;

pub use argument::{Argument, OptionalArgument, optional_value, value};
pub use forward::{deserialize, serialize};
pub use json::{FromJson, ToJson, read};
pub use mismatch::Mismatch;
pub(crate) use number::{Readable, Unheld, readable, shortened};
pub use object::{object, object_with_extra, tagged};
pub use reader::Reader;
pub use sent::named;
pub(crate) use sent::{Refused, checked, no_number, taken_unfit, unfit};
pub use shape::{Fits, Generated, Referred, Shape, same_shape};
pub use text::{GeneratedText, UnknownText, is_text, parse_text, read_text};

/// What the macros of this module need, for crates that do not depend on serde themselves.
pub use serde;
pub use serde::Serialize;
pub use serde_json::Value;
