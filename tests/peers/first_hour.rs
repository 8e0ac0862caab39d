//! The first hour of a new user: set up clients, take over their servers, add more, run, serve, chat, look at the
//! numbers, and undo everything. Every command is typed at a pseudoterminal, with its own empty home and environment.
//! The record is one snapshot, to be read like a page of a manual.

use std::{
    fs,
    os::unix::fs::symlink,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use serde_json::{Value, json};

use end_to_end::models::ModelServer;

use crate::{
    product::{Checked, Product},
    servers::Installed,
    table::Row,
};

mod terminal;

use terminal::Terminal;

/// The name that selects this part.
pub(crate) const PART: &str = "first-hour";

/// The settings files of a user of Claude Code and Codex, with three servers, one of which has a plain secret.
const CLAUDE_CODE: &str = r#"{
  "numStartups": 12,
  "mcpServers": {
    "everything": { "type": "stdio", "command": "mcp-server-everything", "args": [] },
    "tickets": { "type": "http", "url": "http://127.0.0.1:9/mcp", "headers": { "Authorization": "Bearer abcdef0123456789" } }
  }
}
"#;
const CODEX: &str = r#"# Settings of Codex
model = "gpt-5" # the default

[mcp_servers.notes]
command = "mcp-server-memory" # a graph
env = { MEMORY_FILE_PATH = "/tmp/notes.json" }
"#;

/// The row of the table.
pub(crate) fn run(installed: &Installed, product: &Product) -> Checked<Row> {
    let model = ModelServer::start(env!("CARGO_BIN_EXE_model-server"), &script());
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let hour = prepare(installed, product, home.path(), &model).map(|mut terminal| {
        let done = hour(&mut terminal, home.path());
        (terminal.into_record(), done)
    });
    let failure = match hour {
        Ok((record, Ok(()))) => compare(&record, home.path(), product.binary()).err(),
        Ok((record, Err(error))) => Some(format!("{error}\n\nthe record until then:\n{record}")),
        Err(error) => Some(error),
    };
    Ok(Row {
        peer: PART.to_owned(),
        version: "-".to_owned(),
        transport: "both",
        protocol: "-".to_owned(),
        tools: "-".to_owned(),
        failure,
    })
}

/// The model calls one tool by a snippet, and then answers.
fn script() -> Value {
    let code = "time::convert_time(\"Asia/Kolkata\", \"12:00\", \"Asia/Tokyo\").await?.time_difference";
    json!({ "rules": [
        { "when": { "turn": 0 }, "answers": [{ "calls": [{ "name": "execute_code", "arguments": { "code": code } }] }] },
        { "answers": [{ "text": "It is half past three in Tokyo." }] },
    ] })
}

/// The home of a user who has two clients, and a terminal in it.
fn prepare(installed: &Installed, product: &Product, home: &Path, model: &ModelServer) -> Checked<Terminal> {
    let failed = |error: std::io::Error| error.to_string();
    for folder in ["bin", ".codex", "notes"] {
        fs::create_dir(home.join(folder)).map_err(failed)?;
    }
    symlink(product.binary(), home.join("bin/toolsmith")).map_err(failed)?;
    let node = installed.folder().join("node_modules/.bin");
    for program in [
        "node",
        "mcp-inspector",
        "mcp-server-everything",
        "mcp-server-filesystem",
        "mcp-server-memory",
        "mcp-server-sequential-thinking",
    ] {
        symlink(node.join(program), home.join("bin").join(program)).map_err(failed)?;
    }
    // npx prefers installed packages to the registry.
    symlink(installed.folder().join("node_modules"), home.join("node_modules")).map_err(failed)?;
    symlink(installed.python("mcp-server-time"), home.join("bin/mcp-server-time")).map_err(failed)?;
    fs::write(home.join(".claude.json"), CLAUDE_CODE).map_err(failed)?;
    fs::write(home.join(".codex/config.toml"), CODEX).map_err(failed)?;
    fs::write(home.join("notes/today.md"), "- call Ana\n- buy tea\n").map_err(failed)?;
    let models =
        json!([{ "ref": "fast", "id": "scripted", "type": "anthropic", "base_url": model.base_url() }]);
    fs::write(home.join("models.yaml"), format!("models: {models}\ndefaults: {{ model: fast }}\n"))
        .map_err(failed)?;
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let search = [path(&home.join("bin")), std::env::var("PATH").map_err(|error| error.to_string())?];
    let (search, cache) = (search.join(":"), path(product.cache()));
    let mut environment = vec![
        ("PATH", search.as_str()),
        ("TOOLSMITH_CACHE_DIR", cache.as_str()),
        ("TERM", "xterm-256color"),
        ("npm_config_offline", "true"),
    ];
    let user = std::env::var("HOME").map_err(|error| error.to_string())?;
    let or = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| format!("{user}/{default}"));
    let (rustup, cargo) = (or("RUSTUP_HOME", ".rustup"), or("CARGO_HOME", ".cargo"));
    environment.extend([("RUSTUP_HOME", rustup.as_str()), ("CARGO_HOME", cargo.as_str())]);
    let toolchain = std::env::var("RUSTUP_TOOLCHAIN").ok();
    environment.extend(toolchain.as_deref().map(|toolchain| ("RUSTUP_TOOLCHAIN", toolchain)));
    Ok(Terminal::new(home, &environment))
}

