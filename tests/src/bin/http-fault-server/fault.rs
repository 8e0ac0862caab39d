//! Faults that can occur in any phase.

use std::{io, time::Duration};

use serde_json::json;

use crate::{
    connection::{Connection, Request},
    server::{EVENTS, JSON, Server, answer, phase},
};

/// Size of an oversized response, in bytes.
const HUGE: usize = 100 * 1024 * 1024;
/// Size of its chunks, in bytes.
const CHUNK: usize = 64 * 1024;
/// Number of log messages before a response, and the size of each in bytes.
const LOGS: usize = 300;
const LONG_LOG: usize = 4 << 20;
/// Largest text that fits into a response.
const LARGE: usize = (16 << 20) - 4096;
/// Delay after each byte of a dripped response: every response takes longer than the time limits of the tests.
const DRIP: Duration = Duration::from_millis(500);

/// An error whose sender did not know the request.
pub(crate) const NULL_ID: &str =
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"database is down"}}"#;

/// Answers a request with the mode's fault.
pub(crate) async fn commit(
    server: &Server,
    request: &Request,
    connection: &mut Connection,
) -> io::Result<()> {
    let sound = answer(server, request).to_string();
    match server.mode.as_str() {
        "closes" => Ok(()),
        "closes-in-the-middle" => {
            connection.head(200, &[JSON], Some(sound.len())).await?;
            connection.send(&sound.as_bytes()[..sound.len() / 2]).await
        }
        "hangs" => connection.hold().await,
        "fails" => connection.respond(500, &[("Content-Type", "text/plain")], b"the database is gone").await,
        "not-found" => connection.respond(404, &[], b"").await,
        "forbids" => connection.respond(403, &[], b"not for you").await,
        "html" => connection.respond(200, &[("Content-Type", "text/html")], b"<h1>Welcome!</h1>").await,
        "wrong-type" => connection.respond(200, &[("Content-Type", "image/png")], sound.as_bytes()).await,
        "no-type" => connection.respond(200, &[], sound.as_bytes()).await,
        "malformed" => connection.respond(200, &[JSON], b"{ \"jsonrpc\": ").await,
        "null-id" => connection.respond(200, &[JSON], NULL_ID.as_bytes()).await,
        "null-id-event" => {
            connection.head(200, &[EVENTS], None).await?;
            connection.event("message", Some("7"), NULL_ID).await?;
            connection.hold().await
        }
        "no-response" => connection.respond(200, &[JSON], b"[]").await,
        "empty" => connection.respond(200, &[JSON], b"").await,
        "accepts" => connection.respond(202, &[], b"").await,
        "redirects-away" => {
            let location = format!("{}/mcp", server.elsewhere);
            connection.respond(307, &[("Location", &location)], b"").await
        }
        "redirects-in-circles" => {
            let location = format!("{}/mcp", server.address);
            connection.respond(307, &[("Location", &location)], b"").await
        }
        "huge" => {
            connection.head(200, &[JSON], Some(HUGE)).await?;
            connection.send(b"{\"jsonrpc\":\"2.0\",\"result\":\"").await?;
            flood(connection).await
        }
        "huge-event" => {
            connection.head(200, &[EVENTS], None).await?;
            connection.send(b"data: {\"jsonrpc\":\"2.0\",\"result\":\"").await?;
            flood(connection).await
        }
        "floods" => {
            connection.head(200, &[EVENTS], None).await?;
            let log = json!({ "level": "info", "data": "nothing to see" });
            let log =
                json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": log }).to_string();
            loop {
                connection.event("message", None, &log).await?;
            }
        }
        "logs" => {
            connection.head(200, &[EVENTS], None).await?;
            let log = json!({ "level": "error", "data": "x".repeat(LONG_LOG) });
            let log =
                json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": log }).to_string();
            for _ in 0..LOGS {
                connection.event("message", None, &log).await?;
            }
            let mut done = answer(server, request);
            done["result"]["content"][0]["text"] = json!("done");
            connection.event("message", None, &done.to_string()).await
        }
        "large-answer" => {
            let mut large = answer(server, request);
            large["result"]["content"][0]["text"] = json!("x".repeat(LARGE));
            connection.respond(200, &[JSON], large.to_string().as_bytes()).await
        }
        "large-event" => {
            let mut large = answer(server, request);
            large["result"]["content"][0]["text"] = json!("x".repeat(LARGE));
            connection.head(200, &[EVENTS], None).await?;
            connection.event("message", None, &large.to_string()).await
        }
        "comments" => {
            connection.head(200, &[EVENTS], None).await?;
            loop {
                connection.send(b": still there\n\n").await?;
                tokio::time::sleep(DRIP).await;
            }
        }
        "drips" => {
            connection.head(200, &[JSON], Some(sound.len())).await?;
            connection.drip(sound.as_bytes(), DRIP).await
        }
        "drips-head" => connection.drip(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", DRIP).await,
        "stream-hangs" => {
            connection.head(200, &[EVENTS], None).await?;
            connection.hold().await
        }
        "stream-ends" => connection.respond(200, &[EVENTS], b"").await,
        "stream-garbage" => {
            connection.head(200, &[EVENTS], None).await?;
            connection.event("message", None, "this is no JSON").await?;
            connection.hold().await
        }
        "broken-text" => {
            let broken = sound.replace("caf", "caf\u{1}").into_bytes();
            let broken: Vec<u8> =
                broken.into_iter().map(|byte| if byte == 1 { 0xe9 } else { byte }).collect();
            connection.respond(200, &[JSON], &broken).await
        }
        "loud-type" => {
            let loud = [("content-TYPE", "Application/JSON ; Charset=\"UTF-8\"")];
            connection.respond(200, &loud, sound.as_bytes()).await
        }
        "loud-event-type" => {
            connection.head(200, &[("Content-Type", "Text/Event-Stream;charset=utf-8")], None).await?;
            connection.event("message", None, &sound).await
        }
        "many-headers" => {
            let headers: Vec<_> = std::iter::repeat_n(("X-Proxy", "passed"), 300).chain([JSON]).collect();
            connection.respond(200, &headers, sound.as_bytes()).await
        }
        "compresses" => {
            connection.respond(200, &[JSON, ("Content-Encoding", "gzip")], b"\x1f\x8b\x08\0").await
        }
        "batch" => connection.respond(200, &[JSON], batch(&sound).as_bytes()).await,
        "batch-event" => {
            connection.head(200, &[EVENTS], None).await?;
            connection.event("message", Some("7"), &batch(&sound)).await
        }
        "busy-twice" | "busy-twice-503" if server.count() >= 2 => server.respond(request, connection).await,
        "busy-twice" | "busy-for-ever" => {
            connection.respond(429, &[("Retry-After", "0")], b"too many requests").await
        }
        "busy-twice-503" => connection.respond(503, &[("Retry-After", "0")], b"warming up").await,
        "busy-for-an-hour" => connection.respond(503, &[("Retry-After", "3600")], b"asleep").await,
        "odd-events" => {
            connection.head(200, &[EVENTS], None).await?;
            let odd = b"\xef\xbb\xbf: hello\nno colon\nX-Unknown: 1\nretry: soon\nid: \xff\nid: a\nid: b\n\n";
            connection.send(odd).await?;
            connection.send(format!("event: x\nevent: message\nfoo\ndata: {sound}\n\n").as_bytes()).await
        }
        "half-characters" => {
            let halved = sound.replace("caf", "caf\\ud83d");
            connection.respond(200, &[JSON], halved.as_bytes()).await
        }
        "half-characters-in-error" => {
            let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"cut \ud83d"}}"#;
            connection.respond(400, &[JSON], error.as_bytes()).await
        }
        "repeats" => {
            let mut unknown = answer(server, request);
            unknown["id"] = json!(999_999);
            let mut second = answer(server, request);
            second["result"] = json!({ "content": [{ "type": "text", "text": "the second answer" }] });
            connection.head(200, &[EVENTS], None).await?;
            for message in [unknown.to_string(), sound, second.to_string()] {
                connection.event("message", None, &message).await?;
            }
            Ok(())
        }
        mode => {
            eprintln!("http-fault-server: no mode {mode} at {}", phase(request));
            connection.respond(501, &[], b"unknown mode").await
        }
    }
}

/// A batch of a notification and the response.
fn batch(sound: &str) -> String {
    let log = json!({ "level": "info", "data": "in a batch" });
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": log });
    format!("[{log}, {sound}]")
}

async fn flood(connection: &mut Connection) -> io::Result<()> {
    let chunk = vec![b'x'; CHUNK];
    for _ in 0..HUGE / CHUNK {
        connection.send(&chunk).await?;
    }
    Ok(())
}
