//! Refuses ambiguous heads of requests, which two HTTP implementations may read differently.
//!
//! The endpoint checks hosts and origins.

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

/// Headers that may appear only once, because access, content or ownership depends on them.
const ONCE: [HeaderName; 7] = [
    header::HOST,
    header::ORIGIN,
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    HeaderName::from_static("last-event-id"),
];

/// The prefix of the protocol's own headers, which may appear only once as well.
const OWN: &str = "mcp-";

/// Returns the reason why a request with this head is refused; `is_own` checks whether a host is a name of this server.
pub(super) fn refusal(
    (method, target): (&Method, &Uri),
    headers: &HeaderMap,
    is_own: impl Fn(&Authority) -> bool,
) -> Option<String> {
    if let Some(name) = repeated(headers) {
        return Some(format!("the header {name} appears more than once; send it once"));
    }
    if headers.get(header::TRANSFER_ENCODING).is_some_and(|coding| !is_chunked(coding.as_bytes())) {
        return Some("its Transfer-Encoding is not `chunked`, the only supported one".to_owned());
    }
    let Some(host) = headers.get(header::HOST) else {
        return Some("it has no Host header; send one".to_owned());
    };
    let Some(host) = host.to_str().ok().and_then(authority) else {
        return Some("its Host is not a host with at most a port; send it as `host:port`".to_owned());
    };
    target_refusal(method, target, &host, is_own)
}

/// Answers a request; if its head is refused, with 400, the reason, and the end of the connection. `is_own` checks
/// whether a host is a name of this server.
pub(super) async fn answer(request: Request, is_own: impl Fn(&Authority) -> bool, next: Next) -> Response {
    let refused = refusal((request.method(), request.uri()), request.headers(), is_own);
    let close = (header::CONNECTION, HeaderValue::from_static("close"));
    if let Some(why) = refused {
        return (StatusCode::BAD_REQUEST, [close], format!("the request is refused: {why}\n"))
            .into_response();
    }
    // Such a request may also have a length, which the library ignores. An intermediary may not, and take what follows the
    // chunks for the rest of the body; here it would be the next request (RFC 9112, section 11.2).
    let is_last = request.headers().contains_key(header::TRANSFER_ENCODING);
    let mut response = next.run(request).await;
    if is_last {
        response.headers_mut().insert(close.0, close.1);
    }
    response
}

/// A header that appears more than once but must not.
fn repeated(headers: &HeaderMap) -> Option<&HeaderName> {
    headers.keys().find(|name| {
        let is_single = ONCE.contains(name) || name.as_str().starts_with(OWN);
        is_single && headers.get_all(*name).iter().nth(1).is_some()
    })
}

fn is_chunked(coding: &[u8]) -> bool {
    coding.trim_ascii().eq_ignore_ascii_case(b"chunked")
}

/// Parses a host with an optional port. The library also accepts an empty host, a user name, or an invalid port.
pub(super) fn authority(text: &str) -> Option<Authority> {
    let authority = Authority::try_from(text).ok()?;
    // A user name would precede the host, and may start like it.
    let port = text.strip_prefix(authority.host())?;
    let is_port = port.is_empty() || port == ":" || port.starts_with(':') && authority.port_u16().is_some();
    // A name or an address; hosts have no other characters, although URIs allow them.
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    let host = authority.host();
    (is_port && !host.is_empty() && host.bytes().all(is_name)).then_some(authority)
}

/// Checks that the target is a path, or a URL of this server (RFC 9112, section 3.2).
fn target_refusal(
    method: &Method,
    target: &Uri,
    host: &Authority,
    is_own: impl Fn(&Authority) -> bool,
) -> Option<String> {
    let is_path = target.path().starts_with('/') && target.scheme().is_none() && target.authority().is_none();
    if is_path && method != Method::CONNECT {
        return None;
    }
    let (Some(scheme), Some(named)) = (target.scheme_str(), target.authority()) else {
        return Some("its target is neither a path nor an address; this server is not a proxy".to_owned());
    };
    let default = match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let port = |authority: &Authority| authority.port_u16().or(default);
    let is_same = authority(named.as_str()).is_some()
        && named.host().eq_ignore_ascii_case(host.host())
        && port(named) == port(host);
    if default.is_none() || method == Method::CONNECT || !is_same || !is_own(named) {
        return Some(
            "its target is an address that is not this server's, or not that of its Host header; this server is not a \
             proxy"
                .to_owned(),
        );
    }
    None
}

/// Whether `authority` is one of `known`, which are hosts with or without a port.
pub(super) fn is_among(authority: &Authority, known: &[String]) -> bool {
    let bare = |host: &str| host.trim_matches(['[', ']']).to_ascii_lowercase();
    known.iter().any(|known| match Authority::try_from(known.as_str()) {
        Ok(known) => {
            bare(known.host()) == bare(authority.host())
                && known.port_u16().is_none_or(|port| authority.port_u16() == Some(port))
        }
        // For example an IPv6 address without brackets.
        Err(_) => bare(known) == bare(authority.host()),
    })
}

#[cfg(test)]
mod tests;