/// Runs all commands of the hour. At the end, the files of both clients must have their initial content.
fn hour(terminal: &mut Terminal, home: &Path) -> Checked<()> {
    set_up(terminal)?;
    take_over(terminal)?;
    add(terminal)?;
    use_them(terminal)?;
    undo(terminal)?;
    for (path, before) in [(".claude.json", CLAUDE_CODE), (".codex/config.toml", CODEX)] {
        let after = fs::read_to_string(home.join(path)).map_err(|error| format!("{path}: {error}"))?;
        if after != before {
            return Err(format!("{path} has changed:\n{after}"));
        }
    }
    Ok(())
}

fn set_up(terminal: &mut Terminal) -> Checked<()> {
    terminal.heading("Install and set up");
    terminal.types("toolsmith --version", &[], 0)?;
    terminal.types("echo '6 * 7' | toolsmith run -", &[], 0)?;
    terminal.types("toolsmith mcp list", &[], 0)?;
    terminal.types("toolsmith setup", &[("[y/N]", "y\n")], 0)?;
    terminal.shows(".codex/config.toml")
}

fn take_over(terminal: &mut Terminal) -> Checked<()> {
    terminal.heading("Take over the servers of two clients");
    terminal.types(
        "toolsmith adopt codex",
        &[("without asking? [y/N]", "y\n"), ("these files? [y/N]", "y\n")],
        0,
    )?;
    let answers = [("keyring", "e\n"), ("without asking? [y/N]", "y\n"), ("these files? [y/N]", "y\n")];
    terminal.types("toolsmith adopt claude-code", &answers, 0)?;
    terminal.shows(".codex/config.toml")?;
    terminal.shows(".config/toolsmith/config.yaml")
}

/// The command of the README that adds a package of npm.
fn of_readme() -> Checked<String> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("README.md");
    let text = fs::read_to_string(&readme).map_err(|error| format!("{}: {error}", readme.display()))?;
    let found = text.lines().find(|line| line.starts_with("toolsmith mcp add") && line.contains("npx "));
    found.map(str::to_owned).ok_or_else(|| "the README adds no package of npm".to_owned())
}

fn add(terminal: &mut Terminal) -> Checked<()> {
    terminal.heading("Add three servers");
    terminal.types(&of_readme()?, &[("[y/N]", "y\n")], 0)?;
    terminal.types(
        "toolsmith mcp add time --scope user --trust -- mcp-server-time --local-timezone UTC",
        &[],
        0,
    )?;
    terminal.types(
        "toolsmith mcp add think --scope user mcp-server-sequential-thinking",
        &[("[y/N]", "y\n")],
        0,
    )?;
    terminal.types("toolsmith mcp remove tickets --scope user", &[], 0)?;
    terminal.types("toolsmith mcp status", &[], 0)?;
    terminal.types("toolsmith mcp tools time", &[], 0)?;
    terminal.types("toolsmith mcp call files.read_text_file pth=notes/today.md", &[], 2)?;
    terminal.types("toolsmith mcp call files.read_text_file path=notes/today.md", &[], 0)
}

