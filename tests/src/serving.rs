//! Runs `toolsmith serve` and talks to it with hand-written messages: over pipes here, over HTTP in `serving::client`.

#![allow(
    clippy::new_without_default,
    clippy::should_implement_trait,
    clippy::unwrap_used,
    missing_docs,
    reason = "only tests use it"
)]

mod client;
mod gate;
mod tree;

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use crate::reductions::OUTCOME;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{
    FAULT_SERVER, WATCHDOG, assert_nothing_left, binary, descendants, ends_within, forget, spawn, wait_until,
};

use client::client_info;
pub use client::{Client, HANDSHAKE, ResponseStream, STATELESS};
pub use gate::Gate;
pub use tree::Tree;

/// The demo server, and a server `rec` that records calls and never answers `wait`.
pub fn recording(record: &std::path::Path) -> String {
    format!(
        "mcpServers:\n  rec: {{ command: {FAULT_SERVER:?}, args: [records-cancelled, {record:?}], trust: true }}\n  \
         demo: {{ command: toolsmith, args: [demo-server], trust: true }}\n"
    )
}

/// Only the demo server.
pub const DEMO: &str = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], trust: true }\n";

/// A command that is not started yet.
pub struct Serve {
    command: Command,
    folder: TempDir,
}

/// A running server.
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: mpsc::Receiver<Value>,
    /// Locked while standard output must not be read.
    reading: Arc<Mutex<()>>,
    /// Messages received while waiting for others.
    before: VecDeque<Value>,
    stderr: Arc<Mutex<String>>,
    /// Reads standard error to its end.
    stderr_reader: JoinHandle<()>,
    folder: TempDir,
}

impl Serve {
    /// With a configuration in its own file, over pipes.
    pub fn new(config: &str) -> Self {
        Serve::by(&["serve"], config)
    }

    /// The subagent of a configuration, over pipes.
    pub fn subagent(config: &str) -> Self {
        Serve::by(&["mcp", "serve"], config).variable("SCRIPTED_KEY", "secret-key")
    }

    /// With the user's own configuration and that of an untrusted project, over pipes.
    pub fn layers(user: &str, project: &str) -> Self {
        let serve = Serve::in_folder(&["serve"]).file("toolsmith.yaml", project);
        fs::create_dir_all(serve.folder.path().join("home/toolsmith")).unwrap();
        serve.file("home/toolsmith/config.yaml", user)
    }

    fn by(words: &[&str], config: &str) -> Self {
        Serve::in_folder(words).arguments(&["--config", "given.yaml"]).file("given.yaml", config)
    }

    /// Any command that serves, with a home and a working folder of its own.
    pub fn in_folder(words: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(binary());
        command
            .args(words)
            .env("TOOLSMITH_CACHE_DIR", crate::cache::shared())
            .env("XDG_CONFIG_HOME", folder.path().join("home"))
            .env("XDG_STATE_HOME", folder.path().join("state"))
            .current_dir(folder.path());
        Serve { command, folder }
    }

    /// With a configuration in its own file, over HTTP.
    pub fn http(config: &str) -> Self {
        Serve::new(config).arguments(&["--http", "127.0.0.1:0"])
    }

    pub fn arguments(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts it through another command, which gets this one as its last arguments.
    pub fn by_command(mut self, words: &[&str]) -> Self {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(self.command.get_program()).args(self.command.get_args());
        command.envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.folder.path());
        self.command = command;
        self
    }

    /// Adds the user's own configuration.
    pub fn user_file(self, text: &str) -> Self {
        fs::create_dir_all(self.folder.path().join("home/toolsmith")).unwrap();
        self.file("home/toolsmith/config.yaml", text)
    }

    /// Adds a file to the working folder.
    pub fn file(self, name: &str, text: &str) -> Self {
        let file = self.folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        self
    }

    pub fn start(mut self) -> Server {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
        let piped = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawn(piped);
        let stderr = Arc::new(Mutex::new(String::new()));
        let (lines_so_far, lines) =
            (Arc::clone(&stderr), BufReader::new(child.stderr.take().unwrap()).lines());
        let stderr_reader = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut lines_so_far = lines_so_far.lock();
                lines_so_far.push_str(&line);
                lines_so_far.push('\n');
            }
        });
        let (sender, stdout) = mpsc::channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reading = Arc::new(Mutex::new(()));
        let turn = Arc::clone(&reading);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                drop(turn.lock());
                let raw = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"));
                let message = strict_json::value_with_numbers(raw).unwrap();
                let _ = sender.send(message);
            }
        });
        let stdin = child.stdin.take();
        Server {
            child,
            stdin,
            stdout,
            reading,
            before: VecDeque::new(),
            stderr,
            stderr_reader,
            folder: self.folder,
        }
    }
}

