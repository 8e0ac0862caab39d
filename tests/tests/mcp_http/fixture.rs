//! An HTTP fault server to connect to, with a record of its requests.

use std::{process::Command, time::Duration};

use end_to_end::checks::text_of;
pub(crate) use end_to_end::checks::{assert_says, watched};
use end_to_end::recording_server::RecordingServer;
use mcp::{Error, Remote, ServerConfig, Session, Transport};
use serde_json::{Value, json};

/// Long enough for a correct answer on a machine with ten times the work that it can do, short enough to wait for in a
/// test.
pub(crate) const SHORT: Duration = Duration::from_secs(3);

/// The same for a connection, which takes several requests. The discovery gets a quarter of it.
pub(crate) const SHORT_CONNECT: Duration = Duration::from_secs(10);

/// A header that must not reach another origin.
pub(crate) const SECRET: (&str, &str) = ("X-Secret", "do-not-tell");

/// A server in one of its modes.
pub(crate) struct Fixture {
    pub(crate) config: ServerConfig,
    pub(crate) elsewhere: String,
    server: RecordingServer,
}

impl Fixture {
    /// A streamable HTTP server with a fault in `phase`, or in a mode without phases.
    pub(crate) fn new(mode: &str, phase: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_http-fault-server"));
        let (server, start) = RecordingServer::start(command.args([mode, phase])).unwrap();
        let address = start["address"].as_str().unwrap();
        let remote = Remote {
            url: format!("{address}/mcp"),
            headers: [(SECRET.0.to_owned(), SECRET.1.to_owned())].into(),
            ..Remote::default()
        };
        let transport =
            if mode.starts_with("sse-") { Transport::Sse(remote) } else { Transport::Http(remote) };
        Self {
            config: ServerConfig::new("faulty", transport),
            elsewhere: start["elsewhere"].as_str().unwrap().to_owned(),
            server,
        }
    }

    /// With an address whose transport is not named, and that suggests streamable HTTP or events.
    pub(crate) fn assumed(mut self, suggests_events: bool) -> Self {
        let (Transport::Http(remote) | Transport::Sse(remote)) = self.config.transport else {
            panic!("it has no address")
        };
        let remote = Remote { is_assumed: true, ..remote };
        self.config.transport =
            if suggests_events { Transport::Sse(remote) } else { Transport::Http(remote) };
        self
    }

    /// With short time limits, for servers that exceed them.
    pub(crate) fn impatient(mut self) -> Self {
        self.config.request_timeout = SHORT;
        self.config.connect_timeout = SHORT_CONNECT;
        self
    }

    pub(crate) async fn connect(&self) -> Session {
        self.try_connect().await.unwrap()
    }

    pub(crate) async fn try_connect(&self) -> Result<Session, Error> {
        watched(Session::connect(&self.config)).await
    }

    /// The first error of connecting, listing and calling. Also checks that everything ends in time and the session can
    /// be closed.
    pub(crate) async fn error(&self) -> Error {
        let session = match self.try_connect().await {
            Ok(session) => session,
            Err(error) => return error,
        };
        let listed = watched(session.list_tools()).await;
        let error = match listed {
            Ok(_) => call(&session, "caf").await.unwrap_err(),
            Err(error) => error,
        };
        watched(session.close()).await;
        error
    }

    /// The requests received so far.
    pub(crate) async fn seen(&self) -> Vec<Value> {
        self.server.requests().await
    }

    /// The requests with this HTTP method or JSON-RPC method.
    pub(crate) async fn seen_of(&self, method: &str) -> Vec<Value> {
        self.seen().await.into_iter().filter(|request| is_of(request, method)).collect()
    }

    /// Whether any request has reached the other origin.
    pub(crate) async fn reached_elsewhere(&self) -> bool {
        self.seen().await.iter().any(|request| request["elsewhere"] == true)
    }

    /// Waits until a request with this method was received.
    pub(crate) async fn until_seen(&self, method: &str) {
        self.server.until(method, |lines| lines.iter().any(|line| is_of(line, method))).await;
    }
}

/// Whether a request has this HTTP method or JSON-RPC method.
fn is_of(request: &Value, method: &str) -> bool {
    request["method"] == method || request["message"]["method"] == method
}

/// A call of `echo`.
pub(crate) async fn call(session: &Session, message: &str) -> Result<String, Error> {
    text_of(session, "echo", &json!({ "message": message })).await
}
