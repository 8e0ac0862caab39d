//! `ask`, `chat` and `setup`: help of the console, errors of models, and entries for MCP clients.

use end_to_end::models::ModelServer;
use end_to_end::page::Page;
use serde_json::{Value, json};

use super::configuration::Project;

fn model(rules: &Value) -> ModelServer {
    ModelServer::start(env!("CARGO_BIN_EXE_model-server"), &json!({ "rules": rules }))
}

/// A configuration with this model.
fn with_model(base_url: &str, more: &str) -> String {
    format!(
        "models:\n  - {{ ref: scripted, id: m, type: openai, base_url: {base_url:?}, retries: 0{more} }}\n\
         defaults: {{ model: scripted }}\nmcpServers:\n  demo: {{ command: toolsmith, args: [demo-server], trust: true }}\n"
    )
}

#[test]
fn the_console_and_models() {
    let mut page = Page::new("agents");
    let server = model(&json!([{ "answers": [{ "text": "done" }] }]));
    let project = Project::new();
    project.write("given.yaml", &with_model(&server.base_url(), ""));
    let given = ["--config", "given.yaml"];
    let ask = |page: &mut Page, title: &str, words: &[&str], input: &str| {
        let run = project.run(&[words, &given].concat()).input(input);
        page.run(&format!("{title}: toolsmith {}", words.join(" ")), run);
    };
    ask(&mut page, "an answer", &["ask", "what?"], "");
    ask(&mut page, "no question", &["ask"], "");
    ask(&mut page, "an unknown model", &["ask", "what?", "--model", "large"], "");
    ask(&mut page, "an unknown conversation", &["ask", "what?", "--resume", "absent"], "");
    ask(&mut page, "slash commands", &["chat"], "/help\n/modle\n/model large\n/servers\n/exit\n");
    project.write("given.yaml", &with_model("http://127.0.0.1:1/v1", ""));
    ask(&mut page, "a provider that does not answer", &["ask", "what?"], "");
    project.write("given.yaml", &with_model(&server.base_url(), ", api_key_env: NO_SUCH_KEY"));
    ask(&mut page, "no key", &["ask", "what?"], "");
    page.check();
}

#[test]
fn entries_for_clients() {
    let mut page = Page::new("setup");
    let project = Project::new();
    for client in [
        "claude-code",
        "codex",
        "opencode",
        "gemini",
        "claude-desktop",
        "cursor",
        "vscode",
        "zed",
        "windsurf",
        "qwen",
        "copilot",
        "goose",
        "kimi",
        "crush",
    ] {
        let run = project
            .run(&["setup", client, "--print"])
            .variable("HOME", "/home/me")
            .variable("CARGO_HOME", "/home/me/.cargo")
            .variable("RUSTUP_HOME", "/home/me/.rustup");
        page.run(&format!("toolsmith setup {client} --print"), run);
    }
    project.print(&mut page, "", &["setup", "windsurf", "--scope", "project"]);
    page.check();
}
