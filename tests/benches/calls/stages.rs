//! The stages without a snippet: the server alone, and the MCP client.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use mcp::{ServerConfig, Session};
use serde_json::json;
use serde_json::value::to_raw_value;

use crate::{ARGUMENT, AT_ONCE, CALLS, Rates};

pub(crate) const SERVER: &str = env!("CARGO_BIN_EXE_instant-server");

/// The server alone, over its pipes: what a client that does nothing reaches.
pub(crate) fn server() -> Rates {
    let mut child = Command::new(SERVER).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let parameters = json!({ "name": "take", "arguments": { "text": "x".repeat(ARGUMENT) } });
    let request =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{parameters}}}\n");
    let mut measure = |at_once: usize| {
        let requests = request.repeat(at_once);
        let mut answer = String::new();
        let started = Instant::now();
        for _ in 0..CALLS / at_once {
            input.write_all(requests.as_bytes()).unwrap();
            for _ in 0..at_once {
                answer.clear();
                output.read_line(&mut answer).unwrap();
            }
        }
        started.elapsed()
    };
    let rates = Rates::of(measure(1), measure(AT_ONCE));
    drop(input);
    child.wait().unwrap();
    rates
}

/// The MCP client, without a snippet.
pub(crate) fn session() -> Rates {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let config = ServerConfig::stdio("instant", SERVER, [""; 0]);
        let session = Session::connect(&config).await.unwrap();
        measure(&session, 1).await;
        let rates = Rates::of(measure(&session, 1).await, measure(&session, AT_ONCE).await);
        session.close().await;
        rates
    })
}

async fn measure(session: &Session, at_once: usize) -> Duration {
    let arguments = to_raw_value(&json!({ "text": "x".repeat(ARGUMENT) })).unwrap();
    let started = Instant::now();
    let calls = futures::stream::iter(0..CALLS).map(|_| session.call("take", arguments.clone()));
    calls.buffer_unordered(at_once).for_each(async |answer| drop(answer.unwrap())).await;
    started.elapsed()
}
