//! What browsers are told, so that pages of the configured origins can read answers (Fetch, "CORS protocol").
//!
//! Which pages these are is decided before.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

/// The methods and headers of the protocol.
const METHODS: &str = "GET, POST, DELETE";
const HEADERS: &str = "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, \
                       mcp-protocol-version, mcp-session-id";

/// What a page may read beside the answer itself.
const SHOWN: &str = "mcp-session-id, www-authenticate, retry-after";

/// How long a browser remembers it, in seconds.
const REMEMBERED: &str = "600";

/// The answer to a browser that asks what a page may send.
pub(super) fn permission() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// An answer that the page may read.
pub(super) fn admit(mut answer: Response, page: HeaderValue) -> Response {
    let headers = answer.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(SHOWN));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    answer
}
