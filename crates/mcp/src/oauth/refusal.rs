//! Keeps why the last request to an authorization server was not granted: the library's errors do not say it.

use std::sync::Arc;

use parking_lot::Mutex;

/// The reason why the last request was not granted.
#[derive(Clone, Default)]
pub(super) struct LastRefusal(Arc<Mutex<Option<Refusal>>>);

/// A refusal, which the library's error does not contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The authorization server's answer.
    Answered(String),
    /// The request was not sent, or its answer not used.
    Bounded(String),
}

impl LastRefusal {
    /// Sets what the authorization server answered; `None` if it granted the request.
    pub(super) fn set(&self, text: Option<String>) {
        self.replace(text.map(Refusal::Answered));
    }

    /// Sets why a request was not sent, or its answer not used.
    pub(super) fn set_refused(&self, text: String) {
        self.replace(Some(Refusal::Bounded(text)));
    }

    fn replace(&self, refusal: Option<Refusal>) {
        *self.0.lock() = refusal;
    }

    pub(super) fn take(&self) -> Option<Refusal> {
        self.0.lock().take()
    }
}
