//! The value that a snippet ends with, unwrapped by its type.
//!
//! `Tail::new(value).finish()` gives `Result<T, anyhow::Error>` for a plain `T` as well as for any
//! `Result<T, E>` with an error that can be shown. Method look-up decides: the inherent method fits
//! `Result<T, anyhow::Error>` (and pins an error type that nothing else determines), the trait on `&`
//! fits every other `Result`, the trait on `&mut` whatever remains.

use std::any::Any;
use std::fmt::Display;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::error::ToolError;

/// Holds a snippet's last value.
pub struct Tail<T>(std::cell::Cell<Option<T>>);

impl<T> Tail<T> {
    /// Holds `value`.
    pub fn new(value: T) -> Self {
        Tail(std::cell::Cell::new(Some(value)))
    }

    fn take(&self) -> T {
        // `finish` is called once, right after `new`.
        self.0.take().expect("a tail is finished once")
    }
}

impl<T> Tail<anyhow::Result<T>> {
    /// The result as it is.
    ///
    /// # Errors
    /// The snippet's own.
    pub fn finish(self) -> anyhow::Result<T> {
        self.take()
    }
}

/// A `Result` with an error of another type.
pub trait FinishResult {
    /// What `Ok` holds.
    type Value;
    /// The result, with the error converted.
    ///
    /// # Errors
    /// The snippet's own.
    fn finish(self) -> anyhow::Result<Self::Value>;
}

impl<T, E: Display + 'static> FinishResult for &Tail<Result<T, E>> {
    type Value = T;
    fn finish(self) -> anyhow::Result<T> {
        self.take().map_err(|error| keep_tool_error(&error))
    }
}

/// A plain value.
pub trait FinishValue {
    /// The value's type.
    type Value;
    /// The value as `Ok`.
    ///
    /// # Errors
    /// None.
    fn finish(self) -> anyhow::Result<Self::Value>;
}

impl<T> FinishValue for &mut Tail<T> {
    type Value = T;
    fn finish(self) -> anyhow::Result<T> {
        Ok(self.take())
    }
}

fn keep_tool_error<E: Display + 'static>(error: &E) -> anyhow::Error {
    match (error as &dyn Any).downcast_ref::<ToolError>() {
        Some(tool) => anyhow::Error::new(tool.clone()),
        None => anyhow::Error::msg(error.to_string()),
    }
}

/// A last value as JSON, which borrows from nothing.
///
/// # Errors
/// The snippet's own, or that of serialising the value.
pub fn owned<T: Outcome>(value: anyhow::Result<T>) -> anyhow::Result<Box<RawValue>> {
    Ok(to_raw_value(&value?)?)
}

/// What a snippet may end with: anything that serialises.
#[diagnostic::on_unimplemented(
    message = "the snippet's result `{Self}` cannot be turned into JSON",
    note = "end the snippet with a value that implements `serde::Serialize`, or with `;` for no result",
    note = "a tool call must be awaited first: `.await?`"
)]
pub trait Outcome: Serialize {}

impl<T: Serialize> Outcome for T {}
