//! Clients of the fleet: one execution through the proxy, with or without a session, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use end_to_end::reductions::OUTCOME;
use parking_lot::RwLock;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::mix::Work;

/// The time limit on a client's wait for an answer.
const LIMIT: Duration = Duration::from_secs(60);

/// The version without sessions, and the one with them.
const STATELESS: &str = "2026-07-28";
const WITH_SESSIONS: &str = "2025-11-25";

/// The header in which the proxy names the replica that has answered.
pub(crate) const REPLICA: &str = "x-replica";

/// An HTTP client that opens a connection for each request, so that the proxy balances each of them.
pub(crate) fn http() -> reqwest::Client {
    let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).timeout(LIMIT).build();
    // Only settings of TLS can fail, and there are none.
    client.unwrap_or_default()
}

/// One client.
pub(crate) struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) url: String,
    /// The id of the next request.
    pub(crate) next: AtomicU64,
    pub(crate) token: Arc<RwLock<String>>,
    /// The id of its session; `None` inside if it has to start one. Without it, the client has no sessions.
    pub(crate) session: Option<Mutex<Option<String>>>,
}

/// The end of an execution, for its client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As its text says.
    Good,
    /// Refused because too much was going on: the outcome `busy`, or the status 503.
    Busy,
    /// Refused with another status of HTTP.
    Refused(u16),
    /// The execution failed with this status, for a reason outside of its text.
    Failed(String),
    /// The connection broke before the answer.
    Cut(String),
    /// No answer in time, or one that is wrong.
    Lost(String),
}

/// A client's view of an execution.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) ending: Ending,
    /// The replica that answered, if the proxy named one.
    pub(crate) replica: Option<String>,
    /// Whether its text was compiled for it.
    pub(crate) compiled: bool,
    /// The number of times that the client had to start another session.
    pub(crate) sessions_lost: usize,
    /// Whether a refusal said when to try again.
    pub(crate) says_when: bool,
}

impl Seen {
    fn new(ending: Ending, replica: Option<String>) -> Self {
        Seen { ending, replica, compiled: false, sessions_lost: 0, says_when: false }
    }
}

/// A complete answer of HTTP.
struct Reply {
    status: u16,
    headers: HeaderMap,
    text: String,
}

/// A request without a complete answer.
struct Broken {
    late: bool,
    why: String,
    replica: Option<String>,
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

impl Client {
    /// Runs a text; a client whose session was lost starts another one, once.
    pub(crate) async fn execute(&self, work: &Work) -> Seen {
        let parameters = json!({
            "name": "execute_code", "arguments": { "code": work.code, "args": { "mark": work.mark } },
        });
        let mut lost = 0;
        loop {
            let reply = match self.session().await {
                Ok(session) => self.post("tools/call", parameters.clone(), session.as_deref()).await,
                Err(seen) => return Seen { sessions_lost: lost, ..seen },
            };
            if matches!(&reply, Ok(reply) if reply.status == 404) && self.session.is_some() && lost == 0 {
                lost += 1;
                if let Some(session) = &self.session {
                    *session.lock().await = None;
                }
                continue;
            }
            return Seen { sessions_lost: lost, ..seen(reply, work) };
        }
    }

    /// The id of the session, after the handshake; `None` for a client without sessions.
    async fn session(&self) -> Result<Option<String>, Seen> {
        let Some(session) = &self.session else { return Ok(None) };
        let mut session = session.lock().await;
        if session.is_none() {
            let parameters = json!({
                "protocolVersion": WITH_SESSIONS,
                "capabilities": {},
                "clientInfo": { "name": "fleet", "version": "1" },
            });
            let reply = match self.post("initialize", parameters, None).await {
                Ok(reply) if reply.status == 200 => reply,
                other => return Err(refusal(other)),
            };
            *session = header(&reply.headers, "mcp-session-id");
            let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            // Without it the session works too.
            let _ = self.send(notification, session.as_deref(), &[]).await;
        }
        Ok(session.clone())
    }

