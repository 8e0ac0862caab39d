//! The server's end of a session: answers the few requests of MCP that an API needs.
//!
//! Messages are read and written as text, so that the numbers of arguments and answers stay as they were sent.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::future::{AbortHandle, Abortable};
use futures::stream::FuturesUnordered;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, WriteHalf};
use tokio::sync::Semaphore;

use crate::api::Api;

/// Limit on requests to the API at the same time in a session; further calls wait, within their own time limits.
const MAX_CONCURRENT: usize = 32;

/// JSON-RPC's codes.
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;

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
}

/// A call under way: returns the line to write, or nothing if it was cancelled.
type Calling = Pin<Box<dyn Future<Output = (String, Option<String>)> + Send>>;

/// Serves a session until its client closes it. Dropping the future ends all requests.
pub(crate) async fn serve(api: Arc<Api>, stream: DuplexStream) {
    let (read, write) = tokio::io::split(stream);
    let mut lines = BufReader::new(read).lines();
    let mut session = Session {
        api,
        write,
        calls: FuturesUnordered::new(),
        cancels: HashMap::new(),
        turns: Arc::new(Semaphore::new(MAX_CONCURRENT)),
    };
    loop {
        let written = tokio::select! {
            line = lines.next_line() => match line {
                Ok(Some(line)) => session.handle(&line).await,
                _ => return,
            },
            Some((id, line)) = session.calls.next(), if !session.calls.is_empty() => {
                session.cancels.remove(&id);
                match line {
                    Some(line) => session.send(&line).await,
                    None => Ok(()),
                }
            }
        };
        if written.is_err() {
            return;
        }
    }
}

struct Session {
    api: Arc<Api>,
    write: WriteHalf<DuplexStream>,
    calls: FuturesUnordered<Calling>,
    /// By the id of the request as JSON.
    cancels: HashMap<String, AbortHandle>,
    turns: Arc<Semaphore>,
}

impl Session {
    async fn send(&mut self, line: &str) -> std::io::Result<()> {
        self.write.write_all(line.as_bytes()).await?;
        self.write.write_all(b"\n").await
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
        match method.as_str() {
            "tools/call" => {
                self.begin(&id, params.as_deref());
                Ok(())
            }
            "initialize" => {
                let version = requested_version(params.as_deref());
                let answer = self.api.introduction(version.as_deref());
                self.send(&answered(&id, &answer)).await
            }
            "tools/list" => {
                let api = self.api.clone();
                self.send(&answered(&id, api.list())).await
            }
            "ping" => self.send(&answered(&id, &json!({}))).await,
            method => {
                let refused =
                    refused(&id, METHOD_NOT_FOUND, &format!("the method {method} is not supported"));
                self.send(&refused).await
            }
        }
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
        let (api, turns, id) = (self.api.clone(), self.turns.clone(), id.to_owned());
        let parameters: Option<CallParameters> =
            params.and_then(|params| serde_json::from_str(params.get()).ok());
        let key = id.get().to_owned();
        self.cancels.insert(key.clone(), handle);
        let work = async move {
            let Some(CallParameters { name, arguments }) = parameters else {
                return refused(&id, INVALID_PARAMS, "the call has no name of a tool");
            };
            let _turn = turns.acquire().await;
            match api.call(&name, arguments.as_deref()).await {
                Some(result) => answered(&id, &result),
                None => refused(&id, INVALID_PARAMS, &format!("there is no tool {name}")),
            }
        };
        let work = Abortable::new(work, registration);
        self.calls.push(Box::pin(async move { (key, work.await.ok()) }));
    }
}

/// The version of the protocol that the client asks for: all of them have what is used here.
fn requested_version(params: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialize {
        protocol_version: String,
    }
    let initialize: Initialize = serde_json::from_str(params?.get()).ok()?;
    Some(initialize.protocol_version)
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
