//! Errors that replace a page.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use history::{HistoryError, HistoryErrorKind};
use maud::html;

use crate::layout::{self, Section};
use crate::text::{breakable, lines};

/// The reason why a page can't be shown.
#[derive(Debug)]
pub(crate) struct PageError {
    status: StatusCode,
    message: String,
}

impl PageError {
    /// The request is wrong.
    pub(crate) fn wrong(message: impl Into<String>) -> Self {
        PageError { status: StatusCode::BAD_REQUEST, message: message.into() }
    }

    /// The request is understood and refused.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        PageError { status: StatusCode::FORBIDDEN, message: message.into() }
    }

    /// The page only reads.
    pub(crate) fn read_only() -> Self {
        PageError::forbidden("the page only reads: to change things, start it with --allow-actions")
    }

    /// Too much is done at the same time.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        PageError { status: StatusCode::SERVICE_UNAVAILABLE, message: message.into() }
    }

    /// There is no such thing.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        PageError { status: StatusCode::NOT_FOUND, message: message.into() }
    }

    /// This program failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        PageError { status: StatusCode::INTERNAL_SERVER_ERROR, message: message.into() }
    }
}

impl From<HistoryError> for PageError {
    fn from(error: HistoryError) -> Self {
        let message = error.to_string();
        match error.kind {
            HistoryErrorKind::Missing => PageError::missing(message),
            HistoryErrorKind::Ambiguous => PageError::wrong(message),
            HistoryErrorKind::File | HistoryErrorKind::Format => PageError::failed(message),
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let body = html! {
            h1 { (title) }
            p.error { (breakable(&lines(&self.message))) }
            p { a href="executions" { "All executions" } }
        };
        (self.status, layout::page(title, Section::None, body)).into_response()
    }
}
