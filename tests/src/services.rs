//! HTTP servers that tests start next to `toolsmith`, and requests over plain sockets.

#![allow(clippy::unwrap_used, missing_docs, reason = "only tests use it")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::harness::{HTTP_FAULT_SERVER, OAUTH_SERVER, WATCHDOG, binary, forget, spawn, wait_until};

/// A server process, stopped on drop.
pub struct Service {
    child: Child,
    /// The server may end when its input ends.
    input: ChildStdin,
    /// The first line of its output.
    pub first: String,
    /// The other lines of its output.
    lines: Arc<Mutex<Vec<String>>>,
}

impl Service {
    /// Starts the server and waits for its first line, which contains its address.
    pub fn start(command: &mut Command) -> Self {
        let mut child = spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let input = child.stdin.take().unwrap();
        let mut written = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = written.next().unwrap().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&lines);
        std::thread::spawn(move || {
            for line in written.map_while(Result::ok) {
                record.lock().push(line);
            }
        });
        Service { child, input, first, lines }
    }

    /// The demo server; its first line is its address.
    pub fn demo() -> Self {
        Service::start(Command::new(binary()).args(["demo-server", "--http", "127.0.0.1:0"]))
    }

    /// The server that requires tokens, in one of its modes.
    pub fn guarded(mode: &str) -> Self {
        Service::start(Command::new(OAUTH_SERVER.path()).arg(mode))
    }

    /// The server that misbehaves, in one of its modes.
    pub fn fault(mode: &str) -> Self {
        Service::start(Command::new(HTTP_FAULT_SERVER.path()).arg(mode))
    }

    /// The address of the MCP server of [`Service::guarded`] and [`Service::fault`].
    pub fn mcp_address(&self) -> String {
        let first: Value = serde_json::from_str(&self.first).unwrap();
        format!("{}/mcp", first["address"].as_str().unwrap())
    }

    /// Sends a server that takes commands one of them, and waits until it is done.
    pub fn command(&self, command: &str) {
        let answer = serde_json::json!({ "done": command }).to_string();
        let answers = || self.lines().iter().filter(|line| **line == answer).count();
        let before = answers();
        writeln!(&self.input, "{command}").unwrap();
        let is_done = || answers() != before;
        wait_until(command, WATCHDOG, is_done, || "the server does not answer".to_owned());
    }

    /// The address of the issuer of [`Service::guarded`].
    pub fn issuer(&self) -> String {
        let first: Value = serde_json::from_str(&self.first).unwrap();
        first["authority"].as_str().unwrap().to_owned()
    }

    /// A token of the issuer of [`Service::guarded`].
    pub fn token(&self, wanted: &Value) -> String {
        self.command(&format!("issue {wanted}"));
        let issued = self.lines().into_iter().rev().find_map(|line| {
            let line: Value = serde_json::from_str(&line).ok()?;
            line["token"].as_str().map(str::to_owned)
        });
        issued.expect("the issuer printed a token")
    }

    /// The lines of its output after the first.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().clone()
    }

    /// Sends a signal and waits for the server's end; returns its exit status.
    pub fn ended_by(mut self, signal: Signal) -> std::process::ExitStatus {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        forget(&self.child);
    }
}

/// Host and port of an address.
pub fn authority(address: &str) -> &str {
    address.split("://").nth(1).unwrap().split('/').next().unwrap()
}

/// Sends a raw request; returns the status of the response.
pub fn status_of(authority: &str, request: &str) -> u16 {
    let mut stream = TcpStream::connect(authority).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    answer
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or_else(|| panic!("no HTTP: {answer}"))
}
