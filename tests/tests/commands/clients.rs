//! `toolsmith setup`: adds an entry to clients' configurations and leaves everything else unchanged.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use end_to_end::harness::{FinishedRun, Run, binary};
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
    home.ok(&["claude-code"]).says(&["added toolsmith to", ".claude.json"]);
    let entry = json!({ "type": "stdio", "command": program(), "args": ["serve"], "alwaysLoad": true });
    assert_eq!(parsed(&home.read(".claude.json")), json!({ "mcpServers": { "toolsmith": entry } }));
    assert_eq!(home.mode(".claude.json"), 0o600);
    home.ok(&["codex", "--name", "smith"]).says(&["added smith to", ".codex/config.toml"]);
    assert_eq!(home.read(".codex/config.toml"), codex_entry("smith"));
    assert_eq!(home.mode(".codex/config.toml"), 0o600);
}

#[test]
fn the_rest_of_a_file_keeps_its_order_comments_and_mode() {
    let home = Home::new();
    let before = "{\n  \"zebra\": 1.50, // kept\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  },\n  \"alpha\": [1,2]\n}\n";
    home.write(".claude.json", before);
    fs::set_permissions(home.path().join(".claude.json"), fs::Permissions::from_mode(0o640)).unwrap();
    home.ok(&["claude-code"]).says(&[".claude.json.toolsmith-backup"]);
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
    home.ok(&["claude-code"]).says(&["already"]);
    assert_eq!(home.read(".claude.json"), before);
    assert!(!backup.exists());
    home.ok(&["codex"]);
    let text = home.read(".codex/config.toml").replace("1830", "900") + "startup_timeout_sec = 30\n";
    home.write(".codex/config.toml", &text);
    home.ok(&["codex"]).says(&["already"]);
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
    home.setup(&["codex"]).done().exits(2).says(&["url = …"]);
    home.ok(&["codex", "--force"]);
    let text = home.read(".codex/config.toml");
    assert!(
        text.contains(program()) && text.contains("b = { command = \"b\" }") && !text.contains("url"),
        "{text}"
    );
}

#[test]
fn the_configuration_is_recorded_as_an_absolute_path_and_must_be_valid() {
    let home = Home::new();
    home.write("tools.yaml", "mcpServers:\n  mine: { command: x }\n");
    home.ok(&["claude-code", "--config", "tools.yaml"])
        .says(&["calls to tools of mine need your permission", "tools.yaml"]);
    let file = home.path().join("tools.yaml");
    let args = &parsed(&home.read(".claude.json"))["mcpServers"]["toolsmith"]["args"];
    assert_eq!(*args, json!(["serve", "--config", file]));
    home.setup(&["codex", "--config", "none.yaml"]).done().exits(2).says(&["none.yaml"]);
    home.write("odd.yaml", "mcpServers: 7\n");
    home.ok(&["codex", "--config", "odd.yaml"]).says(&["warning", "odd.yaml:1:"]);
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
    assert!(
        text.contains(
            "env = { RUSTUP_HOME = \"/opt/rustup\", XDG_CONFIG_HOME = \"/etc/me\", XDG_STATE_HOME = \"/var/me\" }"
        ),
        "{text}"
    );
}

#[test]
fn the_clients_own_variables_place_its_files() {
    let home = Home::new();
    let elsewhere = home.path().join("elsewhere");
    let folder = elsewhere.to_str().unwrap();
    home.setup(&["claude-code"]).variable("CLAUDE_CONFIG_DIR", folder).done().exits(0);
    home.setup(&["codex"]).variable("CODEX_HOME", folder).done().exits(0);
    assert!(elsewhere.join(".claude.json").is_file() && elsewhere.join("config.toml").is_file());
    home.ok(&["claude-code", "--scope", "project"]).says(&["this machine"]);
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
    assert!(home.read("dotfiles/claude.json").contains("serve"));
    assert_eq!(home.read("dotfiles/claude.json.toolsmith-backup"), "{ \"a\": 1 }\n");
    home.write("dotfiles/claude.json", "");
    home.ok(&["claude-code"]);
    home.ok(&["claude-code", "--remove"]);
    assert!(home.path().join(".claude.json").is_symlink());
    assert!(!home.read("dotfiles/claude.json").contains("serve"));
    symlink("nowhere.toml", home.path().join("config.toml")).unwrap();
    let run = home.setup(&["codex"]).variable("CODEX_HOME", home.path().to_str().unwrap());
    run.done().exits(2).says(&["config.toml can't be read"]);
}

#[test]
fn a_file_with_only_our_entry_that_setup_has_not_created_stays() {
    let home = Home::new();
    home.ok(&["cursor"]);
    let text = home.read(".cursor/mcp.json");
    home.ok(&["cursor", "--remove"]);
    assert!(!home.path().join(".cursor/mcp.json").exists());
    home.write(".cursor/mcp.json", &text);
    home.ok(&["cursor", "--remove"]).says(&[".toolsmith-backup"]);
    assert!(!home.read(".cursor/mcp.json").contains("serve"));
    assert_eq!(home.read(".cursor/mcp.json.toolsmith-backup"), text);
}

#[test]
fn an_unparsable_file_is_left_unchanged() {
    let home = Home::new();
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
        assert!(done.stderr.contains(file) && !done.stderr.contains("panicked"), "{}", done.stderr);
        assert_eq!(home.read(file), text);
        assert!(!home.path().join(format!("{file}.toolsmith-backup")).exists());
    }
}

