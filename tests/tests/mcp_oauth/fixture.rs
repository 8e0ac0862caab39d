//! Servers that require tokens, a scripted browser, and a record of requests with their tokens.

use std::{
    io::{BufRead, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use end_to_end::browser;
use end_to_end::checks::text_of;
pub(crate) use end_to_end::checks::{assert_says, watched};
use mcp::{Challenge, Error, ErrorKind, OAuth, Remote, ServerConfig, Session, Transport};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Polling interval of the record.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A server in one of its modes, and its token file.
pub(crate) struct Fixture {
    pub(crate) config: ServerConfig,
    folder: TempDir,
    /// The address of a third origin.
    elsewhere: String,
    seen: Arc<Mutex<Vec<Value>>>,
    server: Child,
    commands: Mutex<ChildStdin>,
}

impl Fixture {
    pub(crate) fn new(mode: &str) -> Self {
        Self::with(mode, OAuth::default())
    }

    /// With these settings and a token file.
    pub(crate) fn with(mode: &str, settings: OAuth) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oauth-server"));
        let mut server = command.arg(mode).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let commands = server.stdin.take().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let start: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let oauth = OAuth { store: Some(folder.path().join("tokens/server.json")), ..settings };
        let remote = Remote {
            url: format!("{}/mcp", start["address"].as_str().unwrap()),
            oauth: Some(oauth),
            ..Remote::default()
        };
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = seen.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap();
                record.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        let config = ServerConfig::new("guarded", Transport::Http(remote));
        let elsewhere = start["elsewhere"].as_str().unwrap().to_owned();
        Self { config, folder, elsewhere, seen, server, commands: Mutex::new(commands) }
    }

    /// The address of an origin that must never see a token.
    pub(crate) fn elsewhere(&self) -> String {
        self.elsewhere.clone()
    }

    /// The token file.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("tokens/server.json")
    }

    pub(crate) async fn connect(&self) -> Result<Session, Error> {
        watched(Session::connect(&self.config)).await
    }

    /// The server's error for a client without a valid token.
    pub(crate) async fn challenge(&self) -> Challenge {
        let error = self.connect().await.unwrap_err();
        challenge_of(error)
    }

    /// Logs in with the scripted browser.
    pub(crate) async fn login(&self, challenge: &Challenge) -> Result<(), Error> {
        let open = |address: String| async move { drop(browser::visit(&address).await) };
        watched(mcp::login(&self.config, Some(challenge), open)).await
    }

    /// Logs in and connects.
    pub(crate) async fn logged_in(&self) -> Session {
        let challenge = self.challenge().await;
        self.login(&challenge).await.unwrap();
        self.connect().await.unwrap()
    }

    /// Sends the server a command and waits until it is done.
    pub(crate) async fn command(&self, command: &str) {
        let before = self.done(command);
        self.order(command);
        watched(async {
            while self.done(command) == before {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        })
        .await;
    }

    /// The part of the server's record received so far.
    fn arrived(&self) -> Vec<Value> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of times the server has completed a command.
    fn done(&self, command: &str) -> usize {
        self.arrived().iter().filter(|line| line["done"] == command).count()
    }

    /// The complete record: the server answers a command after everything recorded before it.
    fn lines(&self) -> Vec<Value> {
        let before = self.done("record");
        self.order("record");
        let start = Instant::now();
        while self.done("record") == before {
            assert!(start.elapsed() < Duration::from_secs(30), "the server answers no command");
            std::thread::sleep(POLL_INTERVAL);
        }
        self.arrived()
    }

    fn order(&self, command: &str) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(commands, "{command}").unwrap();
    }

    /// The requests that one of the servers received.
    pub(crate) fn seen_at(&self, server: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["at"] == server).collect()
    }

    /// The forms that were sent to the token endpoint with this grant.
    pub(crate) fn grants(&self, grant: &str) -> Vec<Value> {
        let requests = self.seen_at("authority").into_iter().filter(|line| line["path"] == "/token");
        requests.map(|line| line["fields"].clone()).filter(|form| form["grant_type"] == grant).collect()
    }

    /// Checks that no secret has reached a server that it was not meant for.
    pub(crate) fn assert_tokens_stayed_home(&self) {
        for request in self.seen_at("elsewhere") {
            let text = request.to_string();
            for secret in ["access-", "refresh-", "code-", "secret-", "Bearer", "Basic", "code_verifier"] {
                assert!(!text.contains(secret), "{secret} has reached another origin: {text}");
            }
        }
        for request in self.seen_at("authority") {
            assert!(!request.to_string().contains("access-"), "the authority was sent a token: {request}");
        }
        for request in self.seen_at("resource") {
            assert!(
                !request.to_string().contains("refresh-"),
                "the server was sent a refresh token: {request}"
            );
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The challenge of an error, which must request a login.
#[track_caller]
pub(crate) fn challenge_of(error: Error) -> Challenge {
    match *error.kind {
        ErrorKind::Unauthorized { challenge, .. } => challenge,
        kind => panic!("expected a login request: {kind}"),
    }
}

/// Calls a tool that returns its own name.
pub(crate) async fn call(session: &Session, tool: &str) -> Result<String, Error> {
    text_of(session, tool, &json!({})).await
}
