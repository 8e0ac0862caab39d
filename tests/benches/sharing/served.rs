//! A running `toolsmith serve --http` with two subjects, and their clients.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use end_to_end::reductions::OUTCOME;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The revision of MCP in which each request stands alone.
const REVISION: &str = "2026-07-28";

const SUBJECTS: [&str; 2] = ["ann", "bob"];

/// The entries of the tokens follow.
const CONFIG: &str = "\
mcpServers: { demo: { command: toolsmith, args: [demo-server] } }
codeMode: { sandbox: { wallClock: 600, cpu: 600 } }
serve:
  tokens:
";

/// The process, its folder and the tokens of its subjects.
pub(crate) struct Served {
    child: Child,
    folder: TempDir,
    tokens: Vec<(&'static str, String)>,
}

/// A subject with its token.
pub(crate) struct Subject {
    http: reqwest::Client,
    runtime: Runtime,
    address: String,
    token: String,
}

impl Served {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = CONFIG.to_owned();
        let mut tokens = Vec::new();
        for name in SUBJECTS {
            let output = command(folder.path()).args(["token", "new", name]).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let (token, entry) = (text.lines().next().unwrap(), text.lines().last().unwrap().trim_start());
            config.push_str(&format!("    {entry}\n"));
            tokens.push((name, token.to_owned()));
        }
        let file = folder.path().join("config.yaml");
        fs::write(&file, config).unwrap();
        let errors = File::create(folder.path().join("errors")).unwrap();
        let mut serve = command(folder.path());
        serve.args(["serve", "--http", "127.0.0.1:0", "--config"]).arg(file);
        serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        Served { child: serve.spawn().unwrap(), folder, tokens }
    }

    /// The address that it prints.
    fn address(&mut self) -> String {
        loop {
            let ended = self.child.try_wait().unwrap();
            let text = fs::read_to_string(self.folder.path().join("errors")).unwrap();
            if let Some((_, rest)) = text.split_once("serving MCP at ")
                && let Some((address, _)) = rest.split_once('\n')
            {
                return address.to_owned();
            }
            assert!(ended.is_none(), "serve has ended: {text}");
            sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn subject(&mut self, name: &str) -> Subject {
        // Fails if it is installed already.
        let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let token = self.tokens.iter().find(|(known, _)| *known == name).unwrap().1.clone();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Subject { http, runtime: runtime.unwrap(), address: self.address(), token }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Subject {
    /// Runs a snippet that must succeed.
    pub(crate) fn run(&self, code: &str) {
        let request = self.request(code);
        let answer = self.runtime.block_on(async { request.send().await.unwrap().text().await.unwrap() });
        let last = answer.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&answer);
        let answer: Value = serde_json::from_str(last).unwrap();
        assert_eq!(answer["result"]["_meta"][OUTCOME]["status"], "ok", "{answer:#}");
    }

    /// Runs a snippet that does not end.
    pub(crate) fn begin(&self, code: &str) {
        let request = self.request(code);
        self.runtime.spawn(async { request.send().await?.text().await });
    }

    fn request(&self, code: &str) -> reqwest::RequestBuilder {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let call = json!({ "name": "execute_code", "arguments": { "code": code }, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        let request = self.http.post(&self.address).bearer_auth(&self.token).body(body.to_string());
        request
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", "tools/call")
            .header("mcp-name", "execute_code")
    }
}

/// The binary under test, with a cache under target/, so that the crates for snippets are compiled once.
fn command(folder: &Path) -> Command {
    let mut command = Command::new(binary());
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-cache");
    command.env("TOOLSMITH_CACHE_DIR", cache).env("XDG_CONFIG_HOME", folder).env("XDG_STATE_HOME", folder);
    command.current_dir(folder);
    command
}

fn binary() -> PathBuf {
    let beside = || {
        let itself = std::env::current_exe().unwrap();
        itself.parent().and_then(Path::parent).unwrap().join("toolsmith")
    };
    let binary = std::env::var_os("TOOLSMITH_BINARY").map_or_else(beside, PathBuf::from);
    assert!(binary.is_file(), "{} is missing: build it first, in the same profile", binary.display());
    binary
}