fn use_them(terminal: &mut Terminal) -> Checked<()> {
    terminal.heading("Run, serve, chat, and look at the numbers");
    let snippet = "let text = files::read_text_file(\"notes/today.md\").await?.content;\ntext.lines().map(str::len).collect::<Vec<_>>()";
    terminal.types(&format!("cat > lengths.rs <<'END'\n{snippet}\nEND"), &[], 0)?;
    terminal.types("toolsmith run lengths.rs", &[], 0)?;
    terminal.types("toolsmith setup cursor --print 2>&- > client.json", &[], 0)?;
    terminal.types("mcp-inspector --cli --quiet --config client.json --server toolsmith --method tools/list | grep '\"name\"'", &[], 0)?;
    terminal.types("mcp-inspector --cli --quiet --config client.json --server toolsmith --method tools/call --tool-name execute_code --tool-args-json '{\"code\":\"6 * 7\"}' | grep '\"text\"'", &[], 0)?;
    terminal.types("cat models.yaml >> .config/toolsmith/config.yaml", &[], 0)?;
    terminal.types(
        "toolsmith chat",
        // The last key follows the prompt: what is typed before it may be lost.
        &[("> ", "What time is it in Tokyo when it is noon in Kolkata?\n"), ("written", ""), ("> ", "\u{4}")],
        0,
    )?;
    terminal.types("toolsmith stats", &[], 0)
}

fn undo(terminal: &mut Terminal) -> Checked<()> {
    terminal.heading("Undo everything");
    terminal.types("toolsmith adopt claude-code --undo", &[("[y/N]", "y\n")], 0)?;
    terminal.types("toolsmith adopt codex --undo", &[("[y/N]", "y\n")], 0)?;
    terminal.types("toolsmith setup --remove", &[("[y/N]", "y\n")], 0)?;
    terminal.shows(".config/toolsmith/config.yaml")
}

/// Compares the record with its snapshot.
fn compare(record: &str, home: &Path, binary: &Path) -> Checked<()> {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let escaped = |path: &Path| path.to_string_lossy().replace('.', "\\.");
    let (home, binary) = (escaped(home), escaped(binary));
    for (pattern, replacement) in [
        // Whether a server was started or listed before depends on earlier tests.
        (r"(?m)^toolsmith: info: \w+ is started for the first time: .*\n", ""),
        (r"(?m)^toolsmith: the tools of a server have changed: compiling again .*\n", ""),
        // Slow phases of an execution are shown.
        (r"(?m)^  · execute_code: .*\n", ""),
        // Of equal length, so that tables keep their form.
        (r"/tmp/\.tmp\w{6}", "/home/a-user/at"),
        (home.as_str(), "/home/a-user/at"),
        (binary.as_str(), "[bin]/toolsmith"),
        (r#"("CARGO_HOME": |CARGO_HOME = )"[^"]*""#, "$1\"[cargo]\""),
        (r#"("RUSTUP_HOME": |RUSTUP_HOME = )"[^"]*""#, "$1\"[rustup]\""),
        (r"--resume [0-9a-z]{10}\b", "--resume [id]"),
        (r"(?m)^ SERVER  TOOL .*$", " SERVER  TOOL  CALLS  FAILED  CACHED  [columns]"),
        (r"(?m)^ (\w+) +(\w+) +(\d+) +(\d+) +(\d+) .* ms .*$", " $1  $2  $3  $4  $5  [times and sizes]"),
        // Times are in some texts.
        (r"saved about \d+ tokens", "saved about [number] tokens"),
        (r"/\S*/node_modules", "[packages]/node_modules"),
        (r"/\S*/venv/bin", "[packages]/bin"),
        (r"/\S*/toolsmith-home/cache", "[cache]"),
        (r"127\.0\.0\.1:\d{4,}", "127.0.0.1:[port]"),
        (r"\b\d+(\.\d+)? m?s\b", "[time]"),
    ] {
        settings.add_filter(pattern, replacement);
    }
    let same = catch_unwind(AssertUnwindSafe(|| {
        settings.bind(|| insta::assert_snapshot!("first_hour", record.trim()));
    }));
    same.map_err(|_| "the record differs from its snapshot; accept it with INSTA_UPDATE=always".to_owned())
}
