//! An HTTP client with hand-written messages, with and without sessions.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::harness::WATCHDOG;

/// The last protocol version with a handshake, and the stateless one.
pub const HANDSHAKE: &str = "2025-11-25";
pub const STATELESS: &str = "2026-07-28";

/// How the tests introduce themselves as a client.
pub(super) fn client_info() -> Value {
    json!({ "name": "tests", "version": "1" })
}

/// The runtime for waiting in tests.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
    })
}

#[track_caller]
fn wait<T>(what: &str, work: impl Future<Output = T>) -> T {
    let done = runtime().block_on(async { tokio::time::timeout(WATCHDOG, work).await });
    done.unwrap_or_else(|_| panic!("timed out waiting for: {what}"))
}

/// A client over HTTP.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    pub address: String,
    pub headers: Vec<(String, String)>,
    /// The capabilities that a stateless client declares with each request.
    pub capabilities: Value,
    next: Arc<Mutex<u32>>,
}

/// A response whose body is being received.
pub struct ResponseStream {
    response: Response,
    id: u32,
    /// Received text that is not parsed yet.
    text: String,
    /// The last id of an event.
    pub last_event: Option<String>,
    /// The number of events received without data.
    pub empty_events: usize,
}

impl Client {
    pub fn new(address: &str) -> Self {
        // Fails if it is installed already.
        let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
        let capabilities = json!({ "elicitation": {} });
        Client {
            http,
            address: address.to_owned(),
            headers: Vec::new(),
            capabilities,
            next: Arc::new(Mutex::new(1)),
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same client, with another value of a header.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.header(name, value)
    }

    fn with_headers(&self, mut request: RequestBuilder) -> RequestBuilder {
        if !self.headers.iter().any(|(name, _)| name == "accept") {
            request = request.header("accept", "application/json, text/event-stream");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request
    }

    /// Sends a POST request; returns status, headers and text.
    #[track_caller]
    pub fn post(&self, body: impl Into<reqwest::Body>) -> HttpResponse {
        let request = self.http.post(&self.address).header("content-type", "application/json").body(body);
        self.plain(request)
    }

    /// Sends a GET request for another path of the same server.
    #[track_caller]
    pub fn get(&self, path: &str) -> HttpResponse {
        self.plain(self.http.get(self.address.replace("/mcp", path)))
    }

    #[track_caller]
    pub fn delete(&self) -> HttpResponse {
        self.plain(self.http.delete(&self.address))
    }

    #[track_caller]
    pub fn options(&self) -> HttpResponse {
        self.plain(self.http.request(reqwest::Method::OPTIONS, &self.address))
    }

    #[track_caller]
    fn plain(&self, request: RequestBuilder) -> HttpResponse {
        wait("an answer", async {
            let response = self.with_headers(request).send().await.unwrap();
            let (status, headers) = (response.status(), response.headers().clone());
            HttpResponse { status, headers, text: response.text().await.unwrap() }
        })
    }

    /// Performs the handshake; the client then uses its session.
    #[track_caller]
    pub fn shake_hands(self) -> Self {
        self.shake_hands_as(HANDSHAKE, &json!({})).0
    }

    #[track_caller]
    pub fn shake_hands_as(self, version: &str, capabilities: &Value) -> (Self, Value) {
        let (client, answer, _) = self.begin_session(version, capabilities);
        (client, answer)
    }

    /// Like [`Self::shake_hands_as`], and returns the number of events without data in the answer.
    #[track_caller]
    pub fn begin_session(mut self, version: &str, capabilities: &Value) -> (Self, Value, usize) {
        let parameters =
            json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client_info() });
        let mut answering = self.begin("initialize", &parameters);
        let session = answering.response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let answer = answering.end();
        self.headers.push(("mcp-session-id".to_owned(), session));
        let agreed = answer["result"]["protocolVersion"].as_str().unwrap();
        self.headers.push(("mcp-protocol-version".to_owned(), agreed.to_owned()));
        self.notify("notifications/initialized");
        (self, answer, answering.empty_events)
    }

    #[track_caller]
    pub fn notify(&self, method: &str) {
        let accepted = self.post(json!({ "jsonrpc": "2.0", "method": method }).to_string());
        assert_eq!(accepted.status, StatusCode::ACCEPTED, "{accepted:?}");
    }

