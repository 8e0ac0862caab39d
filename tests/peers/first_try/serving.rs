//! Runs `toolsmith serve` in front of the servers of the tasks, with a hand-written client. No client library changes
//! the answers, so they are what a model would receive.

use std::{collections::BTreeMap, fs, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use super::{private, site::HOST, tasks::RunResult, workspace::ROOT};
use crate::{
    product::{Checked, Product},
    servers::{EVERYTHING, Installed},
};

/// Time limit for a request; the first list waits for all servers.
const WATCHDOG: Duration = Duration::from_secs(180);
/// Time limit for the process to exit after its input ends.
const END: Duration = Duration::from_secs(20);
/// Time in seconds that the first list waits for slow servers (`serve.listWait`).
const LIST_WAIT: u32 = 120;

/// A running `toolsmith serve`, and its client.
pub(crate) struct Serving {
    process: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
    /// The listed tools.
    pub(super) tools: Value,
    _folder: TempDir,
}

/// The configuration entries of all servers. Their data is in the workspace.
pub(super) fn entries(installed: &Installed) -> Value {
    let node = |package: &str, arguments: &[&str]| {
        let mut args = vec![installed.script(package).to_string_lossy().into_owned()];
        args.extend(arguments.iter().map(|&argument| argument.to_owned()));
        json!({ "command": installed.node(), "args": args })
    };
    let package = |name: &str| format!("@modelcontextprotocol/server-{name}");
    let mut memory = node(&package("memory"), &[]);
    memory["env"] = json!({ "MEMORY_FILE_PATH": format!("{ROOT}/memory/memory.jsonl") });
    let mut thinking = node(&package("sequential-thinking"), &[]);
    thinking["env"] = json!({ "DISABLE_THOUGHT_LOGGING": "true" });
    let python = |program: &str, args: Value| json!({ "command": installed.python(program), "args": args });
    // If it finds Node, it installs npm packages to simplify a page.
    let mut fetch = python("mcp-server-fetch", json!(["--allow-private-ips"]));
    fetch["env"] = json!({ "PATH": "/nonexistent", "NO_PROXY": HOST });
    let mut servers = json!({
        "everything": node(EVERYTHING, &["stdio"]),
        "fetch": fetch,
        "filesystem": node(&package("filesystem"), &[&format!("{ROOT}/shop")]),
        "git": python("mcp-server-git", json!(["--repository", format!("{ROOT}/repository")])),
        "memory": memory,
        "thinking": thinking,
        "time": python("mcp-server-time", json!(["--local-timezone", "Etc/UTC"])),
    });
    if let Some(servers) = servers.as_object_mut() {
        servers.extend(private::entries(installed));
        servers.values_mut().for_each(|server| server["trust"] = json!(true));
    }
    servers
}

impl Serving {
    /// Starts the server, performs the handshake and lists the tools. The workspace must exist.
    pub(super) async fn start(installed: &Installed, product: &Product) -> Checked<Self> {
        Self::with(product, entries(installed)).await
    }

    /// Like [`Serving::start`], with these server entries.
    pub(super) async fn with(product: &Product, servers: Value) -> Checked<Self> {
        let config = json!({ "mcpServers": servers, "serve": { "listWait": LIST_WAIT } });
        Self::begin(product, &config.to_string(), Some(private::OBSERVED)).await
    }

    /// Like [`Serving::start`], with a complete configuration and no lock file.
    pub(crate) async fn of(product: &Product, config: &str) -> Checked<Self> {
        Self::begin(product, config, None).await
    }

    async fn begin(product: &Product, config: &str, lock: Option<&str>) -> Checked<Self> {
        let failed = |error: std::io::Error| format!("toolsmith serve: {error}");
        let folder = tempfile::tempdir().map_err(failed)?;
        let file = folder.path().join("served.yaml");
        fs::write(&file, config).map_err(failed)?;
        if let Some(lock) = lock {
            fs::write(folder.path().join("toolsmith.lock"), lock).map_err(failed)?;
        }
        let mut command = Command::new(product.binary());
        command.arg("serve").arg("--config").arg(file).current_dir(folder.path()).kill_on_drop(true);
        command.env("TOOLSMITH_CACHE_DIR", product.cache()).env("XDG_CONFIG_HOME", folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(failed)?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("toolsmith serve has no pipes".to_owned());
        };
        let lines = BufReader::new(stdout).lines();
        let mut serving = Self { process, stdin, lines, next: 0, tools: Value::Null, _folder: folder };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "first-try", "version": "1" },
        });
        serving.ask("initialize", hello).await?;
        serving.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        serving.tools = serving.ask("tools/list", json!({})).await?.answer["tools"].take();
        Ok(serving)
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Checked<RunResult> {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Runs a snippet.
    pub(super) async fn execute(
        &mut self,
        code: &str,
        args: &BTreeMap<String, String>,
    ) -> Checked<RunResult> {
        let mut arguments = json!({ "code": code });
        if !args.is_empty() {
            arguments["args"] = json!(args);
        }
        self.call("execute_code", &arguments).await
    }

    /// Closes the server's input, as clients do, and waits until the process exits.
    pub(crate) async fn end(self) -> Checked<()> {
        let Self { mut process, stdin, lines, .. } = self;
        drop((stdin, lines));
        let ended = timeout(END, process.wait()).await;
        ended.map(drop).map_err(|_| "toolsmith serve has not ended with its input".to_owned())
    }

    async fn send(&mut self, message: &Value) -> Checked<()> {
        let written = self.stdin.write_all(format!("{message}\n").as_bytes()).await;
        written.map_err(|error| format!("toolsmith serve does not read: {error}"))
    }

    async fn ask(&mut self, method: &str, mut parameters: Value) -> Checked<RunResult> {
        self.next += 1;
        let id = self.next;
        parameters["_meta"] = json!({ "progressToken": id });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters })).await?;
        let answer = timeout(WATCHDOG, self.answer(id)).await;
        answer.map_err(|_| format!("no answer to {method} after {WATCHDOG:?}"))?
    }

    async fn answer(&mut self, id: u64) -> Checked<RunResult> {
        let mut progress = Vec::new();
        loop {
            let line = self.lines.next_line().await.map_err(|error| error.to_string())?;
            let line = line.ok_or("toolsmith serve has ended before it answered")?;
            let mut message: Value =
                serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
            if message["id"] == id && message["method"].is_null() {
                return match message["result"].take() {
                    Value::Null => Err(format!("an error in place of an answer: {}", message["error"])),
                    answer => Ok(RunResult { answer, progress }),
                };
            }
            let words = message["params"]["message"].as_str();
            if message["method"] == "notifications/progress"
                && let Some(words) = words
            {
                progress.push(words.to_owned());
            }
        }
    }
}
