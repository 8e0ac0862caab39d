//! The agents: how each is started with a scripted model.

use std::path::PathBuf;

use serde_json::Value;
use tokio::process::Command;

use crate::{product::Checked, servers::Installed};

use super::KEY;

/// An agent with one kind of model.
pub(crate) struct Agent {
    /// Its name in tables.
    pub(super) name: &'static str,
    pub(crate) package: &'static str,
    /// Whether its version is not the package's, but what `--version` prints.
    pub(super) prints_version: bool,
    /// Its command.
    pub(super) program: &'static str,
    /// The arguments of `toolsmith setup`: its name there, and options.
    pub(super) setup: &'static [&'static str],
    /// The namespace for a server's tools, if it has namespaces.
    pub(super) namespace: Option<&'static str>,
    /// Its name for `execute_code`.
    pub(super) tool: &'static str,
    /// Its tool to find or call other tools, which shows that it withholds some of them.
    pub(super) finder: Option<&'static str>,
    /// The choice of the models that `{model}` in the settings stands for.
    pub(super) catalog: Option<Catalog>,
    /// Its settings file in the home folder, and its content; `{address}` is replaced by the model server's.
    pub(super) settings: (&'static str, &'static str),
    /// Its command line: Node or a native program, and arguments.
    pub(super) line: fn(&Installed) -> Vec<PathBuf>,
    pub(super) arguments: &'static [&'static str],
    pub(super) variables: &'static [(&'static str, &'static str)],
}

/// The models of Codex's catalog that are run.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Catalog {
    /// Codex gives them only `exec`, which runs JavaScript.
    CodeMode,
    /// Older models, which call tools themselves.
    Direct,
}

pub(super) const CODEX: Agent = Agent {
    name: "Codex, newer models",
    package: "@openai/codex",
    prints_version: false,
    program: "codex",
    // Otherwise it waits about a second for servers at the start.
    setup: &["codex", "--approve", "--required"],
    namespace: Some("mcp__toolsmith"),
    tool: "execute_code",
    finder: Some("functions.exec"),
    catalog: Some(Catalog::CodeMode),
    settings: (
        ".codex/config.toml",
        "model = \"{model}\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{address}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n",
    ),
    line: |installed| {
        vec![installed.file("@openai/codex-linux-x64", "vendor/x86_64-unknown-linux-musl/bin/codex")]
    },
    arguments: &["exec", "--skip-git-repo-check", "go"],
    variables: &[("SCRIPTED_KEY", KEY)],
};

const OLDER_CODEX: Agent =
    Agent { name: "Codex, older models", finder: None, catalog: Some(Catalog::Direct), ..CODEX };

