//! Tests HTTP heads with arbitrary bytes: runs the body of the fuzz target `heads` on its corpus and on corrupted valid
//! requests.
//!
//! More cases: `PROPTEST_CASES=1000000 cargo test -p server --release --test heads`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[allow(unreachable_pub, reason = "a library, where cargo-fuzz builds it")]
#[path = "../../../tests/fuzz/src/heads.rs"]
mod heads;

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// `PROPTEST_CASES` sets another number.
fn configuration() -> ProptestConfig {
    ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() }
}

/// A header with a relevant or irrelevant name and value.
fn header() -> impl Strategy<Value = String> {
    let names = select(vec![
        "Host",
        "host",
        "Origin",
        "Authorization",
        "Content-Type",
        "Content-Length",
        "Transfer-Encoding",
        "Mcp-Session-Id",
        "MCP-Protocol-Version",
        "Mcp-Param-X",
        "Last-Event-ID",
        "Connection",
        "Expect",
        "X",
    ]);
    let values = prop_oneof![
        select(vec![
            "localhost",
            "127.0.0.1:8080",
            "evil.example",
            "user@localhost",
            "",
            "0",
            "1",
            "+1",
            "7, 7",
            "chunked",
            "gzip, chunked",
            "Bearer 0123456789abcdef",
            "bearer  0123456789abcdef ",
            "Bearer x",
            "close",
            "keep-alive",
            "null",
            "100-continue",
        ])
        .prop_map(str::to_owned),
        ".{0,12}",
    ];
    (names, select(vec![": ", ":", " : ", ":\t"]), values, select(vec!["\r\n", "\n", "\r\n "]))
        .prop_map(|(name, colon, value, end)| format!("{name}{colon}{value}{end}"))
}

fn request() -> impl Strategy<Value = String> {
    let methods = select(vec!["GET", "POST", "OPTIONS", "CONNECT", "DELETE", "x"]);
    let targets = select(vec![
        "/",
        "/mcp",
        "/mcp?a=@",
        "http://localhost/mcp",
        "http://127.0.0.1:8080/",
        "http://evil.example/",
        "http://user@localhost/",
        "https://localhost:443",
        "ftp://localhost/",
        "*",
        "localhost:80",
        "",
    ]);
    let versions = select(vec!["HTTP/1.1", "HTTP/1.0", "HTTP/2.0", ""]);
    let bodies = select(vec!["", "x", "0\r\n\r\n", "1\r\nx\r\n0\r\n\r\n", "\r\n\r\n"]);
    let host = select(vec!["Host: localhost\r\n", "Host: 127.0.0.1:8080\r\n", ""]);
    (methods, targets, versions, host, vec(header(), 0..5), bodies).prop_map(
        |(method, target, version, host, headers, body)| {
            format!("{method} {target} {version}\r\n{host}{}\r\n{body}", headers.concat())
        },
    )
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn any_requests_are_admitted_by_the_rules_or_refused(requests in vec(request(), 1..4)) {
        heads::request(requests.concat().as_bytes());
    }

    #[test]
    fn corrupted_requests_are_admitted_by_the_rules_or_refused(
        requests in vec(request(), 1..3),
        changes in vec((any::<Index>(), any::<u8>(), 0..3_u8), 0..4),
    ) {
        let mut bytes = requests.concat().into_bytes();
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        heads::request(&bytes);
    }
}

#[test]
fn the_corpus_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/heads");
    let mut count = 0;
    for file in std::fs::read_dir(corpus).unwrap() {
        let file = file.unwrap().path();
        heads::request(&std::fs::read(&file).unwrap());
        count += 1;
    }
    assert!(count > 10, "only {count}");
    let right = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\nContent-Length: 2\r\n\r\n{}";
    let (admitted, answered) = server::http::probe::answer(right.as_bytes()).unwrap();
    assert_eq!((admitted.len(), answered.starts_with(b"HTTP/1.1 204")), (1, true), "{admitted:?}");
    assert!(admitted[0].is_authorized && admitted[0].body.as_deref() == Some(b"{}"), "{admitted:?}");
}
