//! The streamable HTTP server: its correct answers, and the modes that span several requests.

use std::{
    collections::BTreeSet,
    io,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    connection::{Connection, Request},
    events, fault,
};

/// The content type of a JSON response.
pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");
/// Delay of the session's stream in its mode, long enough that a call that does not wait comes first.
const LATE: Duration = Duration::from_millis(100);
/// The content type of a stream.
pub(crate) const EVENTS: (&str, &str) = ("Content-Type", "text/event-stream");

/// The server in one of its modes.
pub(crate) struct Server {
    pub(crate) mode: String,
    phase: String,
    pub(crate) address: String,
    pub(crate) elsewhere: String,
    pub(crate) requests: AtomicU64,
    sessions: Mutex<BTreeSet<String>>,
    /// Whether the stream of a session was opened.
    streaming: AtomicBool,
    /// The streams of clients of the HTTP+SSE transport.
    pub(crate) streams: events::Streams,
    /// Whether the tool list also contains `late`.
    changed: watch::Sender<bool>,
}

impl Server {
    pub(crate) fn new(mode: String, phase: String, address: String, elsewhere: String) -> Self {
        Self {
            mode,
            phase,
            address,
            elsewhere,
            requests: AtomicU64::new(0),
            sessions: Mutex::default(),
            streaming: AtomicBool::new(false),
            streams: events::Streams::default(),
            changed: watch::Sender::default(),
        }
    }

    /// Changes the tool list, and announces the change to all sessions.
    pub(crate) fn change(&self) {
        self.changed.send_replace(true);
    }

    pub(crate) async fn handle(&self, request: &Request, connection: &mut Connection) -> io::Result<()> {
        if self.mode.starts_with("sse-") {
            return events::handle(self, request, connection).await;
        }
        if phase(request) == self.phase {
            return fault::commit(self, request, connection).await;
        }
        match (self.mode.as_str(), phase(request)) {
            ("session-expires", "call") if self.count() == 0 => {
                self.sessions().clear();
                self.respond(request, connection).await
            }
            ("session-expires-by-400" | "session-expires-in-plain-words", "call" | "other")
                if self.count() == 0 =>
            {
                self.sessions().clear();
                self.forget(connection).await
            }
            ("session-expires-by-400-forever", "call") => self.forget(connection).await,
            ("session-expires-forever", "call") => connection.respond(404, &[], b"").await,
            // The first poll of a task finds the session lost, the second one a proxy without the server.
            ("task", "other") => match self.count() {
                0 => {
                    self.sessions().clear();
                    self.respond(request, connection).await
                }
                1 | 2 => connection.respond(502, &[], b"restarting").await,
                _ => self.respond(request, connection).await,
            },
            // The call gives the client time.
            ("get-ends", "call") => connection.hold().await,
            ("get-ends", "get") => connection.respond(200, &[EVENTS], b"").await,
            ("late-stream", "get") => {
                tokio::time::sleep(LATE).await;
                connection.head(200, &[EVENTS], None).await?;
                self.streaming.store(true, Ordering::Relaxed);
                connection.hold().await
            }
            ("late-stream", "call") if !self.streaming.load(Ordering::Relaxed) => {
                connection.respond(500, &[], b"the call came before the stream").await
            }
            ("storm", "get") => storm(connection).await,
            // Does not answer the first discovery, and is then stateless.
            ("slow-discover", "discover") if self.count() == 0 => connection.hold().await,
            ("slow-discover" | "refuses-version-once" | "stateless", _) => {
                connection.respond(200, &[JSON], answer(self, request).to_string().as_bytes()).await
            }
            ("resumes", "call" | "get") => resume(self, request, connection).await,
            _ => self.respond(request, connection).await,
        }
    }

    /// Announces a change of the list on a session's stream, until the client disconnects.
    async fn announce(&self, connection: &mut Connection) -> io::Result<()> {
        let mut changed = self.changed.subscribe();
        tokio::select! {
            done = connection.hold() => return done,
            _ = changed.wait_for(|changed| *changed) => {}
        }
        connection.event("message", None, &list_changed()).await?;
        connection.hold().await
    }

    /// Returns the counter and increments it.
    pub(crate) fn count(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.sessions.lock()
    }

    /// Answers like servers that do not know a session but do not return 404.
    async fn forget(&self, connection: &mut Connection) -> io::Result<()> {
        if self.mode == "session-expires-in-plain-words" {
            return connection.respond(400, &[], b"Invalid session ID\n").await;
        }
        let message = "Bad Request: No valid session ID provided";
        let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": message } });
        connection.respond(400, &[JSON], error.to_string().as_bytes()).await
    }

    /// Answers like a correct server.
    pub(crate) async fn respond(&self, request: &Request, connection: &mut Connection) -> io::Result<()> {
        let known = request.header("mcp-session-id").is_some_and(|id| self.sessions().contains(id));
        match phase(request) {
            "get" if known => {
                connection.head(200, &[EVENTS], None).await?;
                self.announce(connection).await
            }
            "delete" => connection.respond(200, &[], b"").await,
            "initialize" => {
                let session = format!("session-{}", self.sessions().len());
                self.sessions().insert(session.clone());
                let headers = [JSON, ("Mcp-Session-Id", &session)];
                connection.respond(200, &headers, answer(self, request).to_string().as_bytes()).await
            }
            "discover" => {
                connection.respond(200, &[JSON], answer(self, request).to_string().as_bytes()).await
            }
            _ if !known => connection.respond(404, &[], b"no such session").await,
            _ if request.message.get("id").is_none() => connection.respond(202, &[], b"").await,
            _ if self.mode == "changing-session" => {
                let session = format!("other-{}", self.count());
                let headers = [JSON, ("Mcp-Session-Id", &session)];
                connection.respond(200, &headers, answer(self, request).to_string().as_bytes()).await
            }
            _ => connection.respond(200, &[JSON], answer(self, request).to_string().as_bytes()).await,
        }
    }
}

