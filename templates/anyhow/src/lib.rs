//! `anyhow` for snippets: the same names and behaviour, and errors that record where `?` created them.
//!
//! The conversion in `?` is called with the position of the `?` (`#[track_caller]`), which anyhow itself does not keep.
//! Everything else is anyhow's own: chain, contexts, formatting and downcasts.

#![forbid(unsafe_code)]

extern crate anyhow as original;

mod context;
mod macros;

use std::error::Error as StdError;
use std::fmt::{self, Debug, Display};
use std::ops::{Deref, DerefMut};
use std::panic::Location;

pub use context::{Context, IntoError};
pub use original::Chain;

/// The functions that the macros of this crate expand to.
#[doc(hidden)]
pub mod __private {
    pub use original::anyhow;

    /// An error created by the caller.
    #[must_use]
    #[track_caller]
    pub fn made(error: original::Error) -> crate::Error {
        crate::Error::made(error)
    }
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// `Ok` with the error type [`Error`].
///
/// # Errors
/// Never.
#[expect(non_snake_case, reason = "anyhow's name")]
pub fn Ok<T>(value: T) -> Result<T> {
    Result::Ok(value)
}

/// Any error, with the position that converted it to this type.
pub struct Error {
    error: original::Error,
    place: &'static Location<'static>,
}

impl Error {
    #[track_caller]
    fn made(error: original::Error) -> Self {
        Error { error, place: Location::caller() }
    }

    /// Creates an error from `error`.
    #[must_use]
    #[track_caller]
    pub fn new<E: StdError + Send + Sync + 'static>(error: E) -> Self {
        Error::made(original::Error::new(error))
    }

    /// Creates an error with only a message.
    #[must_use]
    #[track_caller]
    pub fn msg<M: Display + Debug + Send + Sync + 'static>(message: M) -> Self {
        Error::made(original::Error::msg(message))
    }

    /// Creates an error from a boxed one.
    #[must_use]
    #[track_caller]
    pub fn from_boxed(error: Box<dyn StdError + Send + Sync + 'static>) -> Self {
        Error::made(original::Error::from_boxed(error))
    }

    /// Adds `context`, which is shown before the error.
    #[must_use]
    pub fn context<C: Display + Send + Sync + 'static>(self, context: C) -> Self {
        Error { error: self.error.context(context), place: self.place }
    }

    /// Where it was created: the position of the first `?` it passed.
    #[must_use]
    pub fn place(&self) -> &'static Location<'static> {
        self.place
    }

    /// The same error with another position.
    #[must_use]
    pub fn at(self, place: &'static Location<'static>) -> Self {
        Error { place, ..self }
    }

    /// The error and its causes.
    #[must_use]
    pub fn chain(&self) -> Chain<'_> {
        self.error.chain()
    }

    /// The last cause.
    #[must_use]
    pub fn root_cause(&self) -> &(dyn StdError + 'static) {
        self.error.root_cause()
    }

    /// The backtrace, if captured.
    pub fn backtrace(&self) -> &std::backtrace::Backtrace {
        self.error.backtrace()
    }

    /// Whether it is an `E`, or has one as a context.
    #[must_use]
    pub fn is<E: Display + Debug + Send + Sync + 'static>(&self) -> bool {
        self.error.is::<E>()
    }

    /// The `E` that it is.
    ///
    /// # Errors
    /// The error itself, if it is not an `E`.
    pub fn downcast<E: Display + Debug + Send + Sync + 'static>(self) -> std::result::Result<E, Self> {
        let Error { error, place } = self;
        error.downcast().map_err(|error| Error { error, place })
    }

    /// The `E` that it is.
    #[must_use]
    pub fn downcast_ref<E: Display + Debug + Send + Sync + 'static>(&self) -> Option<&E> {
        self.error.downcast_ref()
    }

    /// The `E` that it is.
    #[must_use]
    pub fn downcast_mut<E: Display + Debug + Send + Sync + 'static>(&mut self) -> Option<&mut E> {
        self.error.downcast_mut()
    }

    /// Converts the error to a box of the standard library's trait.
    #[must_use]
    pub fn into_boxed_dyn_error(self) -> Box<dyn StdError + Send + Sync + 'static> {
        self.error.into_boxed_dyn_error()
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    #[track_caller]
    fn from(error: E) -> Self {
        Error::made(original::Error::from(error))
    }
}

impl From<Error> for original::Error {
    fn from(error: Error) -> Self {
        error.error
    }
}

macro_rules! boxes {
    ($($boxed:ty),+) => {
        $(impl From<Error> for Box<$boxed> {
            fn from(error: Error) -> Self {
                error.error.into()
            }
        })+
    };
}

boxes!(dyn StdError + Send + Sync + 'static, dyn StdError + Send + 'static, dyn StdError + 'static);

impl Deref for Error {
    type Target = dyn StdError + Send + Sync + 'static;

    fn deref(&self) -> &Self::Target {
        &*self.error
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.error
    }
}

impl AsRef<dyn StdError + Send + Sync> for Error {
    fn as_ref(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &**self
    }
}

impl AsRef<dyn StdError> for Error {
    fn as_ref(&self) -> &(dyn StdError + 'static) {
        &**self
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.error, formatter)
    }
}

impl Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.error, formatter)
    }
}

#[cfg(test)]
mod tests;
