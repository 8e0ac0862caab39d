//! Coding agents in front of `toolsmith serve`: Codex, opencode and Gemini CLI.
//!
//! Each starts with an empty environment and its own home folder, in which `toolsmith setup` has configured the server.
//! Its provider is a scripted model. The checks are on what the agent sends to the model.

mod asked;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use end_to_end::models::ModelServer;
use serde_json::{Value, json};
use tokio::{process::Command, time::timeout};

use crate::{
    product::{Checked, Product, nothing_left},
    servers::Installed,
    table::Row,
};

/// The name that selects this part.
pub(crate) const PART: &str = "clients";

/// Time limit for an agent's four calls, each of which compiles a snippet.
const WATCHDOG: Duration = Duration::from_secs(240);

/// A picture of one pixel.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The model's API key, which the model server checks.
const KEY: &str = "secret-key";

/// An agent.
pub(crate) struct Agent {
    pub(crate) package: &'static str,
    /// Its name in `toolsmith setup`.
    client: &'static str,
    /// The namespace for a server's tools, if it has namespaces.
    namespace: Option<&'static str>,
    /// Its name for `execute_code`.
    tool: &'static str,
    /// Its settings file in the home folder, and its content; `{address}` is replaced by the model server's.
    settings: (&'static str, &'static str),
    /// Its command line: Node or a native program, and arguments.
    line: fn(&Installed) -> Vec<PathBuf>,
    arguments: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

const CODEX: Agent = Agent {
    package: "@openai/codex",
    client: "codex",
    namespace: Some("mcp__toolsmith"),
    tool: "execute_code",
    // It assumes that a model with an unknown name cannot read pictures.
    settings: (
        ".codex/config.toml",
        "model = \"gpt-5.1\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{address}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n",
    ),
    line: |installed| {
        vec![installed.file("@openai/codex-linux-x64", "vendor/x86_64-unknown-linux-musl/bin/codex")]
    },
    arguments: &["exec", "--skip-git-repo-check", "go"],
    variables: &[("SCRIPTED_KEY", KEY)],
};

const OPENCODE: Agent = Agent {
    // The native program of the package `opencode-ai`, which itself only fetches this.
    package: "opencode-linux-x64-baseline",
    client: "opencode",
    namespace: None,
    tool: "toolsmith_execute_code",
    settings: (
        ".config/opencode/opencode.json",
        r#"{
  // The scripted model.
  "autoupdate": false, "share": "disabled", "model": "scripted/model", "small_model": "scripted/model",
  "provider": { "scripted": {
    "npm": "@ai-sdk/openai-compatible", "name": "scripted",
    "options": { "baseURL": "{address}/v1", "apiKey": "secret-key" },
    "models": { "model": {
      "name": "model", "attachment": true, "tool_call": true, "limit": { "context": 200000, "output": 8000 },
      "modalities": { "input": ["text", "image"], "output": ["text"] }
    } }
  } }
}
"#,
    ),
    line: |installed| vec![installed.file("opencode-linux-x64-baseline", "bin/opencode")],
    arguments: &["run", "go"],
    variables: &[
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ],
};

const GEMINI: Agent = Agent {
    package: "@google/gemini-cli",
    client: "gemini",
    namespace: None,
    tool: "mcp_toolsmith_execute_code",
    settings: (
        ".gemini/settings.json",
        r#"{
  "security": { "auth": { "selectedType": "gemini-api-key" } }, "privacy": { "usageStatisticsEnabled": false },
  "general": { "disableAutoUpdate": true, "disableUpdateNag": true }
}
"#,
    ),
    line: |installed| vec![installed.node(), installed.file("@google/gemini-cli", "bundle/gemini.js")],
    arguments: &["-m", "gemini-2.5-flash", "-p", "go"],
    variables: &[
        ("GEMINI_API_KEY", KEY),
        ("GOOGLE_GEMINI_BASE_URL", "{address}"),
        ("GEMINI_CLI_NO_RELAUNCH", "1"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ],
};

pub(crate) const AGENTS: [Agent; 3] = [CODEX, OPENCODE, GEMINI];

/// A snippet, and what the model must see of its outcome.
struct Turn {
    name: &'static str,
    code: String,
    says: &'static [&'static str],
}

/// The results are computed, so that text of the call itself cannot match.
fn turns() -> [Turn; 4] {
    let turn = |name, code: &str, says| Turn { name, code: code.to_owned(), says };
    [
        turn(
            "value",
            "println!(\"printed-{}\", 6 * 7);\nlet said = demo::echo(format!(\"said-{}\", 6 * 8)).await?.text();\n(said, 6 * 9)",
            &["printed-42", "said-48", "54"],
        ),
        turn(
            "image",
            &format!(
                "emit(format!(\"text-{{}}\", 6 * 7));\nemit(Content::image({PICTURE:?}, \"image/png\"));"
            ),
            &["text-42", PICTURE],
        ),
        turn("error with a hint", "demo::ecko(\"x\").await?.text()", &["E0425", "ecko", "`echo`"]),
        turn(
            "long output",
            "for line in 0..30_000 { println!(\"line {}\", line * 2); }\n\"the end\"",
            &["line 2", "line 59998", "the end"],
        ),
    ]
}

