//! `toolsmith mcp serve` from end to end: the real binary, real servers, and a scripted model behind a real API.

mod answers;
mod ending;
mod fan_out;
mod levels;
mod limits;
mod logs;
mod start;
mod tools;
mod typical;

use end_to_end::models::ModelServer;
use end_to_end::scripted::described;
use end_to_end::serving::{Serve, Server};
use serde_json::Value;

/// A subagent with this model, over pipes, after the handshake.
pub(crate) fn serving(model: &ModelServer, of_subagent: &str, more: &str) -> Server {
    let mut server = Serve::subagent(&described(model, of_subagent, more)).start();
    server.shake_hands();
    server
}

/// The text of a result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer:#}"))
}

/// The text of a result that reports a failed subagent.
#[track_caller]
fn failure(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer:#}");
    text(answer)
}
