//! A home folder for one agent, with a scripted model: everything that a run needs, and what it left behind.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use end_to_end::models::ModelServer;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{process::Command, time::timeout};

use crate::{
    product::{Checked, Product, nothing_left},
    servers::{Installed, write},
};

use super::{Agent, KEY, WATCHDOG, declared, short};

/// The environment's search path.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The task of an agent.
pub(super) struct Scene {
    /// The arguments of the model's calls of `execute_code`, one per turn.
    pub(super) calls: Vec<Value>,
    /// Time limit for the agent.
    pub(super) limit: Duration,
}

/// The actions of an agent.
pub(super) struct Driven {
    /// Its requests to the model.
    pub(super) requests: Vec<Value>,
    /// Its output, or its failure.
    pub(super) ended: Checked<String>,
    /// The description of `execute_code` that the server declares to it.
    pub(super) declared: String,
}

/// An agent's home folder and model.
pub(super) struct Stage<'a> {
    agent: &'a Agent,
    installed: &'a Installed,
    product: &'a Product,
    folder: TempDir,
    model: ModelServer,
    limit: Duration,
}

/// A text that differs each time.
pub(super) fn unique() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{}-{}", now.as_nanos(), COUNT.fetch_add(1, Ordering::Relaxed))
}

impl Agent {
    /// Runs the agent with what `toolsmith setup` writes.
    pub(super) async fn drive(
        &self,
        installed: &Installed,
        product: &Product,
        servers: &Value,
        scene: &Scene,
    ) -> Checked<Driven> {
        let stage = Stage::new(self, installed, product, scene).await?;
        let file = stage.work().join("served.json");
        // `setup` starts the server to check the entry, which must not know the servers before the agent does.
        write(&file, "{}")?;
        stage.set_up(&file).await?;
        let log = stage.work().join("audit.jsonl");
        let config = json!({ "mcpServers": servers, "serve": { "audit": { "file": log } } });
        write(&file, &config.to_string())?;
        let ended = stage.run().await;
        let mut server = stage.with_toolchain(stage.command(product.binary()));
        server.args(["serve".into(), "--config".into(), file.into_os_string()]);
        let declared = match declared::client(&log) {
            Ok(client) => declared::description(server, client).await,
            Err(error) => ended.clone().and(Err(error)),
        };
        Ok(Driven { requests: stage.requests(), ended, declared: declared? })
    }

    /// The model makes the calls one by one, waits for one that still runs, and then finishes. An agent's other requests
    /// (for titles) have no tools.
    fn script(&self, calls: &[Value]) -> Value {
        let rule = |mut when: Value, arguments: &Value| {
            let mut call = json!({ "name": self.tool, "arguments": arguments });
            if let Some(namespace) = self.namespace {
                call["namespace"] = json!(namespace);
            }
            when["offers"] = json!(self.tool);
            json!({ "when": when, "answers": [{ "calls": [call] }] })
        };
        let waiting =
            rule(json!({ "result": "still running" }), &json!({ "execution": "{{id}}", "code": "" }));
        let calls =
            calls.iter().enumerate().map(|(turn, arguments)| rule(json!({ "turn": turn }), arguments));
        let rest = json!({ "answers": [{ "text": "done" }] });
        let rules: Vec<Value> = [waiting].into_iter().chain(calls).chain([rest]).collect();
        json!({ "rules": rules })
    }
}

