//! Conversions between JSON values and the types of generated bindings.
//!
//! The generator defines the types and their names; this module has everything they share, so that a generated type
//! contains little more than its field names. Nothing here is `#[inline]`: it is compiled once, not in each set of
//! bindings.

mod argument;
mod extra;
mod fields;
mod forward;
mod json;
mod mismatch;
mod nullable;
mod number;
mod object;
mod reader;
mod sent;
mod shape;
mod text;
mod unit;
mod written;

pub use argument::{Argument, OptionalArgument, optional_value, value};
pub use extra::{Extra, debug};
pub use forward::{deserialize, serialize};
pub use json::{FromJson, ToJson, read};
pub use mismatch::Mismatch;
pub use nullable::{read_nullable, with_nullable};
pub(crate) use number::{Readable, Unheld, readable, too_large, warn_of_rounded};
pub use object::{object, object_with_extra, tagged};
pub use reader::Reader;
pub use sent::named;
pub(crate) use sent::{Purpose, Refused, checked, no_number, taken_unfit, unfit, warn_of_null};
pub use shape::{Fits, Generated, Referred, Shape, same_shape};
pub use text::{GeneratedText, UnknownText, is_text, parse_text, read_text};

pub use indexmap::IndexMap;
/// For the macros of this module in crates that do not depend on serde themselves.
pub use serde;
pub use serde::Serialize;
pub use serde_json::Value;
