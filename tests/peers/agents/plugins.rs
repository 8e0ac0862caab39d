//! The plugins that `dist/packaging/plugins/build` makes: the real clients accept them, install them, and use them.

use std::path::Path;

use futures::stream::{self, StreamExt as _};
use serde_json::json;
use tokio::process::Command;

use crate::{
    product::{Checked, Product},
    servers::{Installed, write},
    table::Row,
};

use super::{
    Agent, SIGNATURES, WATCHDOG, all, asked,
    kinds::{CLAUDE_CODE, CODEX, GEMINI},
    row,
    stage::{Scene, Stage, finish, program, toolchain},
};

/// The name that selects these rows.
pub(super) const PART: &str = "plugins";

/// The program that validates MCP Bundles.
const MCPB: &str = "@anthropic-ai/mcpb";

/// A plugin in a client.
struct Plugin {
    agent: Agent,
    /// The client's commands that install it; `{plugins}` is replaced by the folder of all plugins.
    install: &'static [&'static [&'static str]],
    /// Text of the plugin that the model reads before it calls a tool.
    says: &'static [&'static str],
}

/// Settings of a user who has the plugin: the tables that docs/clients.md names for it.
const CODEX_SETTINGS: &str = "model = \"{model}\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n\
     [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{address}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n\n\
     [features.code_mode]\ndirect_only_tool_namespaces = [\"mcp__toolsmith\"]\n\n\
     [plugins.\"toolsmith@toolsmith\".mcp_servers.toolsmith]\ndefault_tools_approval_mode = \"approve\"\n";

/// The head of the skill.
const SKILL: &str = "Call MCP tools from one Rust snippet";

const PLUGINS: [Plugin; 3] = [
    Plugin {
        agent: Agent {
            name: "the plugin in Claude Code",
            tool: "mcp__plugin_toolsmith_toolsmith__execute_code",
            arguments: &["-p", "go", "--allowedTools", "mcp__plugin_toolsmith_toolsmith"],
            ..CLAUDE_CODE
        },
        install: &[
            &["plugin", "marketplace", "add", "{plugins}"],
            &["plugin", "install", "toolsmith@toolsmith"],
        ],
        says: &[SKILL, "Toolsmith: for two or more MCP tool calls"],
    },
    Plugin {
        agent: Agent { name: "the plugin in Codex", settings: (CODEX.settings.0, CODEX_SETTINGS), ..CODEX },
        install: &[&["plugin", "marketplace", "add", "{plugins}"], &["plugin", "add", "toolsmith@toolsmith"]],
        says: &[SKILL],
    },
    Plugin {
        agent: Agent {
            name: "the extension in Gemini CLI",
            arguments: &["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", "go"],
            ..GEMINI
        },
        install: &[&["extensions", "install", "{plugins}/gemini", "--consent"]],
        says: &["One snippet instead of many tool calls"],
    },
];

/// The rows of the plugins.
pub(super) async fn run(installed: &Installed, product: &Product) -> Checked<Vec<Row>> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let made = make(installed, folder.path()).await;
    let plugins = folder.path().join("plugins");
    let mut rows = vec![row(PART, env!("CARGO_PKG_VERSION"), ("accepted by", made.clone()))];
    if made.is_ok() {
        let used = PLUGINS
            .iter()
            .map(async |plugin| (&plugin.agent, plugin.call(installed, product, &plugins).await));
        let used: Vec<_> = stream::iter(used).buffered(PLUGINS.len()).collect().await;
        for (agent, seen) in used {
            rows.push(row(agent.name, &agent.version(installed).await?, ("tool", seen)));
        }
    }
    Ok(rows)
}

/// Makes the plugins in a folder, with all validators installed. Returns their names.
async fn make(installed: &Installed, folder: &Path) -> Checked<String> {
    let mcpb = vec![installed.node(), installed.file(MCPB, "dist/cli/cli.js")];
    let validators =
        [("claude", (CLAUDE_CODE.line)(installed)), ("gemini", (GEMINI.line)(installed)), ("mcpb", mcpb)];
    let bin = folder.join("bin");
    for (name, line) in &validators {
        program(&bin.join(name), &[], line)?;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/packaging/plugins/build");
    let mut command = Command::new(&script);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env_clear().env("PATH", format!("{}:{path}", bin.display())).env("HOME", folder);
    command.arg("--dist").arg(folder).kill_on_drop(true);
    let (printed, _) = finish(command, "dist/packaging/plugins/build", WATCHDOG).await?;
    let names = validators.map(|(name, _)| name).join(" ");
    all(&printed, &[&format!("accepted by: {names}")])?;
    Ok(names)
}

impl Plugin {
    /// Installs the plugin into a new home; the model must see the tool and get its result.
    async fn call(&self, installed: &Installed, product: &Product, plugins: &Path) -> Checked<String> {
        let code = "demo::echo(format!(\"said-{}\", 6 * 8)).await?.text()";
        let scene = Scene { calls: vec![json!({ "code": code })], limit: WATCHDOG };
        let stage = Stage::new(&self.agent, installed, product, &scene).await?;
        let demo = json!({ "command": "toolsmith", "args": ["demo-server"], "trust": true });
        let config = json!({ "mcpServers": { "demo": demo } });
        write(&stage.home().join(".config/toolsmith/config.yaml"), &config.to_string())?;
        program(&stage.bin("toolsmith"), &toolchain(product), &[product.binary().to_owned()])?;
        for arguments in self.install {
            let arguments: Vec<_> =
                arguments.iter().map(|part| part.replace("{plugins}", &plugins.to_string_lossy())).collect();
            let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
            finish(stage.agent_command(&arguments)?, self.agent.name, WATCHDOG).await?;
        }
        stage.run().await?;
        let requests = stage.requests();
        all(asked::description(&requests, &self.agent.offered())?, &SIGNATURES)?;
        all(&asked::first_text(&requests), self.says)?;
        let results = asked::results(&requests, &self.agent.offered());
        all(&results.concat(), &["said-48"])?;
        Ok("whole, called, with its text".to_owned())
    }
}
