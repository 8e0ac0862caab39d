//! Unwraps the value that a snippet ends with, depending on its type.
//!
//! [`finish!`](crate::finish) returns `Result<T, anyhow::Error>` for a plain `T` as well as for any `Result<T, E>`,
//! even if nested in another, behind a reference, in a box or in an `Option`. Method lookup chooses: for a
//! `&&&&&&&&Tail<_>` it tries `Tail<_>` behind seven references, then six, and so on, and each has the method for other
//! types. The first matches `Result<T, anyhow::Error>` (and fixes an undetermined error type), the next ones other
//! errors by what they can report about themselves, the last everything that is not a `Result`.

use std::cell::Cell;
use std::fmt::{Debug, Display};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::fault::{Fault, of_source};
use crate::run::to_json;

/// A cell for a snippet's last value.
pub fn place<T>(value: T) -> Cell<Option<T>> {
    Cell::new(Some(value))
}

/// A snippet's last value in its [`place`]; copyable whatever the value is.
pub struct Tail<'a, T>(&'a Cell<Option<T>>);

impl<T> Clone for Tail<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Tail<'_, T> {}

impl<'a, T> Tail<'a, T> {
    /// Refers to the value in `place`.
    pub fn new(place: &'a Cell<Option<T>>) -> Self {
        Tail(place)
    }

    fn take(self) -> T {
        // Each step takes the value once, right after `new`.
        self.0.take().expect("a tail is finished once")
    }
}

/// One step: converts a value or `Result` to `Result<T, anyhow::Error>`.
#[macro_export]
#[doc(hidden)]
macro_rules! finish_once {
    ($value:expr) => {
        (&&&&&&&&$crate::tail::Tail::new(&$crate::tail::place($value))).__finish()
    };
}

/// Unwraps a value that is not an `Err` in the end: up to three `Result`s may be nested (of a task, a timeout and a
/// call), each behind a reference, in a box or in an `Option`.
#[macro_export]
#[doc(hidden)]
macro_rules! finish {
    ($value:expr) => {
        // Temporaries that the value borrows from live until the end of the `match`.
        match $value {
            value => {
                let value = (&&&&$crate::tail::Tail::new(&$crate::tail::place(value))).__peel();
                let value = $crate::finish_once!(value)?;
                let value = (&&&&$crate::tail::Tail::new(&$crate::tail::place(value))).__peel();
                let value = $crate::finish_once!(value)?;
                let value = (&&&&$crate::tail::Tail::new(&$crate::tail::place(value))).__peel();
                $crate::finish_once!(value)
            }
        }
    };
}

/// A reference to a `Result`.
pub trait PeelResult {
    /// A `Result` of references.
    type Value;
    /// The value without the reference.
    fn __peel(&self) -> Self::Value;
}

impl<'r, T, E> PeelResult for &&&Tail<'_, &'r Result<T, E>> {
    type Value = Result<&'r T, &'r E>;
    fn __peel(&self) -> Self::Value {
        self.take().as_ref()
    }
}

/// An `Option` of a `Result`.
pub trait PeelOption {
    /// A `Result` of an `Option`.
    type Value;
    /// The failure, if there is one.
    fn __peel(&self) -> Self::Value;
}

impl<T, E> PeelOption for &&Tail<'_, Option<Result<T, E>>> {
    type Value = Result<Option<T>, E>;
    fn __peel(&self) -> Self::Value {
        self.take().transpose()
    }
}

/// A `Result` in a box.
pub trait PeelBox {
    /// The `Result`.
    type Value;
    /// The value without the box.
    fn __peel(&self) -> Self::Value;
}

impl<T, E> PeelBox for &Tail<'_, Box<Result<T, E>>> {
    type Value = Result<T, E>;
    fn __peel(&self) -> Self::Value {
        *self.take()
    }
}

/// Anything else.
pub trait PeelValue {
    /// The type of the value.
    type Value;
    /// The value unchanged.
    fn __peel(&self) -> Self::Value;
}

impl<T> PeelValue for Tail<'_, T> {
    type Value = T;
    fn __peel(&self) -> T {
        self.take()
    }
}

macro_rules! steps {
    ($($(#[$about:meta])* $name:ident: <$($generic:tt),*> $receiver:ty => $value:ty, |$tail:ident| $finish:expr, [$($bound:tt)*];)*) => {
        $(
            $(#[$about])*
            pub trait $name {
                /// The type of the result.
                type Value;
                /// The result with `anyhow`'s error.
                ///
                /// # Errors
                /// The snippet's own.
                fn __finish(&self) -> anyhow::Result<Self::Value>;
            }

            impl<$($generic),*> $name for $receiver where $($bound)* {
                type Value = $value;
                fn __finish(&self) -> anyhow::Result<$value> {
                    let $tail = self.take();
                    $finish
                }
            }
        )*
    };
}

steps! {
    /// A `Result` with `anyhow`'s error, or with an undetermined one.
    FinishAnyhow: <T> &&&&&&&Tail<'_, anyhow::Result<T>> => T, |tail| tail, [];
    /// A `Result` with an error that may be a tool error.
    FinishFault: <T, E> &&&&&&Tail<'_, Result<T, E>> => T, |tail| tail.map_err(|error| error.fault()), [E: Fault];
    /// A `Result` with another error that has causes.
    FinishError: <T, E> &&&&&Tail<'_, Result<T, E>> => T, |tail| tail.map_err(|error| of_source(&error)), [E: std::error::Error];
    /// A `Result` with a displayable error.
    FinishDisplay: <T, E> &&&&Tail<'_, Result<T, E>> => T, |tail| tail.map_err(|error| anyhow::anyhow!("{error}")), [E: Display];
    /// A `Result` with an error that only has debug output.
    FinishDebug: <T, E> &&&Tail<'_, Result<T, E>> => T, |tail| tail.map_err(|error| anyhow::anyhow!("{error:?}")), [E: Debug];
    /// A `Result` with an error without any description.
    FinishOpaque: <T, E> &&Tail<'_, Result<T, E>> => T,
        |tail| tail.map_err(|_| anyhow::anyhow!("an error of the type {}", std::any::type_name::<E>())), [];
    /// The types that `main` may return instead of a value.
    FinishExit: <'n> &Tail<'n, ExitCode> => (), |code| { exit(code); Ok(()) }, [];
    /// A plain value.
    FinishValue: <T> Tail<'_, T> => T, |tail| Ok(tail), [];
}

/// Converts a last value to JSON, which borrows nothing.
///
/// # Errors
/// The snippet's own, or that of serializing the value.
pub fn owned<T: Outcome>(value: anyhow::Result<T>) -> anyhow::Result<Box<RawValue>> {
    to_json(&value?)
}

/// Exits the program with the code that `main` returns.
fn exit(code: ExitCode) {
    // The standard library lets codes be compared, but not read.
    let number = (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1);
    if number != 0 {
        std::process::exit(number.into());
    }
}

/// A value that a snippet may end with: anything that serializes.
#[diagnostic::on_unimplemented(
    message = "the snippet's result `{Self}` cannot be turned into JSON",
    note = "end the snippet with a value that implements `serde::Serialize`, or with `;` for no result",
    note = "a tool call must be awaited first: `.await?`"
)]
pub trait Outcome: Serialize {}

impl<T: Serialize> Outcome for T {}
