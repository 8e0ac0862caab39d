//! The value that a snippet ends with, unwrapped by its type.
//!
//! [`finish!`](crate::finish) gives `Result<T, anyhow::Error>` for a plain `T` as well as for any `Result<T, E>`, also for
//! one in another, behind a reference, in a box or in an `Option`. Method look-up decides: of a `&&&&&&&&Tail<_>` it tries `Tail<_>` behind seven
//! references, then behind six, and so on, and each has the method for other types. The first fits
//! `Result<T, anyhow::Error>` (and pins an error type that nothing else determines), the next ones other errors by what can
//! be told of them, the last whatever is no `Result`.

use std::cell::Cell;
use std::fmt::{Debug, Display};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::fault::{Fault, of_source};
use crate::run::to_json;

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
        // Each step is taken once, right after `new`.
        self.0.take().expect("a tail is finished once")
    }
}

/// One step: `Result<T, anyhow::Error>` of a value or of a `Result`.
#[macro_export]
#[doc(hidden)]
macro_rules! finish_once {
    ($value:expr) => {
        (&&&&&&&&$crate::tail::Tail::new(&$crate::tail::place($value))).__finish()
    };
}

/// What becomes of a value that is not an `Err` in the end: three `Result`s may be in each other (of a task, of a time limit
/// and of a call), each behind a reference, in a box or in an `Option`.
#[macro_export]
#[doc(hidden)]
macro_rules! finish {
    ($value:expr) => {
        // What the value borrows from lives until the end of the `match`.
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
    /// The same as a `Result` of references.
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
    /// The `Result` of an `Option`.
    type Value;
    /// The failure, if it is one.
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
    /// What it is.
    type Value;
    /// The value as it is.
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
                /// What the result is.
                type Value;
                /// The result, with the error as one of `anyhow`'s.
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
    /// A `Result` with `anyhow`'s error, or one that nothing determines.
    FinishAnyhow: <T> &&&&&&&Tail<'_, anyhow::Result<T>> => T, |tail| tail, [];
    /// A `Result` with an error that may be that of a tool.
    FinishFault: <T, E> &&&&&&Tail<'_, Result<T, E>> => T, |tail| tail.map_err(|error| error.fault()), [E: Fault];
    /// A `Result` with another error that has causes.
    FinishError: <T, E> &&&&&Tail<'_, Result<T, E>> => T, |tail| tail.map_err(|error| of_source(&error)), [E: std::error::Error];
    /// A `Result` with an error that can be shown.
    FinishDisplay: <T, E> &&&&Tail<'_, Result<T, E>> => T, |tail| tail.map_err(|error| anyhow::anyhow!("{error}")), [E: Display];
    /// A `Result` with an error that can only be shown to programmers.
    FinishDebug: <T, E> &&&Tail<'_, Result<T, E>> => T, |tail| tail.map_err(|error| anyhow::anyhow!("{error:?}")), [E: Debug];
    /// A `Result` with an error that says nothing of itself.
    FinishOpaque: <T, E> &&Tail<'_, Result<T, E>> => T,
        |tail| tail.map_err(|_| anyhow::anyhow!("an error of the type {}", std::any::type_name::<E>())), [];
    /// What `main` may return in place of a value.
    FinishExit: <'n> &Tail<'n, ExitCode> => (), |code| { exit(code); Ok(()) }, [];
    /// A plain value.
    FinishValue: <T> Tail<'_, T> => T, |tail| Ok(tail), [];
}

/// A last value as JSON, which borrows from nothing.
///
/// # Errors
/// The snippet's own, or that of serialising the value.
pub fn owned<T: Outcome>(value: anyhow::Result<T>) -> anyhow::Result<Box<RawValue>> {
    to_json(&value?)
}

/// Ends the program with the code that `main` returns.
fn exit(code: ExitCode) {
    // The standard library tells codes apart, and not their numbers.
    let number = (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1);
    if number != 0 {
        std::process::exit(number.into());
    }
}

/// What a snippet may end with: anything that serialises.
#[diagnostic::on_unimplemented(
    message = "the snippet's result `{Self}` cannot be turned into JSON",
    note = "end the snippet with a value that implements `serde::Serialize`, or with `;` for no result",
    note = "a tool call must be awaited first: `.await?`"
)]
pub trait Outcome: Serialize {}

impl<T: Serialize> Outcome for T {}
