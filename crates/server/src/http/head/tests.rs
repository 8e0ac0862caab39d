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
    for wrong in
        ["", "user@localhost", "1a@1:80", ":1", "a/b", "a,b", "a b", "a:b", "a:65536", "a:1:2", "[::1", "@a"]
    {
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
        // Bodies with two lengths, for an intermediary that reads the length: it would take `last` for a part of the body.
        (
            "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 61\r\n\r\n0\r\n\r\n",
            &["200"],
        ),
        (
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 61\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            &["200"],
        ),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 61\r\n\r\n", &["400"]),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0, 61\r\n\r\n", &["400"]),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: +0\r\n\r\n", &["400"]),
        (
            "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            &["400"],
        ),
        ("POST / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", &["400"]),
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
