//! `toolsmith serve --http` for several users: their tokens, what they may call, and what they never share.

mod exchange;
mod floods;
mod isolation;
mod limits;
mod scopes;
mod shares;
mod static_tokens;
mod wrong_tokens;

use end_to_end::services::Service;
use end_to_end::serving::{Client, Serve, Server};
use serde_json::{Value, json};

/// The address that the server under test has for its clients; the issuer's tokens are for it.
const RESOURCE: &str = "https://tools.example.com/mcp";

/// A server, and the issuer of its tokens.
pub(crate) struct Team {
    issuer: Service,
    server: Server,
}

impl Team {
    /// With further keys of `serve.auth` and of `serve`, and further lines of the configuration.
    pub(crate) fn new(auth: &str, serve: &str, more: &str) -> Self {
        let issuer = Service::guarded("sound");
        let server = Serve::http(&config(&issuer, auth, serve, more)).start();
        Team { issuer, server }
    }

    fn token(&self, wanted: &Value) -> String {
        self.issuer.token(wanted)
    }

    /// A client of a subject, with these scopes.
    pub(crate) fn client(&self, subject: &str, scopes: &str) -> Client {
        self.with(&self.token(&json!({ "claims": { "sub": subject, "scope": scopes } })))
    }

    /// A client with this token.
    fn with(&self, token: &str) -> Client {
        bearer(&self.server, token)
    }

    /// Counts the times that the issuer's keys were read.
    fn readings(&self) -> usize {
        self.issuer.lines().iter().filter(|line| line.contains("\"/keys\"")).count()
    }
}

/// A client with this token.
fn bearer(server: &Server, token: &str) -> Client {
    server.client().header("authorization", &format!("Bearer {token}"))
}

/// A configuration for an issuer, with a listener for metrics.
fn config(issuer: &Service, auth: &str, serve: &str, more: &str) -> String {
    let address = issuer.issuer();
    format!(
        "{more}serve:\n  metrics: {{ address: '127.0.0.1:0' }}\n  auth: {{ issuer: {address:?}, resource: {RESOURCE:?}{} }}\n{serve}",
        if auth.is_empty() { String::new() } else { format!(", {auth}") }
    )
}

/// The challenge in the refusal of a request, and its status.
#[track_caller]
fn refusal(client: &Client) -> (u16, String) {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let answer = client.post(message);
    let challenge = answer.headers.get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
    (answer.status.as_u16(), challenge.unwrap_or_default())
}

/// Whether a token gives access.
#[track_caller]
fn accepted(client: &Client) -> bool {
    let found = client.clone().stateless().ask("server/discover", &json!({}));
    found["result"]["supportedVersions"].is_array()
}
