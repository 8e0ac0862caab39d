//! Contexts for what fails: `.context(…)` and `.with_context(…)`.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::fmt::Display;

use crate::Error;

/// An error that can get a context: one with the standard library's trait, or an [`Error`].
pub trait IntoError {
    /// Converts to an [`Error`].
    fn into_error(self) -> Error;
}

impl<E: StdError + Send + Sync + 'static> IntoError for E {
    #[track_caller]
    fn into_error(self) -> Error {
        Error::new(self)
    }
}

impl IntoError for Error {
    fn into_error(self) -> Error {
        self
    }
}

/// Adds a context to errors.
pub trait Context<T, E> {
    /// The value, or the error with `context`.
    ///
    /// # Errors
    /// The error with its context; for `None`, only the context.
    fn context<C: Display + Send + Sync + 'static>(self, context: C) -> Result<T, Error>;

    /// The same with a context created only if needed.
    ///
    /// # Errors
    /// As for [`Context::context`].
    fn with_context<C: Display + Send + Sync + 'static, F: FnOnce() -> C>(self, make: F) -> Result<T, Error>;
}

impl<T, E: IntoError> Context<T, E> for Result<T, E> {
    #[track_caller]
    fn context<C: Display + Send + Sync + 'static>(self, context: C) -> Result<T, Error> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(error.into_error().context(context)),
        }
    }

    #[track_caller]
    fn with_context<C: Display + Send + Sync + 'static, F: FnOnce() -> C>(self, make: F) -> Result<T, Error> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(error.into_error().context(make())),
        }
    }
}

impl<T> Context<T, Infallible> for Option<T> {
    #[track_caller]
    fn context<C: Display + Send + Sync + 'static>(self, context: C) -> Result<T, Error> {
        match self {
            Some(value) => Ok(value),
            None => Err(absent(context)),
        }
    }

    #[track_caller]
    fn with_context<C: Display + Send + Sync + 'static, F: FnOnce() -> C>(self, make: F) -> Result<T, Error> {
        match self {
            Some(value) => Ok(value),
            None => Err(absent(make())),
        }
    }
}

/// The error of a missing value: only its context.
#[track_caller]
fn absent<C: Display + Send + Sync + 'static>(context: C) -> Error {
    match original::Context::context(None::<Infallible>, context) {
        Ok(never) => match never {},
        Err(error) => Error::made(error),
    }
}
