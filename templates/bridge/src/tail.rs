//! The value that a snippet ends with, unwrapped by its type.
//!
//! `(&mut Tail::new(&place(value))).finish()` gives `Result<T, anyhow::Error>` for a plain `T` as well as for any `Result<T, E>`.
//! Method look-up decides: of a `&mut Tail<_>` it tries the receivers `&mut Tail`, `&&mut Tail`, `&mut &mut Tail`,
//! `Tail` and `&Tail`, in this order, and each has the method for other types. The first fits `Result<T, anyhow::Error>`
//! (and pins an error type that nothing else determines), the next ones other errors by what can be told of
//! them, the last whatever is no `Result`.

use std::any::Any;
use std::cell::Cell;
use std::fmt::{Debug, Display};

use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::ToolError;
use crate::written::to_raw;

/// A place for a snippet's last value.
pub fn place<T>(value: T) -> Cell<Option<T>> {
    Cell::new(Some(value))
}

/// A snippet's last value, in its [`place`]: a copy of it may be made whatever the value is.
pub struct Tail<'a, T>(&'a Cell<Option<T>>);

impl<T> Clone for Tail<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Tail<'_, T> {}

impl<'a, T> Tail<'a, T> {
    /// The value in `place`.
    pub fn new(place: &'a Cell<Option<T>>) -> Self {
        Tail(place)
    }

    fn take(self) -> T {
        // `finish` is called once, right after `new`.
        self.0.take().expect("a tail is finished once")
    }
}

/// A `Result` with `anyhow`'s error, or one that nothing determines.
pub trait FinishAnyhow {
    /// What the result is.
    type Value;
    /// The result, with the error as one of `anyhow`'s.
    ///
    /// # Errors
    /// The snippet's own.
    fn finish(self) -> anyhow::Result<Self::Value>;
}

impl<T> FinishAnyhow for &mut Tail<'_, anyhow::Result<T>> {
    type Value = T;
    fn finish(self) -> anyhow::Result<T> {
        self.take()
    }
}

/// A `Result` with an error that can be shown.
pub trait FinishDisplay {
    /// What the result is.
    type Value;
    /// The result, with the error as one of `anyhow`'s.
    ///
    /// # Errors
    /// The snippet's own.
    fn finish(self) -> anyhow::Result<Self::Value>;
}

impl<T, E: Display + 'static> FinishDisplay for &&mut Tail<'_, Result<T, E>> {
    type Value = T;
    fn finish(self) -> anyhow::Result<T> {
        self.take().map_err(|error| keep_tool_error(&error))
    }
}

/// A `Result` with an error that can only be shown to programmers.
pub trait FinishDebug {
    /// What the result is.
    type Value;
    /// The result, with the error as one of `anyhow`'s.
    ///
    /// # Errors
    /// The snippet's own.
    fn finish(self) -> anyhow::Result<Self::Value>;
}

impl<T, E: Debug> FinishDebug for &mut &mut Tail<'_, Result<T, E>> {
    type Value = T;
    fn finish(self) -> anyhow::Result<T> {
        self.take().map_err(|error| anyhow::anyhow!("{error:?}"))
    }
}

/// A `Result` with an error that says nothing of itself.
pub trait FinishError {
    /// What the result is.
    type Value;
    /// The result, with the error as one of `anyhow`'s.
    ///
    /// # Errors
    /// The snippet's own.
    fn finish(self) -> anyhow::Result<Self::Value>;
}

impl<T, E> FinishError for Tail<'_, Result<T, E>> {
    type Value = T;
    fn finish(self) -> anyhow::Result<T> {
        self.take().map_err(|_| anyhow::anyhow!("an error of the type {}", std::any::type_name::<E>()))
    }
}

/// A plain value.
pub trait FinishValue {
    /// What the result is.
    type Value;
    /// The result, with the error as one of `anyhow`'s.
    ///
    /// # Errors
    /// The snippet's own.
    fn finish(self) -> anyhow::Result<Self::Value>;
}

impl<T> FinishValue for &Tail<'_, T> {
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
    Ok(to_raw(&value?)?)
}

/// What a snippet may end with: anything that serialises.
#[diagnostic::on_unimplemented(
    message = "the snippet's result `{Self}` cannot be turned into JSON",
    note = "end the snippet with a value that implements `serde::Serialize`, or with `;` for no result",
    note = "a tool call must be awaited first: `.await?`"
)]
pub trait Outcome: Serialize {}

impl<T: Serialize> Outcome for T {}
