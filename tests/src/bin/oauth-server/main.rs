//! `oauth-server MODE`: an MCP server that requires tokens, and an authorization server that issues them, for tests of
//! logins.
//!
//! Its first line on standard output is JSON: `address` of the MCP server, `authority` of the authorization server, and
//! `elsewhere`, a third origin that must never see a token, and `keys`, the private keys of the client `machine`. Each
//! further line is a request that one of them received.
//! Lines on standard input are commands (`expire`, `revoke`, `hold`, `answer`), each answered by a line; it ends when
//! its input ends. From `hold` to `answer`, requests for tokens are processed and their responses held back.
//!
//! The authorization server is also an issuer of access tokens for other servers, with its own commands: `issue JSON`
//! prints a line with a `token` (`issuer.rs` has the form), `rotate` replaces its keys, and from `down` to `up` its
//! metadata and its keys can't be read.
//!
//! The mode `sound` checks everything that a client must do: PKCE with S256, the resource, the redirect, the client,
//! single use of codes and refresh tokens. Each other mode has one fault, or several, joined by `+`.

mod authority;
mod grants;
mod issuer;
mod machine;
mod resource;

use std::{
    io::{self, Write as _},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{HeaderMap, Method, Response, StatusCode, Uri, header},
};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    sync::watch,
};
use url::form_urlencoded;

use grants::Grants;
use issuer::Issuer;
use machine::MachineKeys;

/// The state shared by all three servers.
pub(crate) struct ServerState {
    pub(crate) mode: String,
    pub(crate) address: String,
    pub(crate) authority: String,
    pub(crate) elsewhere: String,
    grants: Mutex<Grants>,
    issuer: Mutex<Issuer>,
    pub(crate) machine: MachineKeys,
    /// The number of sessions with the MCP server.
    sessions: AtomicU64,
    /// Whether token responses are held back.
    holds: watch::Sender<bool>,
}

impl ServerState {
    pub(crate) fn grants(&self) -> MutexGuard<'_, Grants> {
        self.grants.lock()
    }

    pub(crate) fn issuer(&self) -> MutexGuard<'_, Issuer> {
        self.issuer.lock()
    }

    /// The resource that tokens are for.
    pub(crate) fn resource(&self) -> String {
        format!("{}/mcp", self.address)
    }

    /// The id of the request's session, which `initialize` creates.
    pub(crate) fn session(&self, request: &ParsedRequest) -> String {
        match request.header("mcp-session-id") {
            Some(id) => id.to_owned(),
            None => format!("session-{}", self.sessions.fetch_add(1, Ordering::Relaxed)),
        }
    }

    pub(crate) fn is(&self, mode: &str) -> bool {
        self.mode.split('+').any(|fault| fault == mode)
    }
}

/// A parsed request.
pub(crate) struct ParsedRequest {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// The query, or the form in the body.
    pub(crate) fields: Map<String, Value>,
    /// The JSON in the body.
    pub(crate) json: Value,
}

impl ParsedRequest {
    fn new(method: Method, uri: &Uri, headers: HeaderMap, body: &str) -> Self {
        let text = uri.query().unwrap_or(body);
        let pairs = form_urlencoded::parse(text.as_bytes());
        let fields = pairs.map(|(name, value)| (name.into_owned(), json!(value))).collect();
        let json = serde_json::from_str(body).unwrap_or_default();
        Self { method, path: uri.path().to_owned(), headers, fields, json }
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oauth-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> io::Result<()> {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let mut listeners = Vec::new();
    for _ in 0..3 {
        listeners.push(TcpListener::bind("127.0.0.1:0").await?);
    }
    let addresses = listeners.iter().map(|listener| Ok(format!("http://{}", listener.local_addr()?)));
    let addresses = addresses.collect::<io::Result<Vec<_>>>()?;
    let [address, authority, elsewhere] = [&addresses[0], &addresses[1], &addresses[2]].map(String::clone);
    let machine = MachineKeys::new().map_err(unspecified)?;
    print(&json!({
        "address": address, "authority": authority, "elsewhere": elsewhere, "keys": machine.private(),
    }));
    let state = Arc::new(ServerState {
        mode,
        address,
        authority,
        elsewhere,
        grants: Mutex::default(),
        machine,
        issuer: Mutex::new(Issuer::new().map_err(unspecified)?),
        sessions: AtomicU64::new(0),
        holds: watch::Sender::default(),
    });
    for (listener, name) in listeners.into_iter().zip(["resource", "authority", "elsewhere"]) {
        let application = Router::new().fallback(answer).with_state((state.clone(), name));
        tokio::spawn(async move { axum::serve(listener, application).await });
    }
    let mut commands = BufReader::new(tokio::io::stdin()).lines();
    while let Some(command) = commands.next_line().await? {
        match command.as_str() {
            "expire" => state.grants().expire(),
            "revoke" => state.grants().revoke(),
            "hold" => drop(state.holds.send_replace(true)),
            "answer" => drop(state.holds.send_replace(false)),
            "rotate" => state.issuer().rotate().map_err(unspecified)?,
            "down" => state.issuer().is_down = true,
            "up" => state.issuer().is_down = false,
            // Everything recorded before precedes the answer.
            "record" => {}
            issue if issue.starts_with("issue ") => {
                let wanted = serde_json::from_str(issue.trim_start_matches("issue "))?;
                let token = state.issuer().token(&wanted, &state.authority).map_err(unspecified)?;
                print(&json!({ "token": token }));
            }
            other => eprintln!("oauth-server: no command {other}"),
        }
        print(&json!({ "done": command }));
    }
    Ok(())
}

async fn answer(
    State((state, name)): State<(Arc<ServerState>, &'static str)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> Response<Body> {
    let request = ParsedRequest::new(method, &uri, headers, &body);
    print(&json!({
        "at": name,
        "method": request.method.as_str(),
        "path": request.path,
        "authorization": request.header("authorization"),
        "session": request.header("mcp-session-id"),
        "fields": request.fields,
        "json": request.json,
    }));
    match name {
        "resource" => resource::answer(&state, &request),
        "authority" => {
            let answer = authority::answer(&state, &request);
            if request.path == "/token" {
                // The state outlives its requests.
                let _ = state.holds.subscribe().wait_for(|holds| !holds).await;
            }
            answer
        }
        _ if state.is("metadata-elsewhere") && request.path == resource::METADATA => {
            reply(200, &resource::metadata(&state))
        }
        _ => text(404, "nothing here"),
    }
}

/// The failure of cryptography, which has no reason.
fn unspecified(_: ring::error::Unspecified) -> io::Error {
    io::Error::other("a key can't be made or used")
}

/// Prints one line and flushes it.
fn print(line: &Value) {
    let mut output = io::stdout().lock();
    // The test may have ended.
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

/// A JSON response.
pub(crate) fn reply(status: u16, body: &Value) -> Response<Body> {
    built(status, &[(header::CONTENT_TYPE.as_str(), "application/json")], body.to_string())
}

/// A text response.
pub(crate) fn text(status: u16, body: &str) -> Response<Body> {
    built(status, &[(header::CONTENT_TYPE.as_str(), "text/plain")], body.to_owned())
}

/// A response with these headers.
pub(crate) fn built(status: u16, headers: &[(&str, &str)], body: String) -> Response<Body> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Body::from(body)).unwrap_or_else(|error| {
        eprintln!("oauth-server: {error}");
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}
