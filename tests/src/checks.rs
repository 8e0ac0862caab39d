//! Helpers of client tests: calls with a watchdog, and checks of errors.

use mcp::{Error, Session};
use serde_json::Value;

use crate::harness::WATCHDOG;

/// Fails the test if a future does not complete.
///
/// # Panics
/// If the future does not complete in time.
pub async fn watched<T>(future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(WATCHDOG, future).await {
        Ok(output) => output,
        Err(_) => panic!("it hangs"),
    }
}

/// Calls a tool; returns the first text of its answer.
///
/// # Errors
/// If the call fails.
pub async fn text_of(session: &Session, tool: &str, arguments: &Value) -> Result<String, Error> {
    // A JSON value can always be serialized.
    let arguments = serde_json::value::to_raw_value(arguments).unwrap_or_default();
    let result = watched(session.call(tool, arguments)).await?;
    let result: Value = serde_json::from_str(result.raw().get()).unwrap_or_default();
    Ok(result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

/// Checks that an error's full text contains all phrases.
///
/// # Panics
/// If one is missing.
#[track_caller]
pub fn assert_says(error: &Error, phrases: &[&str]) {
    let text = error.to_string();
    for phrase in phrases {
        assert!(text.contains(phrase), "{phrase:?} not in: {text}");
    }
}
