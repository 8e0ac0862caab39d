//! Servers within this process: one end of a stream is a session's transport, and at the other end this module answers
//! the few requests of MCP that a list of tools needs.
//!
//! Messages are read and written as text, so that the numbers of arguments and answers stay as they were sent.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{AbortHandle, Abortable, BoxFuture},
    stream::FuturesUnordered,
};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, WriteHalf},
    sync::{Semaphore, mpsc},
};

use crate::progress::{ProgressMade, ProgressSink};

/// Limit on calls at the same time in a session; further calls wait, within their own time limits.
const MAX_CONCURRENT: usize = 32;

/// Limit on progress reports of a session that wait to be written; further ones are dropped.
const MAX_REPORTS: usize = 64;

/// JSON-RPC's codes.
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;

/// A server within this process. Servers with the same identity are equal.
pub trait InProcessServer: Send + Sync {
    /// Prepares a session, within the connect timeout.
    ///
    /// # Errors
    /// The reason why the server can't be used.
    fn open(&self, connect_timeout: Duration) -> BoxFuture<'_, Result<Arc<dyn Tools>, OpenError>>;

    /// Everything by which two of them could differ. It has no secrets.
    fn identity(&self) -> String;
}

/// The reason why a server within this process can't be used.
pub type OpenError = Box<dyn std::error::Error + Send + Sync>;

/// The tools of a session with a server within this process.
pub trait Tools: Send + Sync {
    /// The members `serverInfo` and `instructions` of the result of `initialize` (MCP).
    fn introduction(&self) -> Introduction;

    /// The result of `tools/list` (MCP): one page.
    fn list(&self) -> &RawValue;

    /// Calls a tool; returns a `CallToolResult` (MCP), or `None` if there is no tool of this name. Dropping the future
    /// cancels the call. What it reports to `progress` restarts the time limit of the request.
    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: Option<&'a RawValue>,
        progress: ProgressSink,
    ) -> BoxFuture<'a, Option<Box<RawValue>>>;
}

/// The introduction of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Introduction {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Hints for models; empty if there are none.
    pub instructions: String,
}

impl fmt::Debug for dyn InProcessServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("InProcessServer").field(&self.identity()).finish()
    }
}

impl PartialEq for dyn InProcessServer {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for dyn InProcessServer {}

/// A message of the client.
#[derive(Deserialize)]
struct Message {
    id: Option<Box<RawValue>>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: Box<RawValue>,
}

#[derive(Serialize)]
struct Refusal<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    error: Value,
}

#[derive(Deserialize)]
struct CallParameters {
    name: String,
    arguments: Option<Box<RawValue>>,
    #[serde(default, rename = "_meta")]
    meta: CallMeta,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallMeta {
    progress_token: Option<Box<RawValue>>,
}

/// A call under way: returns its id, and the line to write unless it was cancelled.
type Calling = BoxFuture<'static, (String, Option<String>)>;

/// Serves a session until its client closes it. Dropping the future ends all calls.
pub(crate) async fn serve(tools: Arc<dyn Tools>, stream: DuplexStream) {
    let (read, write) = tokio::io::split(stream);
    let mut lines = BufReader::new(read).lines();
    let (reports, mut reported) = mpsc::channel(MAX_REPORTS);
    let mut session = Session {
        tools,
        write,
        calls: FuturesUnordered::new(),
        cancels: HashMap::new(),
        turns: Arc::new(Semaphore::new(MAX_CONCURRENT)),
        reports,
    };
    loop {
        let written = tokio::select! {
            // Progress last, so that a call that reports it without end does not keep the others waiting.
            biased;
            line = lines.next_line() => match line {
                Ok(Some(line)) => session.handle(&line).await,
                _ => return,
            },
            Some((id, line)) = session.calls.next(), if !session.calls.is_empty() => {
                session.cancels.remove(&id);
                session.end(&mut reported, line).await
            }
            Some(line) = reported.recv() => session.send(&line).await,
        };
        if written.is_err() {
            return;
        }
    }
}

struct Session {
    tools: Arc<dyn Tools>,
    write: WriteHalf<DuplexStream>,
    calls: FuturesUnordered<Calling>,
    /// By the id of the request as JSON.
    cancels: HashMap<String, AbortHandle>,
    turns: Arc<Semaphore>,
    reports: mpsc::Sender<String>,
}

impl Session {
    async fn send(&mut self, line: &str) -> std::io::Result<()> {
        self.write.write_all(line.as_bytes()).await?;
        self.write.write_all(b"\n").await
    }