pub(super) const CLAUDE_CODE: Agent = Agent {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    prints_version: false,
    program: "claude",
    setup: &["claude-code"],
    namespace: None,
    tool: "mcp__toolsmith__execute_code",
    finder: Some("ToolSearch"),
    catalog: None,
    settings: (".claude/settings.json", "{}\n"),
    line: |installed| vec![installed.file("@anthropic-ai/claude-code-linux-x64", "claude")],
    arguments: &["-p", "go", "--allowedTools", "mcp__toolsmith"],
    variables: &[
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", "{address}"),
        // By default only with Anthropic's own address.
        ("ENABLE_TOOL_SEARCH", "true"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ],
};

const OPENCODE: Agent = Agent {
    name: "opencode",
    // The native program of the package `opencode-ai`, which itself only fetches this.
    package: "opencode-linux-x64-baseline",
    prints_version: false,
    program: "opencode",
    setup: &["opencode"],
    namespace: None,
    tool: "toolsmith_execute_code",
    finder: None,
    catalog: None,
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

pub(super) const GEMINI: Agent = Agent {
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    prints_version: false,
    program: "gemini",
    setup: &["gemini", "--approve"],
    namespace: None,
    tool: "mcp_toolsmith_execute_code",
    finder: None,
    catalog: None,
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

const QWEN: Agent = Agent {
    name: "Qwen Code",
    package: "@qwen-code/qwen-code",
    prints_version: false,
    program: "qwen",
    setup: &["qwen", "--approve"],
    namespace: None,
    tool: "mcp__toolsmith__execute_code",
    finder: Some("tool_search"),
    catalog: None,
    settings: (
        ".qwen/settings.json",
        r#"{
  "security": { "auth": { "selectedType": "openai" } }, "privacy": { "usageStatisticsEnabled": false },
  "general": { "disableAutoUpdate": true, "enableAutoUpdate": false }
}
"#,
    ),
    line: |installed| vec![installed.node(), installed.file("@qwen-code/qwen-code", "cli.js")],
    arguments: &["-p", "go"],
    variables: &[
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", "{address}/v1"),
        ("OPENAI_MODEL", "qwen3-coder-plus"),
        ("QWEN_CODE_NO_RELAUNCH", "1"),
    ],
};

const COPILOT: Agent = Agent {
    name: "GitHub Copilot CLI",
    package: "@github/copilot",
    prints_version: false,
    program: "copilot",
    setup: &["copilot"],
    namespace: None,
    tool: "toolsmith-execute_code",
    finder: None,
    catalog: None,
    settings: (".copilot/config.json", "{}\n"),
    line: |installed| vec![installed.file("@github/copilot-linux-x64", "copilot")],
    arguments: &["-p", "go", "--allow-tool", "toolsmith"],
    variables: &[
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_AUTO_UPDATE", "false"),
        ("COPILOT_PROVIDER_BASE_URL", "{address}/v1"),
        ("COPILOT_PROVIDER_TYPE", "openai"),
        ("COPILOT_PROVIDER_API_KEY", KEY),
        ("COPILOT_MODEL", "gpt-5.1"),
    ],
};

const GOOSE: Agent = Agent {
    name: "goose",
    package: "@aaif/goose-binary-linux-x64",
    prints_version: true,
    program: "goose",
    setup: &["goose"],
    namespace: None,
    tool: "toolsmith__execute_code",
    finder: None,
    catalog: None,
    settings: (
        ".config/goose/config.yaml",
        "GOOSE_PROVIDER: openai\nGOOSE_MODEL: gpt-5.1\nGOOSE_TELEMETRY_ENABLED: false\n",
    ),
    line: |installed| vec![installed.file("@aaif/goose-binary-linux-x64", "bin/goose")],
    arguments: &["run", "--no-session", "-t", "go"],
    variables: &[
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_HOST", "{address}"),
        ("GOOSE_DISABLE_KEYRING", "1"),
        ("GOOSE_DISABLE_SESSION_NAMING", "1"),
    ],
};

pub(super) const AGENTS: [Agent; 8] =
    [CODEX, OLDER_CODEX, CLAUDE_CODE, QWEN, COPILOT, GOOSE, OPENCODE, GEMINI];

impl Agent {
    /// The name of `execute_code` in requests.
    pub(super) fn offered(&self) -> String {
        self.namespace.map_or_else(|| self.tool.to_owned(), |namespace| format!("{namespace}.{}", self.tool))
    }
}

impl Agent {
    /// Its version, as users know it.
    pub(super) async fn version(&self, installed: &Installed) -> Checked<String> {
        if !self.prints_version {
            return installed.version(self.package);
        }
        let line = (self.line)(installed);
        let program = line.first().ok_or("it has no program")?;
        let output = Command::new(program).env_clear().arg("--version").output().await;
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        printed
            .split_whitespace()
            .last()
            .map(str::to_owned)
            .ok_or_else(|| format!("{} prints no version", self.package))
    }
}

impl Catalog {
    /// The first model of this kind in what `codex debug models` prints. A catalog without one is an error: the test would
    /// otherwise run with a model that Codex does not know, which it treats as an older one.
    pub(super) fn choose(self, printed: &str) -> Checked<String> {
        let catalog: Value =
            serde_json::from_str(printed).map_err(|error| format!("codex debug models: {error}"))?;
        let models = catalog["models"].as_array().map(Vec::as_slice).unwrap_or_default();
        let slug = models
            .iter()
            .find(|model| {
                let is_code_mode = model["tool_mode"] == "code_mode_only";
                model["visibility"] == "list" && is_code_mode == (self == Catalog::CodeMode)
            })
            .and_then(|model| model["slug"].as_str());
        slug.map(str::to_owned).ok_or_else(|| {
            let kind = if self == Catalog::CodeMode { "with" } else { "other than with" };
            format!("no model in Codex's catalog {kind} `tool_mode` code_mode_only: adapt tests/peers/agents/kinds.rs")
        })
    }
}
