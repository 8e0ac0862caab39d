//! HTTP servers: the demo server, debug output, and rejected requests.

use std::os::unix::process::ExitStatusExt as _;

use end_to_end::cache::json;
use end_to_end::cache::shared;
use end_to_end::harness::{Run, unique};
use end_to_end::page::normal;
use end_to_end::services::{Service, authority, status_of};
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::json;

#[test]
fn a_snippet_uses_an_http_server() {
    let server = Service::demo();
    assert!(
        server.first.starts_with("http://127.0.0.1:") && server.first.ends_with("/mcp"),
        "{}",
        server.first
    );
    let config = format!("mcpServers:\n  shop: {{ type: http, url: {:?} }}\n", server.first);
    let code =
        "let note = shop::create_note(\"a\", \"b\").await?.id; (note, shop::echo(\"far\").await?.text())";
    for _ in 0..2 {
        // Each run has its own session.
        assert_eq!(json(code).config(&config).result(), json!([1, "far"]));
    }
    assert_eq!(server.ended_by(Signal::TERM).signal(), Some(Signal::TERM.as_raw()));
    let gone = Run::new(shared()).arguments(&["mcp", "test", "shop"]).config(&config).done().exits(7);
    assert_snapshot!(normal(&gone.stderr), @r"
    shop: error: cannot connect: nothing answers at http://127.0.0.1:[port]; start the server, or check the address
    ");
}

#[test]
fn the_demo_server_rejects_requests_from_web_pages() {
    let server = Service::demo();
    let here = authority(&server.first);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } } });
    let body = body.to_string();
    let status = |host: &str, more: &str| {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n\
             Content-Length: {}\r\n{more}\r\n{body}",
            body.len()
        );
        status_of(here, &request)
    };
    assert_eq!(status(here, ""), 200);
    assert_eq!(status("evil.example", ""), 403);
    assert_eq!(status("127.0.0.1.evil.example", ""), 403);
    assert_eq!(status(here, "Origin: https://evil.example\r\n"), 403);
    assert_eq!(status(here, "Origin: null\r\n"), 403);
}

/// A value that no text contains by chance.
const SECRET: &str = "very-secret-value-123";

#[test]
fn debug_output_shows_requests_and_results_but_no_header() {
    let (server, word) = (Service::demo(), unique());
    let entry = |headers: &str| {
        format!("mcpServers:\n  shop: {{ type: http, url: {:?}, headers: {headers} }}\n", server.first)
    };
    let code = format!("shop::echo({word:?}).await?.text()");
    let scheme = "{ X-Key: \"${TOOLSMITH_TEST_KEY}\", X-Other: \"Basic very-secret-value-123\" }";
    for headers in ["{ X-Key: very-secret-value-123 }", "{ X-Key: \"${TOOLSMITH_TEST_KEY}\" }", scheme] {
        let run = || json(&code).config(&entry(headers)).variable("TOOLSMITH_TEST_KEY", SECRET);
        let done = run().variable("TOOLSMITH_MCP_DEBUG", "1").done();
        assert!(!done.stderr.contains(SECRET) && !done.stdout.contains(SECRET), "{done:#?}");
        let done = done.says(&["shop: sent", "shop: received", "tools/call", &word, "HTTP 200", "x-key"]);
        assert_eq!(done.expect("ok", 0)["result"], word);
        let silent = run().variable("TOOLSMITH_MCP_DEBUG", "0").done();
        assert!(!silent.stderr.contains("shop: sent"), "{silent:#?}");
    }
    // Arguments and results are shown, but not configured secrets, which programs do not get either.
    let run = json(format!("shop::echo({SECRET:?}).await?.text()").as_str()).config(&entry(scheme));
    let run = run.variable("TOOLSMITH_TEST_KEY", SECRET).variable("TOOLSMITH_MCP_DEBUG", "1");
    let done = run.done().says(&["shop: sent", "***"]);
    assert!(!done.stderr.contains(SECRET), "{done:#?}");
    assert_eq!(done.expect("ok", 0)["result"], "***");
}

#[test]
fn debug_output_is_limited_to_its_server() {
    let (server, word) = (Service::demo(), unique());
    let config = format!(
        "mcpServers:\n  loud: {{ type: http, url: {0:?}, debug: true, headers: {{ X-Key: {SECRET} }} }}\n  \
         still: {{ type: http, url: {0:?} }}\n",
        server.first
    );
    let call = |server: &str| {
        let arguments = format!("{{\"message\":{word:?}}}");
        let call = ["mcp", "call-tool", "--server", server, "--tool", "echo", "--args", &arguments];
        let done = Run::new(shared()).arguments(&call).arguments(&["--allow", "*"]).config(&config).done();
        assert!(done.stdout.contains(&word) && !done.stderr.contains(SECRET), "{done:#?}");
        done.exits(0)
    };
    call("loud").says(&["loud: sent", "loud: received", "loud: POST http://127.0.0.1", "x-key", &word]);
    assert_eq!(call("still").stderr, "");

    let code = format!("loud::echo(\"x\").await?; still::echo({word:?}).await?.text()");
    let done = json(&code).config(&config).done();
    assert!(done.stderr.contains("loud: sent"), "{done:#?}");
    assert!(!done.stderr.contains("still") && !done.stderr.contains(&word), "{done:#?}");
    assert_eq!(done.expect("ok", 0)["result"], word);
}