impl Server {
    /// Runs `work` while the server's output is not read.
    pub fn unread<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let reading = Arc::clone(&self.reading);
        let _held = reading.lock();
        work(self)
    }

    /// Its peak memory, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
    }

    pub fn stderr(&self) -> String {
        self.stderr.lock().clone()
    }

    /// Whether a descendant has this in its command line.
    pub fn has_started(&self, part: &str) -> bool {
        descendants(self.child.id()).iter().any(|command| command.contains(part))
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its current descendants.
    pub fn tree(&self) -> Tree {
        Tree::below(self.child.id())
    }

    /// Its open files, as the kernel names them.
    pub fn open_files(&self) -> Vec<String> {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().flatten();
        entries
            .filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
            .collect()
    }

    /// A file in its working folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces the configuration as editors do: writes a new file and renames it.
    pub fn configure(&self, text: &str) {
        fs::write(self.path("new.yaml"), text).unwrap();
        fs::rename(self.path("new.yaml"), self.path("given.yaml")).unwrap();
    }

    /// Its HTTP address.
    #[track_caller]
    pub fn address(&self) -> String {
        let line = "serving MCP at ";
        self.wait_until(line, || self.stderr().contains("/mcp\n"));
        let text = self.stderr();
        let address = text.split(line).nth(1).and_then(|rest| rest.lines().next());
        address.unwrap_or_else(|| panic!("no address: {text}")).to_owned()
    }

    #[track_caller]
    pub fn client(&self) -> Client {
        Client::new(&self.address())
    }

    #[track_caller]
    pub fn wait_for_log(&self, phrase: &str) {
        self.wait_until(phrase, || self.stderr().contains(phrase));
    }

    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: impl Fn() -> bool) {
        wait_until(what, WATCHDOG, condition, || self.stderr());
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end, and until none of its processes is left; returns the exit code, `None` after a signal.
    #[track_caller]
    pub fn end(&mut self) -> Option<i32> {
        assert!(ends_within(&self.child, WATCHDOG), "no end: {}", self.stderr());
        let status = self.child.wait().unwrap();
        forget(&self.child);
        assert_nothing_left();
        self.wait_until("the end of standard error", || self.stderr_reader.is_finished());
        status.code()
    }

    /// Sends a message over the pipe.
    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends any line over the pipe.
    pub fn send_line(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Closes its input.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Takes a matching message received while waiting for others.
    pub fn received(&mut self, matches: impl Fn(&Value) -> bool) -> Option<Value> {
        let at = self.before.iter().position(matches)?;
        self.before.remove(at)
    }

    /// Waits for a matching message; others are kept.
    #[track_caller]
    pub fn receive(&mut self, what: &str, matches: impl Fn(&Value) -> bool) -> Value {
        if let Some(message) = self.received(&matches) {
            return message;
        }
        loop {
            match self.stdout.recv_timeout(WATCHDOG) {
                Ok(message) if matches(&message) => return message,
                Ok(message) => self.before.push_back(message),
                Err(_) => panic!("timed out waiting for: {what}; {:#?} {}", self.before, self.stderr()),
            }
        }
    }

    /// Performs the handshake over the pipe.
    #[track_caller]
    pub fn shake_hands(&mut self) {
        self.shake_hands_with(&json!({}));
    }

    /// Performs the handshake of a client with these capabilities.
    #[track_caller]
    pub fn shake_hands_with(&mut self, capabilities: &Value) {
        let parameters = json!({
            "protocolVersion": HANDSHAKE, "capabilities": capabilities, "clientInfo": client_info()
        });
        self.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters }));
        self.receive("the handshake", |message| message["id"] == 0);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    /// Sends a request over the pipe and waits for its answer.
    #[track_caller]
    pub fn ask(&mut self, id: u32, method: &str, parameters: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        self.receive(method, |message| message["id"] == id && message["method"].is_null())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        forget(&self.child);
    }
}

/// The parameters of a call of `execute_code`.
pub fn execute(code: &str) -> Value {
    json!({ "name": "execute_code", "arguments": { "code": code } })
}

/// The next request of a client that was asked a question, with a yes as the answer.
#[track_caller]
pub fn answered(call: &Value, asked: &Value) -> Value {
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked:#}");
    let (name, _) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let mut next = call.clone();
    next["requestState"] = result["requestState"].clone();
    next["inputResponses"] = json!({ name: { "action": "accept", "content": { "answer": "once" } } });
    next
}

/// The outcome in an answer of `execute_code`, which models do not see.
pub fn outcome_of(answer: &Value) -> &Value {
    &answer["result"]["_meta"][OUTCOME]
}
