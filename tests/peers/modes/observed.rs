//! What was seen of a client and an odd server, in a word.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// What a client makes of an odd server; the better ones are less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) enum Outcome {
    /// Tools and answers are right.
    #[serde(rename = "ok")]
    Ok,
    /// The same, and the client says what is odd.
    #[serde(rename = "ok, told")]
    Reported,
    /// A request has failed with an error, or a warning says what is missing; the connection goes on.
    #[serde(rename = "error")]
    Error,
    /// An error, after which nothing goes on: the connection does not come about, or serves no more.
    #[serde(rename = "ends")]
    Ends,
    /// Something is wrong or missing, and nothing says so.
    #[serde(rename = "lost")]
    Lost,
    /// Something was waited for until the watchdog came.
    #[serde(rename = "hangs")]
    Hangs,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Ok => "ok",
            Self::Reported => "ok, told",
            Self::Error => "error",
            Self::Ends => "ends",
            Self::Lost => "lost",
            Self::Hangs => "hangs",
        })
    }
}

/// Modes in which the right answer of a call is an error that says hello.
const FAILS: [&str; 3] = ["surrogate-in-error", "null-result-beside-error", "text-code-in-error"];

/// The word for what a client saw, which `clients/modes.mjs` describes.
pub(super) fn outcome(mode: &str, seen: &Value) -> Outcome {
    if seen.is_null() || seen["hangs"].is_string() {
        return Outcome::Hangs;
    }
    let (first, second) = (&seen["calls"][0], &seen["calls"][1]);
    let failed = |step: &Value| step["error"].is_string();
    let is_whole = seen["calls"].as_array().is_some_and(|calls| calls.len() == 2);
    let goes_on = is_whole && !(failed(second) && seen["again"].is_string());
    if seen["connect"].is_string() || !goes_on {
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
    match (has_tool && says_hello(&first["result"]) && says_hello(&second["result"]), is_told(seen)) {
        (true, _) => right(seen),
        (false, true) => Outcome::Error,
        (false, false) => Outcome::Lost,
    }
}

fn says_hello(answer: &Value) -> bool {
    answer.to_string().contains("hello")
}

fn is_told(seen: &Value) -> bool {
    seen["told"].as_array().is_some_and(|told| !told.is_empty())
}

/// Where the answers are right: what is left is the end, and what was said beside them.
fn right(seen: &Value) -> Outcome {
    match (seen["close"].is_string(), is_told(seen)) {
        (true, _) => Outcome::Error,
        (false, true) => Outcome::Reported,
        (false, false) => Outcome::Ok,
    }
}
