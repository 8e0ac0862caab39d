//! `anyhow` as snippets have it: the same names and behaviour, and errors that know where `?` made them.
//!
//! The conversion behind `?` is called with the place of the `?` (`#[track_caller]`), which anyhow itself does not keep.
//! Everything else of an error is anyhow's own: its chain, its contexts, how it is shown and told apart.

extern crate anyhow as original;

mod context;
mod macros;

use std::error::Error as StdError;
use std::fmt::{self, Debug, Display};
use std::ops::{Deref, DerefMut};
use std::panic::Location;

pub use context::{Context, IntoError};
pub use original::Chain;

/// What the macros of this crate expand to.
#[doc(hidden)]
pub mod __private {
    pub use original::anyhow;

    /// An error that is made where this is called.
    #[must_use]
    #[track_caller]
    pub fn made(error: original::Error) -> crate::Error {
        crate::Error::made(error)
    }
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// `Ok` whose error type is [`Error`].
///
/// # Errors
/// None.
#[expect(non_snake_case, reason = "anyhow's name")]
pub fn Ok<T>(value: T) -> Result<T> {
    Result::Ok(value)
}

/// Any error, with the place that made it one of this type.
pub struct Error {
    error: original::Error,
    place: &'static Location<'static>,
}

impl Error {
    #[track_caller]
    fn made(error: original::Error) -> Self {
        Error { error, place: Location::caller() }
    }

    /// The error that `error` is.
    #[must_use]
    #[track_caller]
    pub fn new<E: StdError + Send + Sync + 'static>(error: E) -> Self {
        Error::made(original::Error::new(error))
    }

    /// An error with only a message.
    #[must_use]
    #[track_caller]
    pub fn msg<M: Display + Debug + Send + Sync + 'static>(message: M) -> Self {
        Error::made(original::Error::msg(message))
    }

    /// The error in a box.
    #[must_use]
    #[track_caller]
    pub fn from_boxed(error: Box<dyn StdError + Send + Sync + 'static>) -> Self {
        Error::made(original::Error::from_boxed(error))
    }

    /// The error with `context`, which is shown before it.
    #[must_use]
    pub fn context<C: Display + Send + Sync + 'static>(self, context: C) -> Self {
        Error { error: self.error.context(context), place: self.place }
    }

    /// Where it was made: of `?`, the place of the first one that it came by.
    #[must_use]
    pub fn place(&self) -> &'static Location<'static> {
        self.place
    }

    /// The same error, made at another place.
    #[must_use]
    pub fn at(self, place: &'static Location<'static>) -> Self {
        Error { place, ..self }
    }

    /// The error and its causes.
    #[must_use]
    pub fn chain(&self) -> Chain<'_> {
        self.error.chain()
    }

    /// The last of the causes.
    #[must_use]
    pub fn root_cause(&self) -> &(dyn StdError + 'static) {
        self.error.root_cause()
    }

    /// The backtrace, where one was taken.
    pub fn backtrace(&self) -> &std::backtrace::Backtrace {
        self.error.backtrace()
    }

    /// Whether it is an `E`, or has one as its context.
    #[must_use]
    pub fn is<E: Display + Debug + Send + Sync + 'static>(&self) -> bool {
        self.error.is::<E>()
    }

    /// The `E` that it is.
    ///
    /// # Errors
    /// The error itself, where it is none.
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

    /// The error as a box of the standard library's trait.
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
