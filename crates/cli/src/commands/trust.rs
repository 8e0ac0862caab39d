//! `toolsmith trust`: shows what a project's configuration does, and records that it is trusted. Starts no server.

use std::path::Path;

use config::LOCK;
use config::layers;
use config::source::{Document, Entry, masked};
use config::tree::{Node, Value};
use config::trust::{self, ProjectFiles, Trust};
use config::{ConfigLayer, Error, locks, show, variables};
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::terminal_prompter;
use mcp::Lock;
use report::Kind;
use serde_json::{Value as Json, json};
use terminal::Terminal;

use crate::arguments::TrustArguments;

/// Runs `trust` and returns the exit code.
pub(crate) async fn trust(arguments: &TrustArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = trust_project(arguments, &terminal).await;
    terminal.flush().await.map_err(Failure::output)?;
    done
}

async fn trust_project(arguments: &TrustArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let folder = arguments.folder.as_deref().unwrap_or(Path::new("."));
    let folder = std::path::absolute(folder)
        .map_err(|error| Failure::command_line(error.to_string()).caused_by(error))?;
    if !folder.is_dir() {
        let message = format!("there is no folder {}", folder.display());
        return Err(Failure::command_line(message).hint("name the folder that contains toolsmith.yaml"));
    }
    let file = layers::project_file(&folder)?;
    let file = file.ok_or_else(|| {
        Failure::command_line(format!(
            "{} has no project configuration: neither toolsmith.yaml nor .toolsmith/config.yaml",
            folder.display()
        ))
        .hint("name the folder of a project that has one, or add a server here: toolsmith mcp add --scope project")
    })?;
    let shown = file.display().to_string();
    if arguments.remove {
        // Without a record, its contents do not matter.
        if trust::of(&file, ProjectFiles::new("", None))? == Trust::Missing {
            terminal.note(&format!("{shown} was not trusted"));
            return Ok(exit_code::OK);
        }
        trust::record(&file, None)?;
        terminal.note(&format!("{shown} is no longer trusted"));
        return Ok(exit_code::OK);
    }
    // Show and record the same bytes: the file may change before the user answers.
    let text = config::text::read(&file)?;
    let lock_file = file.with_file_name(LOCK);
    let lock = locks::text(&lock_file)?;
    let stated = ProjectFiles::new(&text, lock.as_deref());
    let document = config::source::read(&ConfigLayer::Project(file.clone()), &text);
    let document = document?;
    let mut text = summary(&shown, &document, &own_servers()?);
    if let Some(line) = locked(&lock_file, lock.as_deref()) {
        text = format!("{text}\n{}", printable::exact(&line));
    }
    let state = trust::of(&file, stated)?;
    if arguments.json {
        terminal.print_json(&as_json(&shown, &state, &text).to_string());
        return Ok(exit_code::OK);
    }
    terminal.print(&text);
    if arguments.show || state == Trust::Given {
        terminal.note(&match state {
            Trust::Given => format!("{shown} is trusted"),
            Trust::Changed => format!("{shown} has changed since it was trusted"),
            Trust::LockChanged => {
                format!("the lock file {} has changed since it was trusted", lock_file.display())
            }
            Trust::Missing => format!("{shown} is not trusted"),
        });
        return Ok(exit_code::OK);
    }
    if !arguments.yes {
        let user = terminal_prompter::of_command().ok_or_else(|| {
            Failure::new(Kind::Trust, "there is no terminal to ask on")
                .hint("to trust it without a question: toolsmith trust --yes")
        })?;
        terminal.flush().await.map_err(Failure::output)?;
        if !user.confirm("Trust this configuration until it changes?").await {
            return Err(Failure::new(Kind::Trust, format!("{shown} is not trusted, and has no effect")));
        }
    }
    trust::record(&file, Some(stated))?;
    terminal.note(&format!("{shown} is trusted until it or its lock file changes"));
    Ok(exit_code::OK)
}

/// Returns the output of `trust --show --json`: the lines of the summary, without their marks.
fn as_json(file: &str, state: &Trust, text: &str) -> Json {
    let state = match state {
        Trust::Given => "trusted",
        Trust::Changed => "changed",
        Trust::LockChanged => "lock_changed",
        Trust::Missing => "not_trusted",
    };
    let line = |line: &str| {
        let (mark, text) = line.split_at_checked(1).unwrap_or_default();
        json!({ "loosens": mark == "!", "text": text.trim_start() })
    };
    let lines: Vec<Json> = text.lines().skip(1).map(line).collect();
    json!({ "file": file, "trusted": state == "trusted", "state": state, "effects": lines })
}

/// Describes the lock file of a project's configuration; `None` if there is none.
fn locked(file: &Path, text: Option<&str>) -> Option<String> {
    let shown = file.display();
    let lock = match Lock::parse(text?, file) {
        Ok(lock) => lock,
        Err(error) => return Some(format!("! {error}")),
    };
    let pinned = lock.servers.iter().filter(|(_, server)| server.pinned);
    let names: Vec<String> = pinned
        .map(|(name, server)| format!("{name} ({})", report::count(server.tools.len(), "tool")))
        .collect();
    Some(match names.is_empty() {
        true => format!("! {shown} pins no server"),
        false => format!("  {shown} pins {}", names.join(", ")),
    })
}

/// The names of the servers in the user's own file.
fn own_servers() -> Result<Vec<String>, Error> {
    let Some(file) = layers::user_file()? else { return Ok(Vec::new()) };
    let text = config::text::read(&file)?;
    let document = config::source::read(&ConfigLayer::User(file), &text)?;
    Ok(document.entries.into_iter().map(|entry| entry.name).collect())
}