    /// Writes the answer to a call that has ended, after the progress that it has reported.
    async fn end(
        &mut self,
        reported: &mut mpsc::Receiver<String>,
        line: Option<String>,
    ) -> std::io::Result<()> {
        for _ in 0..MAX_REPORTS {
            let Ok(report) = reported.try_recv() else { break };
            self.send(&report).await?;
        }
        match line {
            Some(line) => self.send(&line).await,
            None => Ok(()),
        }
    }

    async fn handle(&mut self, line: &str) -> std::io::Result<()> {
        let Ok(Message { id, method: Some(method), params }) = serde_json::from_str(line) else {
            // An answer, or no message: this server asks nothing.
            return Ok(());
        };
        let Some(id) = id else {
            if method == "notifications/cancelled" {
                self.cancel(params.as_deref());
            }
            return Ok(());
        };
        let line = match method.as_str() {
            "tools/call" => {
                self.begin(&id, params.as_deref());
                return Ok(());
            }
            "initialize" => answered(&id, &introduced(&*self.tools, params.as_deref())),
            "tools/list" => answered(&id, self.tools.list()),
            "ping" => answered(&id, &json!({})),
            method => refused(&id, METHOD_NOT_FOUND, &format!("the method {method} is not supported")),
        };
        self.send(&line).await
    }

    fn cancel(&mut self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled {
            request_id: Box<RawValue>,
        }
        let cancelled = params.and_then(|params| serde_json::from_str::<Cancelled>(params.get()).ok());
        let handle = cancelled.and_then(|cancelled| self.cancels.remove(cancelled.request_id.get()));
        if let Some(handle) = handle {
            handle.abort();
        }
    }

    fn begin(&mut self, id: &RawValue, params: Option<&RawValue>) {
        let (handle, registration) = AbortHandle::new_pair();
        let (tools, turns, id) = (self.tools.clone(), self.turns.clone(), id.to_owned());
        let reports = self.reports.clone();
        let parameters: Option<CallParameters> =
            params.and_then(|params| serde_json::from_str(params.get()).ok());
        let key = id.get().to_owned();
        self.cancels.insert(key.clone(), handle);
        let work = async move {
            let Some(CallParameters { name, arguments, meta }) = parameters else {
                return refused(&id, INVALID_PARAMS, "the call has no name of a tool");
            };
            let _turn = turns.acquire().await;
            match tools.call(&name, arguments.as_deref(), reporting(meta.progress_token, reports)).await {
                Some(result) => answered(&id, &result),
                None => refused(&id, INVALID_PARAMS, &format!("there is no tool {name}")),
            }
        };
        let work = Abortable::new(work, registration);
        self.calls.push(async move { (key, work.await.ok()) }.boxed());
    }
}

/// Sends progress as `notifications/progress` (MCP), if the request has a token.
fn reporting(token: Option<Box<RawValue>>, reports: mpsc::Sender<String>) -> ProgressSink {
    Arc::new(move |ProgressMade { done, total, message }| {
        let Some(token) = &token else { return };
        let mut params = json!({ "progressToken": token, "progress": done });
        if let Some(total) = total {
            params["total"] = total.into();
        }
        if let Some(message) = message {
            params["message"] = message.into();
        }
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        // A full queue has newer reports than its reader needs.
        let _ = reports.try_send(line.to_string());
    })
}

/// The result of `initialize`. The version is the one that the client asks for: all of them have what is used here.
fn introduced(tools: &dyn Tools, params: Option<&RawValue>) -> Value {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialize {
        protocol_version: String,
    }
    let initialize = params.and_then(|params| serde_json::from_str::<Initialize>(params.get()).ok());
    let Introduction { name, version, instructions } = tools.introduction();
    let mut introduction = json!({
        "protocolVersion": initialize.map(|initialize| initialize.protocol_version),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": name, "version": version },
    });
    if !instructions.is_empty() {
        introduction["instructions"] = instructions.into();
    }
    introduction
}

fn answered(id: &RawValue, result: &(impl Serialize + ?Sized)) -> String {
    let result = to_raw_value(result);
    let line = result.and_then(|result| serde_json::to_string(&Answer { jsonrpc: "2.0", id, result }));
    line.unwrap_or_else(|error| refused(id, INTERNAL_ERROR, &error.to_string()))
}

fn refused(id: &RawValue, code: i32, message: &str) -> String {
    let error = json!({ "code": code, "message": message });
    serde_json::to_string(&Refusal { jsonrpc: "2.0", id, error }).unwrap_or_default()
}
