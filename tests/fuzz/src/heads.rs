//! Fuzz target `heads`: the checks of HTTP request heads hold for any bytes. Panics if they do not.
//!
//! Ordinary tests run it as well: see `crates/server/tests/heads.rs`.

use server::http::probe::{self, Admitted};

/// Headers that may occur only once in a request.
const ONCE: [&str; 7] = [
    "host",
    "origin",
    "authorization",
    "content-type",
    "content-length",
    "transfer-encoding",
    "last-event-id",
];

/// Sends any bytes as a client: only admissible requests reach a handler, and each request is answered at most once.
pub fn request(data: &[u8]) {
    let (admitted, answered) = probe::answer(data).expect("there is an event loop");
    for request in &admitted {
        assert_admissible(request);
    }
    let answers = answered.windows(9).filter(|bytes| bytes.starts_with(b"HTTP/1.")).count();
    assert!(answers <= data.len() / 14 + 1, "{answers} answers to {} bytes", data.len());
    assert_first(data, &admitted);
}

fn values<'a>(request: &'a Admitted, name: &str) -> Vec<&'a [u8]> {
    request.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_slice()).collect()
}

fn assert_admissible(request: &Admitted) {
    for (name, _) in &request.headers {
        if ONCE.contains(&name.as_str()) || name.starts_with("mcp-") {
            assert_eq!(values(request, name).len(), 1, "{name}: {request:?}");
        }
    }
    let host = values(request, "host");
    assert_eq!(host.len(), 1, "{request:?}");
    assert!(!host[0].is_empty() && !host[0].contains(&b'@') && !host[0].contains(&b'/'), "{request:?}");
    if !request.target.starts_with('/') {
        let host = String::from_utf8_lossy(host[0]).to_ascii_lowercase();
        let is_own =
            ["localhost", "127.0.0.1:8080"].iter().any(|own| host == *own || host.starts_with("localhost:"));
        assert!(is_own && request.target.starts_with("http"), "{request:?}");
        assert!(
            !request.target.contains('@')
                || request.target.find('@') > request.target[8..].find('/').map(|at| at + 8),
            "{request:?}"
        );
    }
    if request.is_authorized {
        let shown = values(request, "authorization");
        assert!(shown.len() == 1 && shown[0].ends_with(probe::TOKEN.as_bytes()), "{request:?}");
    }
    assert!(values(request, "content-length").is_empty() || values(request, "transfer-encoding").is_empty());
}

/// Reads the head of the first request naively, as lines up to an empty one. A request with a repeated header must not
/// get through, however the library parsed it.
fn assert_first(data: &[u8], admitted: &[Admitted]) {
    let text = String::from_utf8_lossy(data);
    let lines = text.trim_start_matches(['\r', '\n']).split('\n').map(|line| line.trim_end_matches('\r'));
    let head: Vec<String> =
        lines.skip(1).take_while(|line| !line.is_empty()).map(str::to_ascii_lowercase).collect();
    let count = |name: &str| {
        head.iter().filter(|line| line.split_once(':').is_some_and(|(own, _)| own == name)).count()
    };
    // The library refuses lengths that differ, and drops the others.
    let is_repeated = |name: &&str| *name != "content-length" && count(name) > 1;
    if ONCE.iter().any(is_repeated) || count("host") == 0 {
        assert!(admitted.is_empty(), "{text:?}: {admitted:?}");
    }
    if count("transfer-encoding") > 0 {
        assert!(admitted.len() <= 1, "the connection ends: {text:?}: {admitted:?}");
    }
}
