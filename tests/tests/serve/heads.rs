//! `toolsmith serve --http` and hand-written HTTP: rejected heads, idle connections, refused calls.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use end_to_end::harness::fault_entry;
use end_to_end::serving::{DEMO, HANDSHAKE, Serve, Server, execute, outcome_of};
use serde_json::{Value, json};

const TOKEN: &str = "a-token-used-only-in-tests";

fn start() -> (Server, String) {
    let server = Serve::http(DEMO).arguments(&["--token-env", "DOOR"]).variable("DOOR", TOKEN).start();
    let address = server.address();
    let authority =
        address.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap().to_owned();
    (server, authority)
}

/// Sends bytes; returns the server's response until it closes the connection.
fn answer(authority: &str, bytes: &str) -> String {
    let mut stream = TcpStream::connect(authority).unwrap();
    // Longer than any connection stays open, so that a test that hangs fails.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The server may respond and close the connection early.
    let _ = stream.write_all(bytes.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn an_ambiguous_head_is_rejected() {
    let (server, authority) = start();
    let authorized = format!("Host: {authority}\r\nAuthorization: Bearer {TOKEN}\r\n");
    let post = |headers: &str| format!("POST /mcp HTTP/1.1\r\n{headers}\r\n");
    let json = "Content-Type: application/json\r\n";
    for (what, request, says) in [
        ("two hosts", post(&format!("{authorized}Host: {authority}\r\n")), "header host"),
        ("another host first", post(&format!("Host: evil.example\r\n{authorized}")), "header host"),
        (
            "two origins",
            post(&format!("{authorized}Origin: http://{authority}\r\nOrigin: null\r\n")),
            "header origin",
        ),
        ("two tokens", post(&format!("{authorized}Authorization: Bearer x\r\n")), "header authorization"),
        (
            "two sessions",
            post(&format!("{authorized}Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n")),
            "header mcp-session-id",
        ),
        (
            "two versions",
            post(&format!(
                "{authorized}MCP-Protocol-Version: 2025-11-25\r\nmcp-protocol-version: 2025-06-18\r\n"
            )),
            "header mcp-protocol-version",
        ),
        (
            "two types",
            post(&format!("{authorized}{json}Content-Type: text/plain\r\n")),
            "header content-type",
        ),
        (
            "lengths that differ",
            post(&format!("{authorized}{json}Content-Length: 0\r\nContent-Length: 2\r\n")),
            "",
        ),
        (
            "another coding",
            post(&format!("{authorized}{json}Transfer-Encoding: gzip, chunked\r\n")),
            "Transfer-Encoding",
        ),
        ("no host", post(&format!("Authorization: Bearer {TOKEN}\r\n")), "no Host"),
        ("no host, in the older version", "GET /healthz HTTP/1.0\r\n\r\n".to_owned(), "no Host"),
        (
            "a user in the host",
            post(&format!("Host: user@{authority}\r\nAuthorization: Bearer {TOKEN}\r\n")),
            "Host is not",
        ),
        (
            "a foreign target",
            "GET http://evil.example/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(),
            "not a proxy",
        ),
        (
            "a target that is not the host's",
            format!("GET http://localhost:1/healthz HTTP/1.1\r\nHost: {authority}\r\n\r\n"),
            "not a proxy",
        ),
        (
            "a host that is not the target's",
            format!("GET http://{authority}/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
            "not a proxy",
        ),
        (
            "a user in the target",
            format!("GET http://user@{authority}/healthz HTTP/1.1\r\nHost: {authority}\r\n\r\n"),
            "not a proxy",
        ),
        (
            "another scheme",
            format!("GET ftp://{authority}/healthz HTTP/1.1\r\nHost: {authority}\r\n\r\n"),
            "not a proxy",
        ),
        ("no path", format!("OPTIONS * HTTP/1.1\r\nHost: {authority}\r\n\r\n"), "not a proxy"),
        ("a tunnel", format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n"), "not a proxy"),
    ] {
        let answer = answer(&authority, &request);
        assert!(answer.starts_with("HTTP/1.1 400") || answer.starts_with("HTTP/1.0 400"), "{what}: {answer}");
        assert!(answer.contains(says), "{what}: {answer}");
        assert_eq!(answer.matches("HTTP/1.").count(), 1, "the connection ends: {answer}");
    }
    // What an intermediary may take for the rest of a body is no request.
    for two in [
        "Transfer-Encoding: chunked\r\nContent-Length: 99",
        "Content-Length: 99\r\nTransfer-Encoding: chunked",
    ] {
        let behind = format!(
            "POST /mcp HTTP/1.1\r\n{authorized}{json}{two}\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: {authority}\r\n\r\n"
        );
        let answer = answer(&authority, &behind);
        assert!(answer.matches("HTTP/1.").count() == 1 && !answer.contains("ok\n"), "{answer}");
    }
    // Valid requests are answered, including rare forms.
    for sound in [
        format!("GET http://{authority}/healthz HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n"),
        format!("GET /healthz HTTP/1.0\r\nHost: {authority}\r\n\r\n"),
        "GET /healthz HTTP/1.1\r\nHost: probe.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            .to_owned(),
    ] {
        let answer = answer(&authority, &sound);
        assert!(answer.contains(" 200 OK") && answer.ends_with("ok\n"), "{sound}: {answer}");
    }
    drop(server);
}

#[test]
fn over_a_thousand_silent_connections_do_not_block_others() {
    let (mut server, authority) = start();
    let client = server.client().header("authorization", &format!("Bearer {TOKEN}")).shake_hands();
    let mut silent: Vec<TcpStream> = Vec::new();
    for number in 0..1_100 {
        let mut stream = TcpStream::connect(&authority).unwrap();
        if number % 2 == 0 {
            // The connection may already be closed.
            let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ");
        }
        silent.push(stream);
    }
    let health = answer(&authority, &format!("GET /healthz HTTP/1.0\r\nHost: {authority}\r\n\r\n"));
    assert!(health.starts_with("HTTP/1.0 200 OK"), "{health}");
    let outcome = client.ask("tools/call", &execute("6 * 7"));
    assert_eq!(outcome_of(&outcome)["result"], 42, "{outcome:#}");
    // The oldest connections were closed to make room.
    for stream in silent.iter_mut().take(800) {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let read = stream.read(&mut [0]);
        let is_closed = match &read {
            Ok(bytes) => *bytes == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        };
        assert!(is_closed, "{read:?}");
    }
    server.signal(rustix::process::Signal::TERM);
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
}

/// Any number of forged, denied and invalid calls.
#[test]
fn refused_calls_are_counted_in_the_outcome_and_in_the_audit_log() {
    let faulty = fault_entry("faulty", "sound", "    permission: ask-each\n");
    let direct = fault_entry("direct", "sound", "    codeMode: false\n    permission: ask\n");
    let audit = "serve: { questionTimeout: 0.2, audit: { file: audit.jsonl } }\n";
    let server = Serve::http(&format!("{DEMO}{faulty}{direct}{audit}")).start();
    // Its user does not answer.
    let (client, _) = server.client().shake_hands_as(HANDSHAKE, &json!({ "elicitation": {} }));
    let code = r##"
use std::io::Write as _;
use std::os::fd::FromRawFd as _;
let denied = faulty::echo().message("x").await.is_err();
let mut socket = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(3) });
for id in 10..510 {
    let frame = format!(r#"{{"call":{{"id":{id},"tool":"forged","arguments":{{}}}}}}"#);
    let mut bytes = u32::try_from(frame.len())?.to_be_bytes().to_vec();
    bytes.extend_from_slice(frame.as_bytes());
    socket.write_all(&bytes)?;
}
// The host reads all of them before the end of the program.
denied"##;
    let answer = client.ask("tools/call", &execute(code));
    let outcome = outcome_of(&answer);
    let refused = &outcome["calls_refused"];
    assert_eq!(refused["forged"], 500, "{answer:#}");
    assert_eq!(
        (&refused["denied"], &refused["tools"]),
        (&json!(1), &json!({ "faulty.echo": 1 })),
        "{refused:#}"
    );
    let call = json!({ "name": "echo", "arguments": { "message": "x" } });
    assert_eq!(client.ask("tools/call", &call)["result"]["isError"], true);
    let log = fs::read_to_string(server.path("audit.jsonl")).unwrap();
    let log: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let end = log.iter().find(|line| line["event"] == "execution_end").unwrap();
    let counted = json!({ "forged": 500, "denied": 1, "invalid": 0, "malformed": 0 });
    assert_eq!(
        (&end["calls_refused"], &end["refused_tools"]),
        (&counted, &json!(["faulty.echo 1"])),
        "{end:#}"
    );
    let direct = log.iter().find(|line| line["event"] == "call_refused").unwrap();
    assert_eq!((&direct["server"], &direct["tool"]), (&json!("direct"), &json!("echo")), "{direct:#}");
    assert!(log.len() < 20, "expected a count, not {} lines", log.len());
}