#[test]
fn printed_entries_have_each_clients_format() {
    let home = Home::new();
    for (client, section, place) in [
        ("claude-code", "mcpServers", "~/.claude.json"),
        ("gemini", "mcpServers", "~/.gemini/settings.json"),
        ("claude-desktop", "mcpServers", "claude_desktop_config.json"),
        ("cursor", "mcpServers", "~/.cursor/mcp.json"),
        ("windsurf", "mcpServers", "~/.codeium/windsurf/mcp_config.json"),
        ("zed", "context_servers", "~/.config/zed/settings.json"),
        ("vscode", "servers", "mcp.json"),
        ("qwen", "mcpServers", "~/.qwen/settings.json"),
        ("copilot", "mcpServers", "~/.copilot/mcp-config.json"),
        ("kimi", "mcpServers", "~/.kimi-code/mcp.json"),
        ("crush", "mcp", "~/.config/crush/crush.json"),
    ] {
        let done = home.ok(&[client, "--print"]).says(&[place]);
        let entry = &parsed(&done.stdout)[section]["toolsmith"];
        assert_eq!((&entry["command"], &entry["args"]), (&json!(program()), &json!(["serve"])), "{client}");
        let is_typed = ["vscode", "claude-code", "copilot", "crush"].contains(&client);
        assert_eq!(entry["type"].is_string(), is_typed, "{client}");
    }
    let done = home.ok(&["opencode", "--print"]).says(&["~/.config/opencode/opencode.json"]);
    assert_eq!(parsed(&done.stdout)["mcp"]["toolsmith"]["command"], json!([program(), "serve"]));
    let done = home.ok(&["codex", "--print", "--name", "smith"]);
    assert!(done.stdout.starts_with("[mcp_servers.smith]\n"), "{}", done.stdout);
    home.setup(&["windsurf", "--scope", "project"])
        .done()
        .exits(2)
        .says(&["no configuration for single projects"]);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn without_a_terminal_servers_that_need_permission_are_reported() {
    let home = Home::new();
    home.with_servers();
    home.ok(&["codex"]).says(&["no terminal", "files, notes", "toolsmith setup codex --trust files"]);
    assert_eq!(home.read(".config/toolsmith/config.yaml"), SERVERS);
    home.ok(&["codex", "--trust", "notes", "--trust", "ruled"]).says(&["ruled already has permissions"]);
    let trusted = home.read(".config/toolsmith/config.yaml");
    assert_eq!(trusted, SERVERS.replace("permission: ask", "permission: allow"));
    home.setup(&["codex", "--trust", "absent"]).done().exits(2).says(&["no server absent"]);
}

#[test]
fn on_a_terminal_it_asks_once_about_each_server() {
    let home = Home::new();
    home.with_servers();
    let question = "Allow calls to its tools without asking?";
    let started = home.in_here(Run::on_terminal(home.path())).arguments(&["setup", "claude-code"]).start();
    started.answer("[y/N] ", 1, "y\n");
    started.answer("[y/N] ", 2, "n\n");
    started.done().exits(0).says(&[
        "files starts: files-mcp",
        "notes starts: notes-mcp",
        "calls to tools of files are now allowed",
    ]);
    let after = home.read(".config/toolsmith/config.yaml");
    assert!(
        after.contains("trust: true") && after.contains("# mine") && after.contains("permission: ask"),
        "{after}"
    );
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
    home.setup(&["opencode"]).variable("RUSTUP_HOME", "/opt/rustup").done().exits(0).says(&["already"]);
    home.write("opencode.jsonc", "{\n  // mine\n  \"theme\": \"dark\"\n}\n");
    home.ok(&["opencode", "--scope", "project"]);
    let text = home.read("opencode.jsonc");
    assert!(text.contains("// mine") && text.contains(program()), "{text}");
    home.ok(&["gemini"]);
    let entry = json!({ "command": program(), "args": ["serve"], "timeout": 1_830_000 });
    assert_eq!(parsed(&home.read(".gemini/settings.json")), json!({ "mcpServers": { "toolsmith": entry } }));
    // The working folder is the home folder, so both scopes share a file.
    home.ok(&["gemini", "--scope", "project"]).says(&["already"]);
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
    home.setup(&["claude-code", "--approve"]).done().exits(2).says(&["--approve", "docs/clients.md"]);
    assert!(!home.path().join(".claude.json").exists());
}

#[test]
fn on_a_terminal_it_asks_whether_the_client_asks_before_each_call() {
    for (answer, is_written) in [("y\n", true), ("n\n", false)] {
        let home = Home::new();
        let started = home.in_here(Run::on_terminal(home.path())).arguments(&["setup", "codex"]).start();
        started.answer("[y/N] ", 1, answer);
        started.done().exits(0).says(&["`codex exec` denies", "Allow codex to call the tools of toolsmith"]);
        let text = home.read(".codex/config.toml");
        assert_eq!(text.contains("approve"), is_written, "{text}");
    }
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
    home.with_path(&["cursor", "--container", "docker"]).done().exits(2).says(&["different toolsmith"]);
    home.ok(&["cursor", "--remove"]).says(&["removed toolsmith from"]);
    assert!(!home.path().join(".cursor/mcp.json").exists(), "it was created by `setup`");
}

#[test]
fn a_missing_container_program_is_reported_and_nothing_is_written() {
    let home = Home::new();
    home.setup(&["codex", "--container", "podman"])
        .variable("PATH", "")
        .done()
        .exits(2)
        .says(&["there is no podman in PATH", "--container docker|podman"]);
    assert!(!home.path().join(".codex").exists());
    home.setup(&["codex", "--image", "x"]).done().exits(2).says(&["--container"]);
}
