//! Runs the reference server over both HTTP transports, and checks that no session stays open.

use std::{net::TcpListener, process::Stdio, sync::Arc, time::Duration};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};

use crate::{
    product::{Checked, LOOK},
    servers::{EVERYTHING, Installed},
};

/// Time limit for the server to start listening.
const START: Duration = Duration::from_secs(30);
/// Time limit for the server to notice that a session ended.
const FAREWELL: Duration = Duration::from_secs(10);

/// A way to reach the reference server.
pub(crate) struct TransportCase {
    /// Its `type` in the configuration.
    pub(crate) transport: &'static str,
    /// Its name on the server's command line.
    mode: &'static str,
    path: &'static str,
    /// The server's log messages when a session starts and ends.
    started: &'static str,
    ended: &'static str,
}

/// Streamable HTTP, and HTTP with server-sent events.
pub(crate) const WAYS: [TransportCase; 2] = [
    TransportCase {
        transport: "http",
        mode: "streamableHttp",
        path: "/mcp",
        started: "Session initialized with ID",
        ended: "Received session termination request",
    },
    TransportCase {
        transport: "sse",
        mode: "sse",
        path: "/sse",
        started: "Client Connected:",
        ended: "Client Disconnected:",
    },
];

/// The reference server, listening.
pub(crate) struct Listening {
    way: &'static TransportCase,
    port: u16,
    log: Arc<Mutex<Vec<String>>>,
    _process: Child,
}

impl Listening {
    pub(crate) async fn start(installed: &Installed, way: &'static TransportCase) -> Checked<Self> {
        let failed = |error: std::io::Error| format!("{EVERYTHING} {}: {error}", way.mode);
        // It does not report its port, so choose one that was just free.
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).map_err(failed)?.port();
        let mut command = Command::new(installed.node());
        command
            .arg(installed.script(EVERYTHING))
            .arg(way.mode)
            .env("PORT", port.to_string())
            .kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(failed)?;
        let log = Arc::new(Mutex::new(Vec::new()));
        if let (Some(stdout), Some(stderr)) = (process.stdout.take(), process.stderr.take()) {
            keep(stdout, log.clone());
            keep(stderr, log.clone());
        }
        let listening = Self { way, port, log, _process: process };
        let reach = async {
            while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                tokio::time::sleep(LOOK).await;
            }
        };
        timeout(START, reach).await.map_err(|_| format!("does not listen:\n{}", listening.log_text()))?;
        Ok(listening)
    }

    /// The configuration entry for it.
    pub(crate) fn entry(&self) -> Value {
        json!({ "type": self.way.transport, "url": format!("http://127.0.0.1:{}{}", self.port, self.way.path) })
    }

    /// Waits until the client has ended every session that it started.
    pub(crate) async fn no_session_left(&self) -> Checked<()> {
        let watch = async {
            while self.count(self.way.started) != self.count(self.way.ended) {
                tokio::time::sleep(LOOK).await;
            }
        };
        let ended = timeout(FAREWELL, watch).await;
        match (ended, self.count(self.way.started)) {
            (Ok(()), 0) => Err(format!("no session was started:\n{}", self.log_text())),
            (Ok(()), _) => Ok(()),
            (Err(_), started) => Err(format!(
                "of {started} sessions {} were ended:\n{}",
                self.count(self.way.ended),
                self.log_text()
            )),
        }
    }

    fn count(&self, phrase: &str) -> usize {
        let log = self.log.lock();
        log.iter().filter(|line| line.contains(phrase)).count()
    }

    fn log_text(&self) -> String {
        self.log.lock().join("\n")
    }
}

fn keep(pipe: impl AsyncRead + Unpin + Send + 'static, log: Arc<Mutex<Vec<String>>>) {
    tokio::spawn(async move {
        let mut lines = BufReader::new(pipe).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            log.lock().push(line);
        }
    });
}
