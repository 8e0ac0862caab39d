//! `toolsmith setup`: adds an entry to clients' configurations and leaves everything else unchanged.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use end_to_end::harness::{FinishedRun, Run, binary};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home folder.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Home(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// `toolsmith setup` in this home, which is also the working folder.
    pub(crate) fn setup(&self, arguments: &[&str]) -> Run {
        self.in_here(Run::new(self.path())).argument("setup").arguments(arguments)
    }

    pub(crate) fn in_here(&self, run: Run) -> Run {
        let home = self.path().to_str().unwrap();
        // Unsets all variables that setup records.
        [
            "CARGO_HOME",
            "RUSTUP_HOME",
            "TOOLSMITH_CACHE_DIR",
            "XDG_CACHE_HOME",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "DBUS_SESSION_BUS_ADDRESS",
        ]
        .iter()
        .fold(run, |run, name| run.variable(name, ""))
        .variable("HOME", home)
        // Without the clients of this machine.
        .variable("PATH", "/usr/bin:/bin")
        .variable("CLAUDE_CONFIG_DIR", "")
        .variable("CODEX_HOME", "")
        .variable("GEMINI_CLI_HOME", "")
        .variable("COPILOT_HOME", "")
        .variable("KIMI_CODE_HOME", "")
        .variable("CRUSH_GLOBAL_CONFIG", "")
        .working_folder(self.path())
    }

    pub(crate) fn ok(&self, arguments: &[&str]) -> FinishedRun {
        self.setup(arguments).done().exits(0)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let file = self.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap()
    }

    /// Writes an executable of this name, which prints `output`, and returns its path.
    pub(crate) fn with_program(&self, name: &str, output: &str) -> String {
        let path = format!("programs/{name}");
        self.write(&path, &format!("#!/bin/sh\necho '{output}'\n"));
        let program = self.path().join(path);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program.to_str().unwrap().to_owned()
    }

    /// `toolsmith setup`, which finds these programs.
    pub(crate) fn with_path(&self, arguments: &[&str]) -> Run {
        let folder = self.path().join("programs");
        self.setup(arguments).variable("PATH", &format!("{}:/usr/bin:/bin", folder.display()))
    }

    pub(crate) fn mode(&self, file: &str) -> u32 {
        fs::metadata(self.path().join(file)).unwrap().permissions().mode() & 0o777
    }

    /// Writes the user's configuration, with two servers that need permission and two that do not.
    fn with_servers(&self) {
        self.write(".config/toolsmith/config.yaml", SERVERS);
    }
}

const SERVERS: &str = "\
mcpServers:
  files: { command: files-mcp }   # mine
  notes:
    command: notes-mcp
    permission: ask
  trusted: { command: x, trust: true }
  ruled: { command: x, permissions: { read: allow } }
";

pub(crate) fn program() -> &'static str {
    binary().to_str().unwrap()
}

