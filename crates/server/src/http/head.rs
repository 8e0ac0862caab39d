//! Refuses ambiguous heads of requests, which two HTTP implementations may read differently.
//!
//! The endpoint checks hosts and origins.

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::framing::Verdict;

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
    let framing = request.extensions().get::<Verdict>().and_then(|verdict| verdict.get().copied());
    let refused = framing
        .map(str::to_owned)
        .or_else(|| refusal((request.method(), request.uri()), request.headers(), is_own));
    let close = (header::CONNECTION, HeaderValue::from_static("close"));
    if let Some(why) = refused {
        return (StatusCode::BAD_REQUEST, [close], format!("the request is refused: {why}\n"))
            .into_response();
    }
    // Data after chunks is not inspected (`http::framing`).
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
mod tests {
    use axum::http::Request;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    fn refused(method: &str, target: &str, headers: &[(&str, &str)]) -> Option<String> {
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let own = ["localhost".to_owned(), "::1".to_owned(), "tools.example:8080".to_owned()];
        refusal((&head.method, &head.uri), &head.headers, |host| is_among(host, &own))
    }

    #[test]
    fn significant_headers_appear_only_once() {
        assert_eq!(refused("GET", "/", &[("Host", "localhost"), ("Accept", "a"), ("Accept", "b")]), None);
        for name in [
            "Host",
            "Origin",
            "Authorization",
            "Content-Type",
            "Content-Length",
            "Transfer-Encoding",
            "Last-Event-ID",
            "Mcp-Session-Id",
            "MCP-Protocol-Version",
            "Mcp-Method",
            "Mcp-Param-Region",
        ] {
            let why = refused("POST", "/", &[("Host", "localhost"), (name, "1"), (name, "1")]).unwrap();
            assert!(why.contains("more than once") && why.contains(&name.to_ascii_lowercase()), "{why}");
        }
    }

    #[test]
    fn a_host_has_at_most_a_port() {
        for right in ["localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]:1", "other.example", "a:"] {
            assert_eq!(refused("GET", "/mcp", &[("Host", right)]), None, "{right}");
        }
        for wrong in [
            "",
            "user@localhost",
            "1a@1:80",
            ":1",
            "a/b",
            "a,b",
            "a b",
            "a:b",
            "a:65536",
            "a:1:2",
            "[::1",
            "@a",
        ] {
            assert!(refused("GET", "/mcp", &[("Host", wrong)]).is_some(), "{wrong:?}");
        }
        assert!(refused("GET", "/mcp", &[]).unwrap().contains("no Host"));
    }

    #[test]
    fn the_target_is_a_path_or_the_address_of_this_server() {
        let host = |target: &str, host: &str| refused("GET", target, &[("Host", host)]);
        for (target, name) in [
            ("/mcp?a=http://b", "elsewhere"),
            ("http://localhost/mcp", "LOCALHOST:80"),
            ("https://localhost:443/mcp", "localhost"),
            ("http://[::1]:7/mcp", "[::1]:7"),
            ("http://tools.example:8080/", "tools.example:8080"),
        ] {
            assert_eq!(host(target, name), None, "{target}");
        }
        for (target, name) in [
            ("http://elsewhere.example/mcp", "elsewhere.example"),
            ("http://elsewhere.example/mcp", "localhost"),
            ("http://localhost/mcp", "elsewhere.example"),
            ("http://localhost:81/mcp", "localhost:80"),
            ("http://user@localhost/mcp", "localhost"),
            ("http://tools.example/", "tools.example"),
            ("ftp://localhost/mcp", "localhost"),
            ("*", "localhost"),
            ("localhost:80", "localhost:80"),
        ] {
            assert!(host(target, name).is_some_and(|why| why.contains("not a proxy")), "{target} {name}");
        }
        assert!(refused("CONNECT", "localhost:80", &[("Host", "localhost:80")]).is_some());
    }

    #[test]
    fn bodies_are_chunked_or_have_a_length() {
        let coding = |value: &str| refused("POST", "/", &[("Host", "a"), ("Transfer-Encoding", value)]);
        assert_eq!(coding("Chunked"), None);
        for wrong in ["gzip, chunked", "identity", "chunked, chunked", "", "xchunked", "chunked;q=1"] {
            assert!(coding(wrong).is_some(), "{wrong:?}");
        }
    }

    /// Sends bytes to a server behind `answer`; returns the status of each response until the end of the connection.
    async fn statuses(bytes: &str) -> Vec<String> {
        let own = |request, next| answer(request, |host: &Authority| host.host() == "localhost", next);
        let routes = axum::Router::new().route("/", axum::routing::any(async |body: String| body));
        let routes = routes.layer(axum::middleware::from_fn(own));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut stream = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        stream.write_all(bytes.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text.split("HTTP/1.1 ").skip(1).map(|answer| answer[..3].to_owned()).collect()
    }

    /// The requests of a connection, and the answers. The last plain request ends it.
    #[tokio::test]
    async fn a_connection_ends_with_a_refused_or_chunked_request() {
        let last = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        for (first, expected) in [
            ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", &["200", "200"][..]),
            ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\na", &["200", "200"]),
            (
                "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
                &["200"],
            ),
            ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", &["400"]),
            ("GET / HTTP/1.1\r\n\r\n", &["400"]),
            ("GET http://elsewhere/ HTTP/1.1\r\nHost: elsewhere\r\n\r\n", &["400"]),
            (
                "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nOrigin: a\r\nOrigin: b\r\n\r\na",
                &["400"],
            ),
        ] {
            assert_eq!(statuses(&format!("{first}{last}")).await, expected, "{first:?}");
        }
    }

    /// A host, the known hosts, and whether it is one of them.
    #[test]
    fn a_known_host_without_a_port_has_any_port() {
        for (host, known, is_known) in [
            ("a", &["a"][..], true),
            ("a:1", &["a"], true),
            ("A:1", &["a:1"], true),
            ("a", &["a:1"], false),
            ("a:2", &["a:1"], false),
            ("a:2", &["a:1", "a:2"], true),
            ("b", &["a"], false),
            ("aa", &["a"], false),
            ("[::1]:1", &["::1"], true),
            ("[::1]:1", &["[::1]"], true),
            ("[::1]:1", &["[::1]:2"], false),
            ("[::2]:1", &["::1"], false),
            ("a", &[], false),
        ] {
            let known: Vec<String> = known.iter().map(|host| (*host).to_owned()).collect();
            assert_eq!(is_among(&Authority::try_from(host).unwrap(), &known), is_known, "{host} {known:?}");
        }
    }
}
