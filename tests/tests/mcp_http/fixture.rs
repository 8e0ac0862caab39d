//! An HTTP fault server to connect to, with a record of its requests.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use end_to_end::checks::text_of;
pub(crate) use end_to_end::checks::{assert_says, watched};
use mcp::{Error, Remote, ServerConfig, Session, Transport};
use serde_json::{Value, json};

/// Long enough for a correct answer on a busy machine, short enough to wait for in a test.
pub(crate) const SHORT: Duration = Duration::from_secs(1);

/// Polling interval of the record.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A header that must not reach another origin.
pub(crate) const SECRET: (&str, &str) = ("X-Secret", "do-not-tell");

/// A server in one of its modes.
pub(crate) struct Fixture {
    pub(crate) config: ServerConfig,
    pub(crate) elsewhere: String,
    seen: Arc<Mutex<Vec<Value>>>,
    server: Child,
    /// The server ends when this is closed.
    _stdin: Option<ChildStdin>,
}

impl Fixture {
    /// A streamable HTTP server with a fault in `phase`, or in a mode without phases.
    pub(crate) fn new(mode: &str, phase: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_http-fault-server"));
        command.args([mode, phase]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let stdin = server.stdin.take();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let start: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let address = start["address"].as_str().unwrap();
        let remote = Remote {
            url: format!("{address}/mcp"),
            headers: [(SECRET.0.to_owned(), SECRET.1.to_owned())].into(),
            oauth: None,
        };
        let transport =
            if mode.starts_with("sse-") { Transport::Sse(remote) } else { Transport::Http(remote) };
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = seen.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let request = serde_json::from_str(&line).unwrap();
                record.lock().unwrap_or_else(PoisonError::into_inner).push(request);
            }
        });
        Self {
            config: ServerConfig::new("faulty", transport),
            elsewhere: start["elsewhere"].as_str().unwrap().to_owned(),
            seen,
            server,
            _stdin: stdin,
        }
    }

    /// With short time limits.
    pub(crate) fn impatient(mut self) -> Self {
        self.config.request_timeout = SHORT;
        self.config.connect_timeout = 2 * SHORT;
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
    pub(crate) fn seen(&self) -> Vec<Value> {
        // The server's output may still be in transit.
        let mut known = usize::MAX;
        loop {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if seen.len() == known {
                return seen;
            }
            known = seen.len();
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// The requests with this HTTP method or JSON-RPC method.
    pub(crate) fn seen_of(&self, method: &str) -> Vec<Value> {
        let of = |request: &Value| request["method"] == method || request["message"]["method"] == method;
        self.seen().into_iter().filter(of).collect()
    }

    /// Whether any request has reached the other origin.
    pub(crate) fn reached_elsewhere(&self) -> bool {
        self.seen().iter().any(|request| request["elsewhere"] == true)
    }

    /// Waits until this many requests with this method were received.
    pub(crate) async fn until_seen(&self, method: &str, count: usize) {
        watched(async {
            while self.seen_of(method).len() < count {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        })
        .await;
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A call of `echo`.
pub(crate) async fn call(session: &Session, message: &str) -> Result<String, Error> {
    text_of(session, "echo", &json!({ "message": message })).await
}
