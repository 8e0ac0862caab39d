//! What tests of the client do again and again: call within bounds, and look at errors.

use std::time::Duration;

use mcp::{Error, Session};
use serde_json::Value;

/// How long anything may take before it counts as hanging. Every limit that is tested is much shorter.
const WATCHDOG: Duration = Duration::from_secs(60);

/// Fails the test where a future does not end.
///
/// # Panics
/// That is how it fails.
pub async fn watched<T>(future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(WATCHDOG, future).await {
        Ok(output) => output,
        Err(_) => panic!("it hangs"),
    }
}

/// The first text that a tool answers with.
///
/// # Errors
/// Where the call fails.
pub async fn text_of(session: &Session, tool: &str, arguments: &Value) -> Result<String, Error> {
    // A JSON value can always be written.
    let arguments = serde_json::value::to_raw_value(arguments).unwrap_or_default();
    let result = watched(session.call(tool, arguments)).await?;
    let result: Value = serde_json::from_str(result.raw().get()).unwrap_or_default();
    Ok(result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

/// Checks an error's whole text for phrases.
///
/// # Panics
/// Where one is missing.
#[track_caller]
pub fn assert_says(error: &Error, phrases: &[&str]) {
    let text = error.to_string();
    for phrase in phrases {
        assert!(text.contains(phrase), "{phrase:?} is missing in: {text}");
    }
}
