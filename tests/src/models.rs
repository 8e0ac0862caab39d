//! Starts a scripted model behind the wire formats of real providers (`model-server`, which documents the script), and
//! reads its requests.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use agent::{Api, Generation, ModelSettings};
use serde_json::Value;

/// A server that runs a script until it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: String,
    folder: tempfile::TempDir,
    server: Child,
    /// The server ends when this is closed, even if the test is killed.
    _stdin: Option<ChildStdin>,
}

impl ModelServer {
    /// Starts `env!("CARGO_BIN_EXE_model-server")` with a script.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(program: &str, script: &Value) -> Self {
        Self::start_with(program, script, &[])
    }

    /// Like [`ModelServer::start`], with further arguments, such as `--key`.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    #[allow(clippy::unwrap_used, reason = "a test's own server")]
    pub fn start_with(program: &str, script: &Value, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script.json");
        std::fs::write(&file, script.to_string()).unwrap();
        let mut command = Command::new(program);
        command.arg("--script").arg(file).arg("--record").arg(folder.path().join("record.jsonl"));
        let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let stdin = server.stdin.take();
        let mut address = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("http://"), "the server did not start");
        Self { address: address.trim().to_owned(), folder, server, _stdin: stdin }
    }

    /// The address of all APIs, for the `base_url` of models.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.address)
    }

    /// Settings for its model `model`, with the key `secret-key` and short time limits.
    #[must_use]
    pub fn settings(&self, api: Api, id: &str) -> ModelSettings {
        ModelSettings {
            name: "model".to_owned(),
            id: id.to_owned(),
            api,
            key: Some("secret-key".to_owned()),
            base_url: Some(self.base_url()),
            context_window: None,
            max_output: None,
            generation: Generation::default(),
            thinking: None,
            timeout: Duration::from_secs(60),
            retries: 2,
        }
    }

    /// The path of the record.
    #[must_use]
    pub fn record(&self) -> PathBuf {
        self.folder.path().join("record.jsonl")
    }

    /// The requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line.get("path").is_some()).collect()
    }

    /// The number of clients that disconnected before their answer was complete.
    #[must_use]
    pub fn gone(&self) -> usize {
        self.lines().iter().filter(|line| line.get("gone").is_some()).count()
    }

    fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.record()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