/// The entry of Codex's file.
fn codex_entry(name: &str) -> String {
    format!(
        "[mcp_servers.{name}]\ncommand = {:?}\nargs = [\"serve\"]\ntool_timeout_sec = 1830\n\
         supports_parallel_tool_calls = true\n",
        program()
    )
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_new_client_file_is_readable_only_by_its_user() {
    let home = Home::new();
    assert_snapshot!(normal(&home.ok(&["claude-code"]).stderr), @r"
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.claude.json: [target]/toolsmith serve
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked claude-code: its model sees execute_code whole; 1 note: toolsmith setup claude-code --check
    ");
    let entry = json!({ "type": "stdio", "command": program(), "args": ["serve"], "alwaysLoad": true });
    assert_eq!(parsed(&home.read(".claude.json")), json!({ "mcpServers": { "toolsmith": entry } }));
    assert_eq!(home.mode(".claude.json"), 0o600);
    assert_snapshot!(normal(&home.ok(&["codex", "--name", "smith"]).stderr), @r"
    toolsmith: codex asks before each tool call, and `codex exec` denies it
    help: to allow its calls without asking: toolsmith setup codex --name smith --approve
    toolsmith: added smith to /tmp/.tmpXXXXXX/.codex/config.toml: [target]/toolsmith serve
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex --name smith
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --name smith --check
    ");
    assert_eq!(home.read(".codex/config.toml"), codex_entry("smith"));
    assert_eq!(home.mode(".codex/config.toml"), 0o600);
}

#[test]
fn the_rest_of_a_file_keeps_its_order_comments_and_mode() {
    let home = Home::new();
    let before = "{\n  \"zebra\": 1.50, // kept\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  },\n  \"alpha\": [1,2]\n}\n";
    home.write(".claude.json", before);
    fs::set_permissions(home.path().join(".claude.json"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_snapshot!(normal(&home.ok(&["claude-code"]).stderr), @r"
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.claude.json: [target]/toolsmith serve
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.claude.json.toolsmith-backup
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: claude-code has servers of its own, which snippets can't call: other
    help: move them: toolsmith adopt claude-code
    toolsmith: checked claude-code: its model sees execute_code whole; 1 note: toolsmith setup claude-code --check
    ");
    let after = home.read(".claude.json");
    let (head, tail) = before.split_once("\n  },").unwrap();
    assert!(after.starts_with(head) && after.ends_with(tail), "{after}");
    assert_eq!(home.mode(".claude.json"), 0o640);
    assert_eq!(home.read(".claude.json.toolsmith-backup"), before);
    assert_eq!(home.mode(".claude.json.toolsmith-backup"), 0o640);

    let before =
        "# mine\nmodel = \"o9\" # fast\n\n[mcp_servers.other]\ncommand = 'x'\n\n[zebra]\na = 1979-05-27\n";
    home.write(".codex/config.toml", before);
    home.ok(&["codex"]);
    let after = home.read(".codex/config.toml");
    let entry = codex_entry("toolsmith");
    assert!(after.contains(&entry), "{after}");
    let (one, other) = after.split_once(&entry).unwrap();
    assert_eq!(format!("{one}{other}").replace("\n\n\n", "\n\n").trim(), before.trim());
    assert_eq!(home.read(".codex/config.toml.toolsmith-backup"), before);
}

#[test]
fn a_second_setup_changes_nothing_even_with_added_keys() {
    let home = Home::new();
    home.write(".claude.json", "{}");
    home.ok(&["claude-code"]);
    let backup = home.path().join(".claude.json.toolsmith-backup");
    fs::remove_file(&backup).unwrap();
    let before = home.read(".claude.json");
    assert_snapshot!(normal(&home.ok(&["claude-code"]).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.claude.json already has toolsmith, and is unchanged
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked claude-code: its model sees execute_code whole; 1 note: toolsmith setup claude-code --check
    ");
    assert_eq!(home.read(".claude.json"), before);
    assert!(!backup.exists());
    home.ok(&["codex"]);
    let text = home.read(".codex/config.toml").replace("1830", "900") + "startup_timeout_sec = 30\n";
    home.write(".codex/config.toml", &text);
    assert_snapshot!(normal(&home.ok(&["codex"]).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith, and is unchanged
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    ");
    assert_eq!(home.read(".codex/config.toml"), text);
}

#[test]
fn a_different_entry_is_shown_without_secrets_and_replaced_only_with_force() {
    let home = Home::new();
    let before = r#"{ "mcpServers": { "toolsmith": { "command": "mine", "env": { "KEY": "hunter2" } } } }"#;
    home.write(".claude.json", before);
    let refused =
        home.setup(&["claude-code"]).done().exits(2).says(&["command = \"mine\"", "env = …", "--force"]);
    assert!(!refused.stderr.contains("hunter2"), "{}", refused.stderr);
    assert_eq!(home.read(".claude.json"), before);
    home.ok(&["claude-code", "--force"]);
    let entry = &parsed(&home.read(".claude.json"))["mcpServers"]["toolsmith"];
    assert_eq!(entry["command"], program());
    assert_eq!(home.read(".claude.json.toolsmith-backup"), before);
    home.write(
        ".codex/config.toml",
        "mcp_servers = { toolsmith = { url = \"https://x.example\" }, b = { command = \"b\" } }\n",
    );
    assert_snapshot!(normal(&home.setup(&["codex"]).done().exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has a different toolsmith, and is unchanged
      current entry: url = …
      new entry: [target]/toolsmith serve
    help: replace it: --force
    help: use another name: --name NAME
    ");
    home.ok(&["codex", "--force"]);
    let text = home.read(".codex/config.toml");
    assert_snapshot!(normal(&text), @r#"
    mcp_servers = { toolsmith = { command = "[target]/toolsmith", args = ["serve"], tool_timeout_sec = 1830, supports_parallel_tool_calls = true }, b = { command = "b" } }
    "#);
}

#[test]
fn the_configuration_is_recorded_as_an_absolute_path_and_must_be_valid() {
    let home = Home::new();
    home.write("tools.yaml", "mcpServers:\n  mine: { command: x }\n");
    assert_snapshot!(normal(&home.ok(&["claude-code", "--config", "tools.yaml"]).stderr), @r"
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.claude.json: [target]/toolsmith serve --config /tmp/.tmpXXXXXX/tools.yaml
    toolsmith: calls to tools of mine need your permission: to trust a server, add `trust: true` to its entry in /tmp/.tmpXXXXXX/tools.yaml
    toolsmith: clients have these servers in every folder: mine
    toolsmith: not confined: mine
    help: to confine one: toolsmith mcp sandbox mine --learn
    toolsmith: checked claude-code: its model sees execute_code whole; 1 note: toolsmith setup claude-code --check
    ");
    let file = home.path().join("tools.yaml");
    let args = &parsed(&home.read(".claude.json"))["mcpServers"]["toolsmith"]["args"];
    assert_eq!(*args, json!(["serve", "--config", file]));
    let done = home.setup(&["codex", "--config", "none.yaml"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: the configuration /tmp/.tmpXXXXXX/none.yaml can't be read: there is no such file
    help: check the path of the configuration file
    ");
    home.write("odd.yaml", "mcpServers: 7\n");
    assert_snapshot!(normal(&home.ok(&["codex", "--config", "odd.yaml"]).stderr), @r"
    toolsmith: warning: /tmp/.tmpXXXXXX/odd.yaml:1:13: expected a mapping; write `key: value` lines, or { key: value }
      |
    1 | mcpServers: 7
      |             ^
    toolsmith: codex asks before each tool call, and `codex exec` denies it
    help: to allow its calls without asking: toolsmith setup codex --config odd.yaml --approve
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.codex/config.toml: [target]/toolsmith serve --config /tmp/.tmpXXXXXX/odd.yaml
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex --config odd.yaml
    toolsmith: odd.yaml:1:13: expected a mapping; write `key: value` lines, or { key: value }
      |
    1 | mcpServers: 7
      |             ^
    toolsmith: checked codex: its model does not see the tools: /tmp/.tmpXXXXXX/odd.yaml:1:13: expected a mapping; write `key: value` lines, or { key: value }; |; 1 | mcpServers: 7; |             ^
    ");
}

#[test]
fn unusual_places_of_compilers_and_configuration_are_recorded() {
    let home = Home::new();
    for client in ["claude-code", "codex"] {
        let run = home
            .setup(&[client])
            .variable("RUSTUP_HOME", "/opt/rustup")
            .variable("XDG_CONFIG_HOME", "/etc/me")
            .variable("XDG_STATE_HOME", "/var/me");
        run.done().exits(0);
    }
    let entry = &parsed(&home.read(".claude.json"))["mcpServers"]["toolsmith"];
    let places = json!({
        "RUSTUP_HOME": "/opt/rustup", "XDG_CONFIG_HOME": "/etc/me", "XDG_STATE_HOME": "/var/me",
    });
    assert_eq!(entry["env"], places);
    let text = home.read(".codex/config.toml");
    assert_snapshot!(normal(&text), @r#"
    [mcp_servers.toolsmith]
    command = "[target]/toolsmith"
    args = ["serve"]
    env = { RUSTUP_HOME = "/opt/rustup", XDG_CONFIG_HOME = "/etc/me", XDG_STATE_HOME = "/var/me" }
    tool_timeout_sec = 1830
    supports_parallel_tool_calls = true
    "#);
}

#[test]
fn the_clients_own_variables_place_its_files() {
    let home = Home::new();
    let elsewhere = home.path().join("elsewhere");
    let folder = elsewhere.to_str().unwrap();
    home.setup(&["claude-code"]).variable("CLAUDE_CONFIG_DIR", folder).done().exits(0);
    home.setup(&["codex"]).variable("CODEX_HOME", folder).done().exits(0);
    assert!(elsewhere.join(".claude.json").is_file() && elsewhere.join("config.toml").is_file());
    assert_snapshot!(normal(&home.ok(&["claude-code", "--scope", "project"]).stderr), @r"
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.mcp.json: [target]/toolsmith serve
    toolsmith: its paths are valid only on this machine: check them before you share the file
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked claude-code: its model sees execute_code whole; 1 note: toolsmith setup claude-code --scope project --check
    ");
    home.ok(&["codex", "--scope", "project"]);
    assert_eq!((home.mode(".mcp.json"), home.mode(".codex/config.toml")), (0o644, 0o644));
    assert!(!home.path().join(".claude.json").exists());
}

#[test]
fn a_link_stays_a_link_and_its_target_is_changed() {
    let home = Home::new();
    home.write("dotfiles/claude.json", "{ \"a\": 1 }\n");
    symlink("dotfiles/claude.json", home.path().join(".claude.json")).unwrap();
    home.ok(&["claude-code"]);
    assert!(home.path().join(".claude.json").is_symlink());
    assert_snapshot!(normal(&home.read("dotfiles/claude.json")), @r#"
    { "a": 1, "mcpServers": { "toolsmith": { "type": "stdio", "command": "[target]/toolsmith", "args": ["serve"], "alwaysLoad": true } } }
    "#);
    assert_eq!(home.read("dotfiles/claude.json.toolsmith-backup"), "{ \"a\": 1 }\n");
    home.write("dotfiles/claude.json", "");
    home.ok(&["claude-code"]);
    home.ok(&["claude-code", "--remove"]);
    assert!(home.path().join(".claude.json").is_symlink());
    assert!(!home.read("dotfiles/claude.json").contains("serve"));
    symlink("nowhere.toml", home.path().join("config.toml")).unwrap();
    let run = home.setup(&["codex"]).variable("CODEX_HOME", home.path().to_str().unwrap());
    assert_snapshot!(normal(&run.done().exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/config.toml can't be read: it is a dangling symbolic link
    ");
}

#[test]
fn a_file_with_only_our_entry_that_setup_has_not_created_stays() {
    let home = Home::new();
    home.ok(&["cursor"]);
    let text = home.read(".cursor/mcp.json");
    home.ok(&["cursor", "--remove"]);
    assert!(!home.path().join(".cursor/mcp.json").exists());
    home.write(".cursor/mcp.json", &text);
    assert_snapshot!(normal(&home.ok(&["cursor", "--remove"]).stderr), @r#"
    cursor: /tmp/.tmpXXXXXX/.cursor/mcp.json, in mcpServers
    - "toolsmith": {
    -   "command": "[target]/toolsmith",
    -   "args": [
    -     "serve"
    -   ]
    - }
    toolsmith: removed toolsmith from /tmp/.tmpXXXXXX/.cursor/mcp.json
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.cursor/mcp.json.toolsmith-backup
    "#);
    assert!(!home.read(".cursor/mcp.json").contains("serve"));
    assert_eq!(home.read(".cursor/mcp.json.toolsmith-backup"), text);
}

#[test]
fn an_unparsable_file_is_left_unchanged() {
    let home = Home::new();
    let mut shown = Vec::new();
    for (client, file, text) in [
        ("claude-code", ".claude.json", "{ \"mcpServers\": [] }"),
        ("claude-code", ".claude.json", "{ \"mcpServers\": {"),
        ("claude-code", ".claude.json", "[1]"),
        ("codex", ".codex/config.toml", "mcp_servers = 7\n"),
        ("codex", ".codex/config.toml", "[mcp_servers\n"),
        ("codex", ".codex/config.toml", "[[mcp_servers]]\na = 1\n"),
    ] {
        home.write(file, text);
        let done = home.setup(&[client]).done().exits(2);
        shown.push(normal(&done.stderr));
        assert_eq!(home.read(file), text);
        assert!(!home.path().join(format!("{file}.toolsmith-backup")).exists());
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: /tmp/.tmpXXXXXX/.claude.json is unchanged: its mcpServers is not a table of servers
    help: correct the file in an editor

    toolsmith: /tmp/.tmpXXXXXX/.claude.json can't be read: Unterminated object on line 1 column 18

    toolsmith: /tmp/.tmpXXXXXX/.claude.json can't be read: it is not an object

    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml is unchanged: its mcp_servers is not a table of servers
    help: correct the file in an editor

    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml can't be read: TOML parse error at line 1, column 13
      |
    1 | [mcp_servers
      |             ^
    unclosed table, expected `]`


    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml is unchanged: its mcp_servers is not a table of servers
    help: correct the file in an editor
    ");
}

#[test]
fn printed_entries_have_each_clients_format() {
    let home = Home::new();
    let mut shown = Vec::new();
    for (client, section) in [
        ("claude-code", "mcpServers"),
        ("gemini", "mcpServers"),
        ("claude-desktop", "mcpServers"),
        ("cursor", "mcpServers"),
        ("windsurf", "mcpServers"),
        ("zed", "context_servers"),
        ("vscode", "servers"),
        ("qwen", "mcpServers"),
        ("copilot", "mcpServers"),
        ("kimi", "mcpServers"),
        ("crush", "mcp"),
    ] {
        let done = home.ok(&[client, "--print"]);
        shown.push(normal(&done.stderr));
        let entry = &parsed(&done.stdout)[section]["toolsmith"];
        assert_eq!((&entry["command"], &entry["args"]), (&json!(program()), &json!(["serve"])), "{client}");
        let is_typed = ["vscode", "claude-code", "copilot", "crush"].contains(&client);
        assert_eq!(entry["type"].is_string(), is_typed, "{client}");
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: add it to ~/.claude.json

    toolsmith: add it to ~/.gemini/settings.json

    toolsmith: add it to ~/.config/Claude/claude_desktop_config.json

    toolsmith: add it to ~/.cursor/mcp.json

    toolsmith: add it to ~/.codeium/windsurf/mcp_config.json

    toolsmith: add it to ~/.config/zed/settings.json

    toolsmith: add it to ~/.config/Code/User/mcp.json

    toolsmith: add it to ~/.qwen/settings.json

    toolsmith: add it to ~/.copilot/mcp-config.json

    toolsmith: add it to ~/.kimi-code/mcp.json

    toolsmith: add it to ~/.config/crush/crush.json
    ");
    let done = home.ok(&["opencode", "--print"]);
    assert_snapshot!(normal(&done.stderr), @"toolsmith: add it to ~/.config/opencode/opencode.json");
    assert_eq!(parsed(&done.stdout)["mcp"]["toolsmith"]["command"], json!([program(), "serve"]));
    let done = home.ok(&["codex", "--print", "--name", "smith"]);
    assert!(done.stdout.starts_with("[mcp_servers.smith]\n"), "{}", done.stdout);
    let printed = home.setup(&["windsurf", "--scope", "project"]).done().exits(2);
    assert_snapshot!(normal(&printed.stderr), @r"
    toolsmith: windsurf has no configuration for single projects
    help: leave out --scope project
    ");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn without_a_terminal_servers_that_need_permission_are_reported() {
    let home = Home::new();
    home.with_servers();
    assert_snapshot!(normal(&home.ok(&["codex"]).stderr), @r"
    toolsmith: codex asks before each tool call, and `codex exec` denies it
    help: to allow its calls without asking: toolsmith setup codex --approve
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.codex/config.toml: [target]/toolsmith serve
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: there is no terminal to ask which servers to trust, so calls to tools of files, notes need your permission
    help: to trust one: toolsmith setup codex --trust files
    toolsmith: clients have these servers in every folder: files, notes, ruled, trusted
    toolsmith: not confined: files, notes, ruled, trusted
    help: to confine one: toolsmith mcp sandbox files --learn
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    ");
    assert_eq!(home.read(".config/toolsmith/config.yaml"), SERVERS);
    assert_snapshot!(normal(&home.ok(&["codex", "--trust", "notes", "--trust", "ruled"]).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith, and is unchanged
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: ruled already has permissions, which are unchanged
    toolsmith: calls to tools of notes, ruled are now allowed without asking, in /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: clients have these servers in every folder: files, notes, ruled, trusted
    toolsmith: not confined: files, notes, ruled, trusted
    help: to confine one: toolsmith mcp sandbox files --learn
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    ");
    let trusted = home.read(".config/toolsmith/config.yaml");
    assert_eq!(trusted, SERVERS.replace("permission: ask", "permission: allow"));
    assert_snapshot!(normal(&home.setup(&["codex", "--trust", "absent"]).done().exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith, and is unchanged
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml has no server absent
    help: `toolsmith config show` lists the servers and their files
    ");
}

#[test]
fn on_a_terminal_it_asks_once_about_each_server() {
    let home = Home::new();
    home.with_servers();
    let question = "Allow calls to its tools without asking?";
    let started = home.in_here(Run::on_terminal(home.path())).arguments(&["setup", "claude-code"]).start();
    started.answer("[y/N] ", 1, "y\n");
    started.answer("[y/N] ", 2, "n\n");
    assert_snapshot!(normal(&started.done().exits(0).stderr), @r"
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.claude.json: [target]/toolsmith serve
    toolsmith: files starts: files-mcp
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JAllow calls to its tools without asking? [y/N] y
    toolsmith: notes starts: notes-mcp
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JAllow calls to its tools without asking? [y/N] n
    toolsmith: calls to tools of files are now allowed without asking, in /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: clients have these servers in every folder: files, notes, ruled, trusted
    toolsmith: not confined: files, notes, ruled, trusted
    help: to confine one: toolsmith mcp sandbox files --learn
    toolsmith: checked claude-code: its model sees execute_code whole; 1 note: toolsmith setup claude-code --check
    ");
    let after = home.read(".config/toolsmith/config.yaml");
    assert_snapshot!(normal(&after), @r"
    mcpServers:
      files: { command: files-mcp, trust: true }   # mine
      notes:
        command: notes-mcp
        permission: ask
      trusted: { command: x, trust: true }
      ruled: { command: x, permissions: { read: allow } }
    ");
    let second =
        home.in_here(Run::on_terminal(home.path())).arguments(&["setup", "claude-code"]).done().exits(0);
    assert!(!second.stderr.contains(question), "{}", second.stderr);
}

#[test]
fn opencode_and_gemini_get_entries_in_their_formats() {
    let home = Home::new();
    home.setup(&["opencode"]).variable("RUSTUP_HOME", "/opt/rustup").done().exits(0);
    let entry = json!({
        "type": "local",
        "command": [program(), "serve"],
        "environment": { "RUSTUP_HOME": "/opt/rustup" },
        "timeout": 1_830_000,
    });
    let file = ".config/opencode/opencode.json";
    assert_eq!(parsed(&home.read(file)), json!({ "mcp": { "toolsmith": entry } }));
    assert_eq!(home.mode(file), 0o600);
    // A changed time limit does not make it a different entry.
    home.write(file, &home.read(file).replace("1830000", "900000"));
    let done = home.setup(&["opencode"]).variable("RUSTUP_HOME", "/opt/rustup").done().exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.config/opencode/opencode.json already has toolsmith, and is unchanged
    toolsmith: codemode is left out, because opencode is not in PATH, and versions before 1.18 do not start with it; without it, its own code mode shortens the description; to add it later: toolsmith setup opencode
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked opencode: its model sees execute_code whole
    ");
    home.write("opencode.jsonc", "{\n  // mine\n  \"theme\": \"dark\"\n}\n");
    home.ok(&["opencode", "--scope", "project"]);
    let text = home.read("opencode.jsonc");
    assert_snapshot!(normal(&text), @r#"
    {
      // mine
      "theme": "dark",
      "mcp": {
        "toolsmith": {
          "type": "local",
          "command": ["[target]/toolsmith", "serve"],
          "timeout": 1830000
        }
      }
    }
    "#);
    home.ok(&["gemini"]);
    let entry = json!({ "command": program(), "args": ["serve"], "timeout": 1_830_000 });
    assert_eq!(parsed(&home.read(".gemini/settings.json")), json!({ "mcpServers": { "toolsmith": entry } }));
    // The working folder is the home folder, so both scopes share a file.
    assert_snapshot!(normal(&home.ok(&["gemini", "--scope", "project"]).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.gemini/settings.json already has toolsmith, and is unchanged
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked gemini: its model sees execute_code whole; 1 note: toolsmith setup gemini --scope project --check
    ");
    let elsewhere = home.path().join("elsewhere");
    home.setup(&["gemini"]).variable("GEMINI_CLI_HOME", elsewhere.to_str().unwrap()).done().exits(0);
    assert!(elsewhere.join(".gemini/settings.json").is_file());
}

#[test]
fn the_user_decides_whether_a_client_asks_before_each_call() {
    let home = Home::new();
    for (client, file, key) in [
        ("codex", ".codex/config.toml", "default_tools_approval_mode = \"approve\""),
        ("gemini", ".gemini/settings.json", "\"trust\": true"),
        ("qwen", ".qwen/settings.json", "\"trust\": true"),
    ] {
        home.ok(&[client])
            .says(&["asks before each tool call", &format!("toolsmith setup {client} --approve")]);
        assert!(!home.read(file).contains(key), "{}", home.read(file));
        // Keys added by hand stay.
        let own = home.read(file);
        home.write(file, &if client == "codex" { own + "startup_timeout_sec = 30\n" } else { own });
        home.ok(&[client, "--approve"]).says(&["is now called without asking"]);
        let text = home.read(file);
        assert!(text.contains(key) && text.contains("= 30") == (client == "codex"), "{text}");
        home.ok(&[client, "--approve"]).says(&["already"]);
        home.ok(&[client]).says(&["already"]);
        assert_eq!(home.read(file), text);
        let done = home.ok(&[client, "--print", "--approve"]);
        assert!(done.stdout.contains(key), "{}", done.stdout);
    }
    assert_snapshot!(normal(&home.setup(&["claude-code", "--approve"]).done().exits(2).stderr), @r"
    toolsmith: the entry for claude-code has no setting to call tools without asking
    help: leave out --approve; docs/clients.md describes how to configure claude-code
    ");
    assert!(!home.path().join(".claude.json").exists());
}

#[test]
fn on_a_terminal_it_asks_whether_the_client_asks_before_each_call() {
    let mut shown = Vec::new();
    for (answer, is_written) in [("y\n", true), ("n\n", false)] {
        let home = Home::new();
        let started = home.in_here(Run::on_terminal(home.path())).arguments(&["setup", "codex"]).start();
        started.answer("[y/N] ", 1, answer);
        shown.push(normal(&started.done().exits(0).stderr));
        let text = home.read(".codex/config.toml");
        assert_eq!(text.contains("approve"), is_written, "{text}");
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: codex asks before each tool call, and `codex exec` denies it; Toolsmith's own permissions still apply to the calls of snippets
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JAllow codex to call the tools of toolsmith without asking? [y/N] y
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.codex/config.toml: [target]/toolsmith serve
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked codex: its model sees execute_code whole; 1 note: toolsmith setup codex --check

    toolsmith: codex asks before each tool call, and `codex exec` denies it; Toolsmith's own permissions still apply to the calls of snippets
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JAllow codex to call the tools of toolsmith without asking? [y/N] n
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.codex/config.toml: [target]/toolsmith serve
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    ");
}

/// Puts an executable of this name, which does nothing, into the home's search path.
fn with_program(home: &Home, name: &str) -> String {
    home.with_program(name, "")
}

#[test]
fn an_entry_for_a_container_names_the_image_and_mounts_the_configuration() {
    let home = Home::new();
    home.with_servers();
    home.write("tools.yaml", "mcpServers: { web: { url: \"https://mcp.example.com/mcp\", trust: true } }\n");
    let docker = with_program(&home, "docker");
    let arguments =
        ["cursor", "--container", "docker", "--image", "example/toolsmith:1", "--config", "tools.yaml"];
    home.with_path(&arguments).done().exits(0).says(&["added toolsmith to", "example/toolsmith:1 serve"]);
    let entry = &parsed(&home.read(".cursor/mcp.json"))["mcpServers"]["toolsmith"];
    assert_eq!(entry["command"], json!(docker));
    assert_eq!(entry.get("env"), None);
    let arguments: Vec<&str> =
        entry["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    let real = |path: &str| home.path().join(path).display().to_string();
    for mounted in [
        format!("type=bind,source={},target=/config/toolsmith", real(".config/toolsmith")),
        format!("type=bind,source={},target=/config/named/tools.yaml,readonly", real("tools.yaml")),
    ] {
        assert!(arguments.contains(&mounted.as_str()), "{arguments:?}");
    }
    assert!(arguments.ends_with(&["example/toolsmith:1", "serve", "--config", "/config/named/tools.yaml"]));
    // Once more, and removed.
    let done = home.with_path(&["cursor", "--container", "docker"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/.cursor/mcp.json already has a different toolsmith, and is unchanged
      current entry: command = "/tmp/.tmpXXXXXX/programs/docker", args = ["run","--interactive","--rm","--read-only","--tmpfs","/tmp","--user","…","--env","TOOLSMITH_DEPTH","--volume","…","--volume","…","--mount","…","--mount","…","…","serve","--config","/config/named/tools.yaml"]
      new entry: /tmp/.tmpXXXXXX/programs/docker run --interactive --rm --read-only --tmpfs /tmp --user 0:0 --env TOOLSMITH_DEPTH --volume toolsmith-cache:/cache --volume toolsmith-state:/state --mount type=bind,source=/tmp/.tmpXXXXXX/.config/toolsmith,target=/config/toolsmith toolsmith serve
    help: replace it: --force
    help: use another name: --name NAME
    "#);
    assert_snapshot!(normal(&home.ok(&["cursor", "--remove"]).stderr), @r#"
    cursor: /tmp/.tmpXXXXXX/.cursor/mcp.json, in mcpServers
    - "toolsmith": {
    -   "command": "/tmp/.tmpXXXXXX/programs/docker",
    -   "args": [
    -     "run",
    -     "--interactive",
    -     "--rm",
    -     "--read-only",
    -     "--tmpfs",
    -     "/tmp",
    -     "--user",
    -     "0:0",
    -     "--env",
    -     "TOOLSMITH_DEPTH",
    -     "--volume",
    -     "toolsmith-cache:/cache",
    -     "--volume",
    -     "toolsmith-state:/state",
    -     "--mount",
    -     "type=bind,source=/tmp/.tmpXXXXXX/.config/toolsmith,target=/config/toolsmith",
    -     "--mount",
    -     "type=bind,source=/tmp/.tmpXXXXXX/tools.yaml,target=/config/named/tools.yaml,readonly",
    -     "example/toolsmith:1",
    -     "serve",
    -     "--config",
    -     "/config/named/tools.yaml"
    -   ]
    - }
    toolsmith: removed toolsmith from /tmp/.tmpXXXXXX/.cursor/mcp.json, which is as it was before, byte by byte
    "#);
    assert!(!home.path().join(".cursor/mcp.json").exists(), "it was created by `setup`");
}

#[test]
fn a_missing_container_program_is_reported_and_nothing_is_written() {
    let home = Home::new();
    let done = home.setup(&["codex", "--container", "podman"]).variable("PATH", "").done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: there is no podman in PATH
    help: install podman, or name another program: --container docker|podman
    ");
    assert!(!home.path().join(".codex").exists());
    assert_snapshot!(normal(&home.setup(&["codex", "--image", "x"]).done().exits(2).stderr), @r"
    error: the following required arguments were not provided:
      --container <PROGRAM>

    Usage: toolsmith setup --container <PROGRAM> --image <NAME> <CLIENT>...

    For more information, try '--help'.
    ");
}
