//! Runs the real `toolsmith` as a user does, and checks that no server processes are left.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use serde_json::Value;
use tokio::{io::AsyncWriteExt, process::Command, time::timeout};

/// Time limit for a command on a warm cache.
const WATCHDOG: Duration = Duration::from_secs(60);
/// Time limit for the first command, which builds the crate layer.
const COLD_WATCHDOG: Duration = Duration::from_secs(600);
/// Time limit for a process to exit after the command that started it.
const LEFTOVERS: Duration = Duration::from_secs(10);
/// Polling interval.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// The result of a check, or a description of its failure.
pub(crate) type Checked<T> = Result<T, String>;

/// The binary and the folder of its cache.
pub(crate) struct Product {
    binary: PathBuf,
    cache: PathBuf,
}

impl Product {
    /// Finds the binary next to this program, which must have been built.
    pub(crate) fn find() -> Checked<Self> {
        let itself = std::env::current_exe().map_err(|error| error.to_string())?;
        let binary = itself.parent().and_then(Path::parent).unwrap_or(Path::new("")).join("toolsmith");
        if !binary.is_file() {
            return Err(format!("{} is missing: type `cargo build -p toolsmith-cli`", binary.display()));
        }
        // Earlier runs of the workspace's tests have warmed it.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("toolsmith-home/cache");
        Ok(Self { binary, cache })
    }

    /// The binary.
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// The folder of its cache.
    pub(crate) fn cache(&self) -> &Path {
        &self.cache
    }

    /// Builds the layer that snippets are compiled against, and checks it.
    pub(crate) async fn warm(&self) -> Checked<()> {
        let output = self.command(&["run", "--json", "-"], "6 * 7", None, COLD_WATCHDOG).await?;
        let outcome = outcome(&output)?;
        if outcome["result"] == 42 { Ok(()) } else { Err(format!("6 * 7 is {outcome}")) }
    }

    /// The product's report on the only server of a configuration.
    pub(crate) async fn info(&self, config: &Value, server: &str) -> Checked<Value> {
        let output = self.command(&["mcp", "info", server, "--json"], "", Some(config), WATCHDOG).await?;
        let info: Value = serde_json::from_slice(&output.stdout).map_err(|_| failure(&output))?;
        if info["state"] == "ready" { Ok(info) } else { Err(format!("not ready: {info}")) }
    }

    /// The sorted names of the tools available under a configuration.
    pub(crate) async fn tools(&self, config: &Value) -> Checked<Vec<String>> {
        let output = self.command(&["mcp", "list-tools", "--json"], "", Some(config), WATCHDOG).await?;
        let listed: Value = serde_json::from_slice(&output.stdout).map_err(|_| failure(&output))?;
        let tools = listed["servers"][0]["tools"].as_array().ok_or_else(|| format!("no list: {listed}"))?;
        let names = tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned);
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Calls a tool from the command line; returns its answer.
    pub(crate) async fn call(
        &self,
        config: &Value,
        server: &str,
        tool: &str,
        arguments: &Value,
    ) -> Checked<Value> {
        let arguments = arguments.to_string();
        let command =
            ["mcp", "call-tool", "--json", "--server", server, "--tool", tool, "--args", &arguments];
        let output = self.command(&command, "", Some(config), WATCHDOG).await?;
        serde_json::from_slice(&output.stdout).map_err(|_| failure(&output))
    }

    /// Calls a tool while the server is watched (`mcp sandbox --learn`); returns what it was refused, with the proposal.
    pub(crate) async fn learned(
        &self,
        config: &Value,
        server: &str,
        tool: &str,
        arguments: &Value,
    ) -> Checked<Value> {
        let (target, arguments) = (format!("{server}.{tool}"), arguments.to_string());
        let call = ["toolsmith", "--quiet", "mcp", "call", &target, "--args", &arguments];
        let command = [&["mcp", "sandbox", server, "--learn", "--json", "--"][..], &call].concat();
        let output = self.command(&command, "", Some(config), WATCHDOG).await?;
        let printed = String::from_utf8_lossy(&output.stdout);
        // The call's own output is before it.
        let last = printed.lines().last().unwrap_or_default();
        serde_json::from_str(last).map_err(|_| failure(&output))
    }

    /// Runs a snippet that must succeed; returns its result.
    pub(crate) async fn result(&self, config: &Value, code: &str) -> Checked<Value> {
        let output = self.command(&["run", "--json", "-"], code, Some(config), WATCHDOG).await?;
        let mut outcome = outcome(&output)?;
        if outcome["status"] != "ok" {
            return Err(format!("{}: {}\n{code}", outcome["status"], outcome["error"]["message"]));
        }
        Ok(outcome["result"].take())
    }

    /// Runs a snippet; returns its status.
    pub(crate) async fn status(&self, config: &Value, code: &str) -> Checked<String> {
        let output = self.command(&["run", "--json", "-"], code, Some(config), WATCHDOG).await?;
        Ok(outcome(&output)?["status"].as_str().unwrap_or_default().to_owned())
    }

    async fn command(
        &self,
        arguments: &[&str],
        input: &str,
        config: Option<&Value>,
        limit: Duration,
    ) -> Checked<Output> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.binary.display());
        let folder = tempfile::tempdir().map_err(failed)?;
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(folder.path()).kill_on_drop(true);
        // Keeps the user's own configuration out.
        command.env("TOOLSMITH_CACHE_DIR", &self.cache).env("XDG_CONFIG_HOME", folder.path());
        command.env("XDG_STATE_HOME", folder.path().join("state"));
        if let Some(config) = config {
            let file = folder.path().join("peers.json");
            fs::write(&file, config.to_string()).map_err(failed)?;
            command.env("TOOLSMITH_CONFIG", file);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A process that exits before it has read everything breaks the pipe.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        match timeout(limit, child.wait_with_output()).await {
            Ok(output) => output.map_err(failed),
            Err(_) => Err(format!("toolsmith {} has not ended after {limit:?}", arguments.join(" "))),
        }
    }
}

fn outcome(output: &Output) -> Checked<Value> {
    serde_json::from_slice(&output.stdout).map_err(|_| failure(output))
}

fn failure(output: &Output) -> String {
    format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())
}

/// Waits until no process has the variable `marker` in its environment.
pub(crate) async fn nothing_left(marker: &str) -> Checked<()> {
    let watch = async {
        while !living(marker).is_empty() {
            tokio::time::sleep(LOOK).await;
        }
    };
    timeout(LEFTOVERS, watch).await.map_err(|_| format!("left behind: {:?}", living(marker)))
}

fn living(marker: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|process| {
            fs::read(process.join("environ")).is_ok_and(|environment| {
                environment.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes())
            })
        })
        .collect()
}
