//! The reason why a text is no program, or can't be called from other texts.

use crate::syntax_error::SyntaxError;

/// A reason, as a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Flaw(String);

impl Flaw {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Flaw(text.into())
    }
}

impl From<syn::Error> for Flaw {
    fn from(error: syn::Error) -> Self {
        Flaw(error.to_string())
    }
}

impl From<&SyntaxError> for Flaw {
    fn from(error: &SyntaxError) -> Self {
        Flaw(error.message.clone())
    }
}