impl<'a> Stage<'a> {
    /// Starts the model and writes the agent's settings.
    pub(super) async fn new(
        agent: &'a Agent,
        installed: &'a Installed,
        product: &'a Product,
        scene: &Scene,
    ) -> Checked<Self> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let script = agent.script(&scene.calls);
        let model = ModelServer::start_with(env!("CARGO_BIN_EXE_model-server"), &script, &["--key", KEY]);
        let stage = Self { agent, installed, product, folder, model, limit: scene.limit };
        for folder in [stage.home(), stage.work()] {
            fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        // `setup` asks the agent for its version.
        program(&stage.bin(agent.program), &[], &(agent.line)(installed))?;
        let (file, settings) = agent.settings;
        let mut settings = stage.filled(settings);
        if let Some(catalog) = agent.catalog {
            let listed = stage.agent_command(&["debug", "models"])?;
            settings = settings
                .replace("{model}", &catalog.choose(&finish(listed, agent.package, WATCHDOG).await?.0)?);
        }
        write(&stage.home().join(file), &settings)?;
        Ok(stage)
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The path of a program that is in the search path.
    pub(super) fn bin(&self, program: &str) -> PathBuf {
        self.home().join("bin").join(program)
    }

    pub(super) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes the agent's entry for the server.
    async fn set_up(&self, config: &Path) -> Checked<()> {
        let mut command = self.with_toolchain(self.command(self.product.binary()));
        command.arg("setup").args(self.agent.setup).arg("--config").arg(config);
        finish(command, "toolsmith setup", WATCHDOG).await.map(drop)
    }

    /// The requests to the model.
    pub(super) fn requests(&self) -> Vec<Value> {
        self.model.requests()
    }

    /// Runs the agent to its end, after which no process may be left. Returns what it printed.
    pub(super) async fn run(&self) -> Checked<String> {
        let command = self.agent_command(self.agent.arguments)?;
        let (output, errors) = finish(command, self.agent.package, self.limit).await?;
        // Its servers have the same `HOME`.
        nothing_left(&format!("HOME={}", self.home().display())).await?;
        Ok(format!("{output}\n{errors}"))
    }

    /// A command of the agent.
    pub(super) fn agent_command(&self, arguments: &[&str]) -> Checked<Command> {
        let line = (self.agent.line)(self.installed);
        let (program, script) = line.split_first().ok_or("it has no program")?;
        let mut command = self.command(program);
        command.args(script).args(arguments);
        command.envs(self.agent.variables.iter().map(|(name, value)| (name, self.filled(value))));
        Ok(command)
    }

    /// A program with no environment from the user who runs the tests.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.home()).current_dir(self.work());
        command.env("PATH", format!("{}:{PATH}", self.home().join("bin").display()));
        // Requests that leave this machine fail (the discard port of RFC 863).
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            command.env(name, "http://127.0.0.1:9");
        }
        command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost");
        command.kill_on_drop(true);
        command
    }

    fn with_toolchain(&self, mut command: Command) -> Command {
        command.envs(toolchain(self.product));
        command
    }

    fn filled(&self, text: &str) -> String {
        text.replace("{address}", self.model.base_url().trim_end_matches("/v1"))
    }
}

/// The variables that a server of an agent needs here. Agents pass few to servers, so those that `setup` records must
/// suffice.
pub(super) fn toolchain(product: &Product) -> Vec<(&'static str, PathBuf)> {
    let user = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let or = |name, default| std::env::var_os(name).map_or_else(|| user.join(default), PathBuf::from);
    vec![
        ("TOOLSMITH_CACHE_DIR", product.cache().to_owned()),
        ("CARGO_HOME", or("CARGO_HOME", ".cargo")),
        ("RUSTUP_HOME", or("RUSTUP_HOME", ".rustup")),
    ]
}

/// Runs a program to its end; returns its output and its errors.
pub(super) async fn finish(mut command: Command, name: &str, limit: Duration) -> Checked<(String, String)> {
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let output = timeout(limit, child.wait_with_output()).await;
    let output = output.map_err(|_| format!("{name} has not ended after {limit:?}"))?.map_err(failed)?;
    let [printed, errors] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).trim().to_owned());
    if output.status.success() {
        Ok((printed, errors))
    } else {
        Err(format!("{name}: {}: {}", output.status, short(&format!("{printed}\n{errors}"))))
    }
}

/// Writes an executable script that runs a command line with variables and its own arguments.
pub(super) fn program(path: &Path, variables: &[(&str, PathBuf)], line: &[PathBuf]) -> Checked<()> {
    let exports: String =
        variables.iter().map(|(name, value)| format!("export {name}='{}'\n", value.display())).collect();
    let line: String = line.iter().map(|part| format!("'{}' ", part.display())).collect();
    let script = format!("#!/bin/sh\n{exports}exec {line}\"$@\"\n");
    write(path, &script)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", path.display()))
}