    async fn post(
        &self,
        method: &str,
        mut parameters: Value,
        session: Option<&str>,
    ) -> Result<Reply, Broken> {
        let mut headers = Vec::new();
        if self.session.is_none() {
            parameters["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": { "name": "fleet", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            headers = vec![
                ("mcp-protocol-version", STATELESS.to_owned()),
                ("mcp-method", method.to_owned()),
                ("mcp-name", parameters["name"].as_str().unwrap_or_default().to_owned()),
            ];
        }
        // Several requests of a session may be in progress.
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters });
        self.send(message, session, &headers).await
    }

    async fn send(
        &self,
        message: Value,
        session: Option<&str>,
        headers: &[(&str, String)],
    ) -> Result<Reply, Broken> {
        let token = self.token.read().clone();
        let mut request = self.http.post(&self.url).bearer_auth(token);
        request = request.header("host", "localhost").header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        let broken = |replica: Option<String>| {
            move |error: reqwest::Error| Broken {
                late: error.is_timeout(),
                why: format!("{error:?}"),
                replica,
            }
        };
        let response = request.body(message.to_string()).send().await.map_err(broken(None))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let replica = header(&headers, REPLICA);
        let text = response.text().await.map_err(broken(replica))?;
        Ok(Reply { status, headers, text })
    }
}

/// Classifies an answer that is no outcome.
fn refusal(reply: Result<Reply, Broken>) -> Seen {
    match reply {
        Err(Broken { late: true, why, replica }) => Seen::new(Ending::Lost(why), replica),
        Err(Broken { why, replica, .. }) => Seen::new(Ending::Cut(why), replica),
        Ok(Reply { status, headers, .. }) => {
            let ending = if status == 503 { Ending::Busy } else { Ending::Refused(status) };
            let says_when = headers.contains_key("retry-after");
            Seen { says_when, ..Seen::new(ending, header(&headers, REPLICA)) }
        }
    }
}

fn seen(reply: Result<Reply, Broken>, work: &Work) -> Seen {
    let reply = match reply {
        Ok(reply) if reply.status == 200 => reply,
        other => return refusal(other),
    };
    let replica = header(&reply.headers, REPLICA);
    let Some(message) = answer(&reply.text) else {
        // The stream has ended in order, but without the answer.
        return Seen::new(Ending::Cut(format!("the stream has no answer: {:?}", reply.text)), replica);
    };
    let outcome = &message["result"]["_meta"][OUTCOME];
    let Some(status) = outcome["status"].as_str() else {
        // The last part is the cause; what precedes it has names of files.
        let text = message["result"]["content"][0]["text"].as_str().or(message["error"]["message"].as_str());
        let cause = text.and_then(|text| text.rsplit(": ").next()).unwrap_or("no text");
        return Seen::new(Ending::Failed(format!("no outcome: {cause}")), replica);
    };
    let compiled = outcome["cached"] == false && outcome["phases_ms"]["compile"].as_f64() > Some(0.0);
    let says_when = outcome["error"]["evidence"]["retry_after_seconds"].is_number();
    let ending = match status {
        "busy" => Ending::Busy,
        status if status != work.status => {
            Ending::Failed(format!("{status}: {}", outcome["error"]["message"].as_str().unwrap_or_default()))
        }
        "ok" if outcome["result"] != work.result() => {
            Ending::Lost(format!("a wrong result: {} for {}", outcome["result"], work.mark))
        }
        _ => Ending::Good,
    };
    Seen { compiled: compiled && status != "compile_error", says_when, ..Seen::new(ending, replica) }
}

/// The answer in an event stream, or in a plain body.
fn answer(text: &str) -> Option<Value> {
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let messages = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let mut messages = messages.chain(serde_json::from_str(text).ok());
    messages.find(|message| {
        message["id"].is_u64() && (message["result"].is_object() || message["error"].is_object())
    })
}