/// One line for each agent and call.
pub(crate) async fn run(
    installed: &Installed,
    product: &Product,
    is_chosen: impl Fn([&str; 2]) -> bool,
) -> Checked<Vec<Row>> {
    let mut rows = Vec::new();
    for agent in AGENTS.iter().filter(|agent| is_chosen([PART, agent.package])) {
        let version = installed.version(agent.package)?;
        let results = agent.drive(installed, product).await;
        for (index, turn) in turns().iter().enumerate() {
            let checked = results.as_ref().map_err(String::clone).and_then(|results| {
                let result = results.get(index).ok_or("the agent has sent no such result")?;
                let missing: Vec<_> = turn.says.iter().filter(|part| !result.contains(**part)).collect();
                if missing.is_empty() {
                    Ok(())
                } else {
                    Err(format!("{missing:?} is missing in {}", short(result)))
                }
            });
            rows.push(Row {
                peer: format!("{} gets {}", agent.package, turn.name),
                version: version.clone(),
                transport: "stdio",
                protocol: "-".to_owned(),
                tools: "-".to_owned(),
                failure: checked.err(),
            });
        }
    }
    Ok(rows)
}

/// The start and the end of a text.
fn short(text: &str) -> String {
    const SHOWN: usize = 1_500;
    let count = text.chars().count();
    if count <= 2 * SHOWN {
        return text.to_owned();
    }
    let head: String = text.chars().take(SHOWN).collect();
    let tail: String = text.chars().skip(count - SHOWN).collect();
    format!("{head} […] {tail}")
}

impl Agent {
    /// Runs the agent; returns what the model received for each call, in order.
    async fn drive(&self, installed: &Installed, product: &Product) -> Checked<Vec<String>> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.package);
        let folder = tempfile::tempdir().map_err(failed)?;
        let (home, work) = (folder.path().join("home"), folder.path().join("work"));
        fs::create_dir_all(&work).map_err(failed)?;
        let model =
            ModelServer::start_with(env!("CARGO_BIN_EXE_model-server"), &self.script(), &["--key", KEY]);
        let base = model.base_url();
        let address = base.trim_end_matches("/v1");
        let (file, settings) = (home.join(self.settings.0), self.settings.1.replace("{address}", address));
        fs::create_dir_all(file.parent().unwrap_or(&home)).map_err(failed)?;
        fs::write(&file, settings).map_err(failed)?;
        self.set_up(product, &home, &work).await?;
        let line = (self.line)(installed);
        let (program, script) = line.split_first().ok_or("it has no program")?;
        let mut command = bare(program, &home, &work);
        command.args(script).args(self.arguments);
        command.envs(self.variables.iter().map(|(name, value)| (name, value.replace("{address}", address))));
        let output_text = finish(command, self.package).await?;
        // Its servers have the same `HOME`.
        nothing_left(&format!("HOME={}", home.display())).await?;
        let results = asked::results(&model.requests(), self.tool);
        if results.len() < turns().len() {
            return Err(format!(
                "{} results for the model; the agent says: {}",
                results.len(),
                short(&output_text)
            ));
        }
        Ok(results)
    }

    /// Writes the settings and runs `toolsmith setup`.
    async fn set_up(&self, product: &Product, home: &Path, work: &Path) -> Checked<()> {
        let config = work.join("served.json");
        let text = json!({ "mcpServers": { "demo": { "command": "toolsmith", "args": ["demo-server"], "trust": true } } });
        fs::write(&config, text.to_string()).map_err(|error| error.to_string())?;
        let mut command = bare(product.binary(), home, work);
        command.args(["setup", self.client, "--config"]).arg(&config);
        if self.client != "opencode" {
            command.arg("--approve");
        }
        // The variables that `setup` records must suffice: agents pass few to servers.
        command.env("TOOLSMITH_CACHE_DIR", product.cache());
        for (name, otherwise) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let place = std::env::var_os(name).map(PathBuf::from);
            let place = place.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(otherwise)));
            command.envs(place.map(|place| (name, place)));
        }
        finish(command, "toolsmith setup").await.map(drop)
    }

    /// The model makes the calls one by one and then finishes. An agent's other requests (for titles) have no tools.
    fn script(&self) -> Value {
        let rules = turns().into_iter().enumerate().map(|(turn, Turn { code, .. })| {
            let mut call = json!({ "name": self.tool, "arguments": { "code": code } });
            if let Some(namespace) = self.namespace {
                call["namespace"] = json!(namespace);
            }
            json!({ "when": { "offers": self.tool, "turn": turn }, "answers": [{ "calls": [call] }] })
        });
        let rest = json!({ "answers": [{ "text": "done" }] });
        json!({ "rules": rules.chain([rest]).collect::<Vec<_>>() })
    }
}

/// A program with no environment from the user who runs the tests.
fn bare(program: &Path, home: &Path, work: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", home).env("PATH", "/usr/local/bin:/usr/bin:/bin").current_dir(work);
    // Requests that leave this machine fail (the discard port of RFC 863).
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        command.env(name, "http://127.0.0.1:9");
    }
    command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Runs a program to its end; returns its output.
async fn finish(mut command: Command, name: &str) -> Checked<String> {
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let child = command.spawn().map_err(failed)?;
    let output = timeout(WATCHDOG, child.wait_with_output()).await;
    let output = output.map_err(|_| format!("{name} has not ended after {WATCHDOG:?}"))?.map_err(failed)?;
    let output_text = format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout).trim(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    if output.status.success() {
        Ok(output_text)
    } else {
        Err(format!("{name}: {}: {}", output.status, short(&output_text)))
    }
}
