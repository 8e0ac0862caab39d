//! Classifies what a client did with an odd server.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// A client's handling of an odd server; better outcomes are smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) enum Outcome {
    /// Tools and answers are correct.
    #[serde(rename = "ok")]
    Ok,
    /// The same, and the client reports the oddity.
    #[serde(rename = "ok, reported")]
    Reported,
    /// A request failed with an error, or a warning says what is missing; the connection stays usable.
    #[serde(rename = "error")]
    Error,
    /// An error that prevents or ends the connection.
    #[serde(rename = "ends")]
    Ends,
    /// Something is wrong or missing, and nothing reports it.
    #[serde(rename = "lost")]
    Lost,
    /// The client waited until the watchdog stopped it.
    #[serde(rename = "hangs")]
    Hangs,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Ok => "ok",
            Self::Reported => "ok, reported",
            Self::Error => "error",
            Self::Ends => "ends",
            Self::Lost => "lost",
            Self::Hangs => "hangs",
        })
    }
}

/// Modes in which the correct answer to a call is an error with the text hello.
const FAILS: [&str; 3] = ["surrogate-in-error", "null-result-with-error", "text-code-in-error"];

/// Classifies a client's report, whose form `clients/modes.mjs` describes.
pub(super) fn outcome(mode: &str, seen: &Value) -> Outcome {
    if seen.is_null() || seen["hangs"].is_string() {
        return Outcome::Hangs;
    }
    let (first, second) = (&seen["calls"][0], &seen["calls"][1]);
    let failed = |step: &Value| step["error"].is_string();
    let is_whole = seen["calls"].as_array().is_some_and(|calls| calls.len() == 2);
    let continues = is_whole && !(failed(second) && seen["again"].is_string());
    if seen["connect"].is_string() || !continues {
        return Outcome::Ends;
    }
    if FAILS.contains(&mode) {
        return match (failed(first) && failed(second), says_hello(&first["error"])) {
            (true, true) => right(seen),
            _ => Outcome::Lost,
        };
    }
    if seen["list"].is_string() || failed(first) || failed(second) {
        return Outcome::Error;
    }
    let is_listed = |tool: &Value| {
        tool["name"] == "echo" && tool["description"].as_str().is_some_and(|text| text.contains("Says it"))
    };
    let has_tool = seen["tools"].as_array().is_some_and(|tools| tools.iter().any(is_listed));
    match (has_tool && says_hello(&first["result"]) && says_hello(&second["result"]), is_reported(seen)) {
        (true, _) => right(seen),
        (false, true) => Outcome::Error,
        (false, false) => Outcome::Lost,
    }
}

fn says_hello(answer: &Value) -> bool {
    answer.to_string().contains("hello")
}

fn is_reported(seen: &Value) -> bool {
    seen["notices"].as_array().is_some_and(|reports| !reports.is_empty())
}

/// The outcome if the answers are correct: depends on how the connection ended and on what was reported.
fn right(seen: &Value) -> Outcome {
    match (seen["close"].is_string(), is_reported(seen)) {
        (true, _) => Outcome::Error,
        (false, true) => Outcome::Reported,
        (false, false) => Outcome::Ok,
    }
}