/// The phase of a request.
pub(crate) fn phase(request: &Request) -> &'static str {
    match (request.method.as_str(), request.message["method"].as_str().unwrap_or_default()) {
        ("GET", _) => "get",
        ("DELETE", _) => "delete",
        (_, "server/discover") => "discover",
        (_, "initialize") => "initialize",
        (_, "notifications/initialized") => "initialized",
        (_, "tools/list") => "list",
        (_, "tools/call") => "call",
        _ => "other",
    }
}

/// The JSON-RPC response of a correct server.
pub(crate) fn answer(server: &Server, request: &Request) -> Value {
    let id = &request.message["id"];
    let refusal = |code: i64, message: &str, data: Value| {
        let error = json!({ "code": code, "message": message, "data": data });
        json!({ "jsonrpc": "2.0", "id": id, "error": error })
    };
    let result = match phase(request) {
        "initialize" if server.mode == "slow-discover" => {
            return refusal(-32601, "Method not found", Value::Null);
        }
        "initialize" => {
            let version = if server.mode == "future-version" { "2099-01-01" } else { "2025-11-25" };
            json!({
                "protocolVersion": version,
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "http-fault-server", "version": "1.0.0" }
            })
        }
        "list" => tools(server),
        "call" if server.mode == "names-sessions" => {
            let session = request.header("mcp-session-id").unwrap_or_default();
            json!({ "content": [{ "type": "text", "text": session }] })
        }
        "call" if server.mode == "task" => {
            json!({ "resultType": "task", "taskId": "t \u{e9}", "status": "working" })
        }
        "other" if server.mode == "task" => {
            let result = json!({ "content": [{ "type": "text", "text": "done" }] });
            let id = &request.message["params"]["taskId"];
            json!({ "resultType": "complete", "taskId": id, "status": "completed", "result": result })
        }
        "call" => {
            let text = request.message["params"]["arguments"]["message"].clone();
            json!({ "content": [{ "type": "text", "text": text }] })
        }
        "discover" => match server.mode.as_str() {
            "discovers-older" => introduction(&["2025-11-25", "2025-06-18"]),
            "slow-discover" | "stateless" => introduction(&["2026-07-28"]),
            "refuses-version-once" if server.count() > 0 => introduction(&["2026-07-28"]),
            "refuses-version" => return refusal(-32022, "Unsupported protocol version", Value::Null),
            "refuses-version-with-list" => {
                let data = json!({ "requested": "2026-07-28", "supported": ["2025-11-25"] });
                return refusal(-32022, "Unsupported protocol version", data);
            }
            "refuses-version-it-lists" | "refuses-version-once" => {
                let data = json!({ "requested": "2026-07-28", "supported": ["2026-07-28"] });
                return refusal(-32022, "Unsupported protocol version", data);
            }
            _ => return refusal(-32601, "Method not found", Value::Null),
        },
        _ => json!({}),
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The answer to `server/discover` of a server that supports these versions.
fn introduction(versions: &[&str]) -> Value {
    json!({
        "resultType": "complete", "supportedVersions": versions, "capabilities": { "tools": {} },
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "http-fault-server", "version": "1.0.0" } },
        "ttlMs": 0, "cacheScope": "private"
    })
}

fn tools(server: &Server) -> Value {
    let tool = json!({ "name": "echo", "inputSchema": { "type": "object" } });
    match server.mode.as_str() {
        "endless-pages" => json!({ "tools": [tool], "nextCursor": "same" }),
        "endless-new-pages" => json!({ "tools": [tool], "nextCursor": format!("page-{}", server.count()) }),
        _ if *server.changed.borrow() => {
            json!({ "tools": [tool, { "name": "late", "inputSchema": { "type": "object" } }] })
        }
        _ => json!({ "tools": [tool] }),
    }
}

/// The notification of a changed list.
fn list_changed() -> String {
    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }).to_string()
}

/// Sends endless `list_changed` notifications.
async fn storm(connection: &mut Connection) -> io::Result<()> {
    connection.head(200, &[EVENTS], None).await?;
    let changed = list_changed();
    loop {
        connection.event("message", None, &changed).await?;
        tokio::task::yield_now().await;
    }
}

/// Ends the first stream of a call before the answer, and answers on the stream that resumes it (`Last-Event-ID`).
async fn resume(server: &Server, request: &Request, connection: &mut Connection) -> io::Result<()> {
    match request.header("last-event-id") {
        None if phase(request) == "call" => {
            connection.head(200, &[EVENTS], None).await?;
            let id = request.message["id"].to_string();
            connection.send(format!("id: call-{id}\nretry: 10\ndata: \n\n").as_bytes()).await
        }
        None => server.respond(request, connection).await,
        Some(last) => {
            let id: Value = last.strip_prefix("call-").and_then(|id| id.parse().ok()).unwrap_or_default();
            let result = json!({ "content": [{ "type": "text", "text": "resumed" }] });
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            connection.head(200, &[EVENTS], None).await?;
            connection.event("message", Some("last"), &answer.to_string()).await?;
            connection.hold().await
        }
    }
}
