//! The MCP server that all replicas call, within this process: it counts what each execution has done.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::Checked;

/// The times that the two tools take.
const FAST: Duration = Duration::from_millis(5);
const SLOW: Duration = Duration::from_millis(500);

/// The running server.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    state: Arc<Shared>,
}

struct Shared {
    /// The number of calls of `fast` with each mark.
    effects: Mutex<HashMap<String, usize>>,
    hangs: watch::Sender<bool>,
}

impl Upstream {
    /// Starts it on a free port.
    pub(crate) async fn start() -> Checked<Self> {
        let listener =
            tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let state = Arc::new(Shared { effects: Mutex::default(), hangs: watch::Sender::new(false) });
        let routes = Router::new().route("/mcp", axum::routing::post(answer)).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(Upstream { address, state })
    }

    /// Whether calls are left without an answer.
    pub(crate) fn hang(&self, hangs: bool) {
        self.state.hangs.send_replace(hangs);
    }

    /// The marks of executions that have called it, with the number of calls.
    pub(crate) fn effects(&self) -> HashMap<String, usize> {
        self.state.effects.lock().clone()
    }
}

/// A message as a response of HTTP.
fn json_response(message: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], message.to_string()).into_response()
}

async fn answer(State(state): State<Arc<Shared>>, body: String) -> Response {
    let message: Value = serde_json::from_str(&body).unwrap_or_default();
    let Some(id) = message.get("id").cloned() else { return StatusCode::ACCEPTED.into_response() };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "upstream", "version": "1" },
        }),
        "ping" => json!({}),
        "tools/list" => json!({ "tools": [tool("fast"), tool("slow")] }),
        "tools/call" => called(&state, &message["params"]).await,
        method => {
            let error = json!({ "code": -32_601, "message": format!("there is no method {method}") });
            return json_response(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    json_response(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Returns its mark.",
        "inputSchema": {
            "type": "object", "properties": { "mark": { "type": "string" } }, "required": ["mark"],
        },
    })
}

async fn called(state: &Shared, parameters: &Value) -> Value {
    let mark = parameters["arguments"]["mark"].as_str().unwrap_or_default().to_owned();
    let is_fast = parameters["name"] == "fast";
    if is_fast {
        let mut effects = state.effects.lock();
        *effects.entry(mark.clone()).or_default() += 1;
    }
    // The sender is part of the state.
    let _ = state.hangs.subscribe().wait_for(|hangs| !hangs).await;
    tokio::time::sleep(if is_fast { FAST } else { SLOW }).await;
    json!({ "content": [{ "type": "text", "text": mark }] })
}