    /// Answers a request of the server.
    #[track_caller]
    pub fn answer(&self, id: &Value, result: &Value) {
        let accepted = self.post(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
        assert_eq!(accepted.status, StatusCode::ACCEPTED, "{accepted:?}");
    }

    /// Makes it a stateless client, whose requests are self-contained. It supports elicitation.
    pub fn stateless(self) -> Self {
        self.header("mcp-protocol-version", STATELESS)
    }

    /// Makes it a stateless client that knows tasks.
    pub fn with_tasks(self) -> Self {
        let capabilities =
            json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let client = if self.is_stateless() { self } else { self.stateless() };
        Client { capabilities, ..client }
    }

    fn is_stateless(&self) -> bool {
        self.headers.iter().any(|(name, value)| name == "mcp-protocol-version" && value == STATELESS)
    }

    /// Makes a request; returns the start of its response.
    #[track_caller]
    pub fn begin(&self, method: &str, parameters: &Value) -> ResponseStream {
        let id = {
            let mut next = self.next.lock();
            *next += 1;
            *next
        };
        let mut parameters = parameters.clone();
        let mut request = self.http.post(&self.address).header("content-type", "application/json");
        if self.is_stateless() {
            let meta = &mut parameters["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
            meta["io.modelcontextprotocol/clientInfo"] = client_info();
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            request = request.header("mcp-method", method);
            let names = ["name", "uri", "taskId"];
            if let Some(name) = names.iter().find_map(|name| parameters[name].as_str()) {
                request = request.header("mcp-name", name);
            }
        }
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters });
        let request = self.with_headers(request).body(body.to_string());
        let response = wait(method, async { request.send().await.unwrap() });
        ResponseStream { response, id, text: String::new(), last_event: None, empty_events: 0 }
    }

    /// Makes a request and waits for its answer.
    #[track_caller]
    pub fn ask(&self, method: &str, parameters: &Value) -> Value {
        self.begin(method, parameters).end()
    }

    /// Resumes the lost stream of a response.
    #[track_caller]
    pub fn resume(&self, id: u32, last_event: &str) -> ResponseStream {
        let request = self.with_headers(self.http.get(&self.address)).header("last-event-id", last_event);
        let response = wait("the stream", async { request.send().await.unwrap() });
        assert_eq!(response.status(), StatusCode::OK);
        ResponseStream { response, id, text: String::new(), last_event: None, empty_events: 0 }
    }

    /// Opens the stream for messages outside of requests.
    #[track_caller]
    pub fn listen(&self) -> ResponseStream {
        let request = self.with_headers(self.http.get(&self.address));
        let response = wait("the stream", async { request.send().await.unwrap() });
        assert_eq!(response.status(), StatusCode::OK);
        ResponseStream { response, id: 0, text: String::new(), last_event: None, empty_events: 0 }
    }
}

/// A complete HTTP response.
#[derive(Debug)]
pub struct HttpResponse {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl ResponseStream {
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// The value of a header of the response.
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        self.response.headers()[name].to_str().unwrap()
    }

    pub fn id(&self) -> u32 {
        self.id
    }

    /// The next message; `None` at the end of the stream.
    #[track_caller]
    pub fn next(&mut self) -> Option<Value> {
        if self.response.headers()["content-type"] == "application/json" {
            let text = wait("an answer", async {
                let mut bytes = Vec::new();
                while let Some(chunk) = self.response.chunk().await.unwrap() {
                    bytes.extend_from_slice(&chunk);
                }
                String::from_utf8(bytes).unwrap()
            });
            return (!text.is_empty()).then(|| serde_json::from_str(&text).unwrap());
        }
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| {
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(name))
                        .map(|value| value.trim().to_owned())
                };
                if let Some(id) = field("id:") {
                    self.last_event = Some(id);
                }
                if let Some(data) = field("data:").filter(|data| !data.is_empty()) {
                    return Some(serde_json::from_str(&data).unwrap());
                }
                self.empty_events += usize::from(!event.starts_with(':'));
            }
            let chunk = wait("an event", async { self.response.chunk().await });
            match chunk {
                Ok(Some(chunk)) => self.text.push_str(std::str::from_utf8(&chunk).unwrap()),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The next matching message.
    #[track_caller]
    pub fn until(&mut self, matches: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.next() {
                Some(message) if matches(&message) => return message,
                Some(_) => {}
                None => panic!("the stream ended before that: {}", self.text),
            }
        }
    }

    /// Waits for the answer itself.
    #[track_caller]
    pub fn end(&mut self) -> Value {
        let id = self.id;
        self.until(|message| message["id"] == id && message["method"].is_null())
    }
}
