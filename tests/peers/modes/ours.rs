//! Runs our client against odd servers, in the same steps as the drivers in `clients/`.

use std::{sync::Arc, time::Duration};

use futures::stream::{self, StreamExt as _};
use mcp::{Host, Notice, ServerConfig, Session};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::timeout;

/// The number of servers that are tried concurrently.
const AT_ONCE: usize = 16;

/// Records notices of oddities.
#[derive(Default)]
struct RecordedNotices(Mutex<Vec<String>>);

impl RecordedNotices {
    fn all(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

impl Host for RecordedNotices {
    fn notice(&self, _server: &str, notice: &Notice) {
        if let Notice::Stray(text) = notice {
            self.0.lock().push(text.clone());
        }
    }
}

/// Our client's report on each server of a plan.
pub(super) async fn observe(plan: &Value) -> Value {
    let servers = plan.as_array().into_iter().flatten();
    let seen = stream::iter(servers).map(|server| async move {
        let mode = server["mode"].as_str().unwrap_or_default();
        (mode.to_owned(), watch(server).await)
    });
    Value::from_iter(seen.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await)
}

async fn watch(server: &Value) -> Value {
    let watchdog = Duration::from_secs(server["watchdog"].as_u64().unwrap_or_default());
    let notices = Arc::new(RecordedNotices::default());
    let mut seen = match timeout(watchdog, perform(server, notices.clone())).await {
        Ok(seen) => seen,
        Err(_) => json!({ "hangs": "somewhere" }),
    };
    for text in notices.all() {
        if let Some(list) = seen["notices"].as_array_mut() {
            list.push(json!(text));
        }
    }
    seen
}

async fn perform(server: &Value, notices: Arc<RecordedNotices>) -> Value {
    let mut seen = json!({ "calls": [], "notices": [] });
    let session = match Session::connect_with(&config(&server["target"]), notices).await {
        Ok(session) => session,
        Err(error) => {
            seen["connect"] = json!(error.to_string());
            return seen;
        }
    };
    match session.list_tools().await {
        Ok(listing) => {
            let tool = |tool: &mcp::Tool| json!({ "name": tool.name, "description": tool.definition()["description"].as_str() });
            seen["tools"] = listing.tools.iter().map(tool).collect();
            seen["notices"] = json!(listing.warnings);
        }
        Err(error) => seen["list"] = json!(error.to_string()),
    }
    let calls = [call(&session).await, call(&session).await];
    seen["calls"] = Value::from_iter(calls);
    seen["again"] = failure(session.list_tools().await);
    if server["ping"] == true {
        seen["ping"] = failure(session.ping().await);
    }
    session.close().await;
    seen
}

fn config(target: &Value) -> ServerConfig {
    match (target.as_str(), target.as_array()) {
        (None, Some(line)) => {
            let mut words = line.iter().filter_map(Value::as_str);
            ServerConfig::stdio("odd", words.next().unwrap_or_default(), words)
        }
        (address, _) => ServerConfig::http("odd", address.unwrap_or_default()),
    }
}

async fn call(session: &Session) -> Value {
    let arguments = serde_json::value::to_raw_value(&json!({ "message": "hello" })).unwrap_or_default();
    match session.call("echo", arguments).await {
        Ok(result) => json!({ "result": result.raw().get() }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

fn failure<T>(ended: Result<T, mcp::Error>) -> Value {
    ended.err().map_or(Value::Null, |error| json!(error.to_string()))
}