/// Describes what a project's configuration starts, calls and sets, and which of the user's `own` servers it replaces,
/// including their denied tools. Lines that begin with `!` loosen something.
fn summary(file: &str, document: &Document, own: &[String]) -> String {
    let mut lines = vec![format!("{file}:")];
    for entry in &document.entries {
        server_lines(entry, &mut lines);
        if own.contains(&entry.name) {
            lines.push(format!(
                "!   replaces your own server {}, with its permissions and filters",
                entry.name
            ));
        }
    }
    for (name, node) in show::settings(document) {
        let loosens = [
            "globalSettings.enabled",
            "codeMode.sandbox",
            "codeMode.installTarget",
            "codeMode.memory",
            "serve.audit",
            "serve.hosts",
            "serve.metrics",
            "serve.origins",
            "serve.telemetry",
            "agent.conversations",
            "defaults.systemPromptPath",
        ];
        let mark = if loosens.iter().any(|key| name.starts_with(key)) || name.starts_with("models") {
            "!"
        } else {
            " "
        };
        lines.push(format!("{mark} sets {name}: {}", masked(&name, node)));
    }
    let mut used = Vec::new();
    variables_of(&document.tree, &mut used);
    used.sort();
    used.dedup();
    if !used.is_empty() {
        lines.push(format!("! reads the variables: {}", used.join(", ")));
    }
    let mut secrets = Vec::new();
    secrets_of(&document.tree, &mut secrets);
    secrets.sort();
    secrets.dedup();
    if !secrets.is_empty() {
        lines.push(format!("! reads from your keyring: {}", secrets.join(", ")));
    }
    lines.iter().map(|line| printable::exact(line)).collect::<Vec<_>>().join("\n")
}

fn server_lines(entry: &Entry, lines: &mut Vec<String>) {
    let text = |key: &str| entry.node.get(key).and_then(Node::text);
    if let Some(command) = text("command") {
        let args = entry.node.get("args").map_or(&[][..], |args| match &args.value {
            Value::List(items) => items,
            _ => &[],
        });
        let line = config::command_line(command, args.iter().filter_map(Node::text));
        lines.push(format!("  server {} starts: {line}", entry.name));
    }
    if let Some(document) = text("openapi") {
        lines.push(format!("  server {} calls the API of: {document}", entry.name));
    }
    if let Some(url) = text("url") {
        lines.push(format!("  server {} connects to: {url}", entry.name));
    }
    if ["command", "openapi", "url"].iter().all(|key| text(key).is_none()) {
        lines.push(format!("  server {}:", entry.name));
    }
    for (key, node) in entry.node.entries() {
        let key = key.text.as_str();
        // Environment variables affect a program as much as its arguments, so they are shown unmasked.
        let value = if key == "env" { node.to_json() } else { masked(key, node) };
        let loosens = match key {
            "command" | "args" | "openapi" | "url" => continue,
            "trust" | "inheritModelKeys" => value == Json::Bool(true),
            "checkInput" | "checkOutput" => value == Json::Bool(false),
            "permission" | "permissions" => value.to_string().contains("\"allow\""),
            "env" | "headers" | "roots" | "oauth" | "cwd" => true,
            _ => false,
        };
        lines.push(format!("{}   {key}: {value}", if loosens { "!" } else { " " }));
    }
}

fn variables_of(node: &Node, used: &mut Vec<String>) {
    texts_of(node, &mut |text| used.extend(variables::names(text)));
}

fn secrets_of(node: &Node, used: &mut Vec<String>) {
    texts_of(node, &mut |text| used.extend(variables::secrets(text)));
}

fn texts_of(node: &Node, visit: &mut dyn FnMut(&str)) {
    match &node.value {
        Value::Text(text) => visit(text),
        Value::List(items) => items.iter().for_each(|item| texts_of(item, visit)),
        Value::Map(entries) => entries.iter().for_each(|(_, node)| texts_of(node, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::summary;
    use config::{ConfigLayer, source};

    #[test]
    fn the_summary_before_trust_hides_nothing() {
        let text = "mcpServers:\n  a:\n    command: sh\n    args: [-c, \"evil\\n\\e[2J\\u3164\"]\n    env: { LD_PRELOAD: ./x.so, T: \"${TOKEN}\" }\n    trust: true\n  b: { url: \"https://x.example/${PART}\", headers: { X: lit, Y: \"${KEY}\" } }\ncodeMode: { sandbox: { write: [/] } }\nserve: { audit: { file: a.log }, grace: 5 }\nagent: { conversations: c.sqlite3 }\n";
        let layer = ConfigLayer::Project("/p/toolsmith.yaml".into());
        let shown = summary("/p/toolsmith.yaml", &source::read(&layer, text).unwrap(), &["b".to_owned()]);
        let expected = "/p/toolsmith.yaml:\n  server a starts: sh -c \"evil\\n\\u{1b}[2J\\u{3164}\"\n!   env: {\"LD_PRELOAD\":\"./x.so\",\"T\":\"${TOKEN}\"}\n!   trust: true\n  server b connects to: https://x.example/${PART}\n!   headers: {\"X\":\"…\",\"Y\":\"${KEY}\"}\n!   replaces your own server b, with its permissions and filters\n! sets codeMode.sandbox.write: [\"/\"]\n! sets serve.audit: {\"file\":\"a.log\"}\n  sets serve.grace: 5\n! sets agent.conversations: \"c.sqlite3\"\n! reads the variables: KEY, PART, TOKEN";
        assert_eq!(shown, expected);
    }
}
