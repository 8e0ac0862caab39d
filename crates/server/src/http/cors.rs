//! Headers that let pages of the configured origins read responses (Fetch, "CORS protocol").
//!
//! Other modules decide which pages are accepted.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

/// The methods and headers of the protocol.
const METHODS: &str = "GET, POST, DELETE";
const HEADERS: &str = "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, \
                       mcp-protocol-version, mcp-session-id";

/// The response headers that a page may read.
const SHOWN: &str = "mcp-session-id, www-authenticate, retry-after";

/// The time for which a browser caches the permission, in seconds.
const REMEMBERED: &str = "600";

/// The response to a preflight request.
pub(super) fn permission() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Lets the page read a response.
pub(super) fn admit(mut answer: Response, page: HeaderValue) -> Response {
    let headers = answer.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(SHOWN));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    answer
}
