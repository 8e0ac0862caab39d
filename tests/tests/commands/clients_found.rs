//! `toolsmith setup` without a client: finds the installed clients, changes their files after one yes, and takes the
//! entries out again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use end_to_end::harness::Run;
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::clients::{Home, program};

/// A file of each client, with a comment where the client allows one: the file, the section, and the text.
const FILES: [(&str, &str, &str); 14] = [
    (".claude.json", "/mcpServers", "{\n  \"numStartups\": 3\n}\n"),
    (".config/Claude/claude_desktop_config.json", "/mcpServers", "{\n  \"globalShortcut\": \"\"\n}\n"),
    (".codex/config.toml", "/mcp_servers", "# mine\nmodel = \"o9\" # fast\n"),
    (".cursor/mcp.json", "/mcpServers", "{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } }\n"),
    (".config/Code/User/mcp.json", "/servers", "{\n  // mine\n  \"inputs\": [],\n}\n"),
    (".gemini/settings.json", "/mcpServers", "{\n  // mine\n  \"theme\": \"Dracula\"\n}\n"),
    (".config/opencode/opencode.json", "/mcp", "{\n  // mine\n  \"theme\": \"dark\"\n}\n"),
    (".config/zed/settings.json", "/context_servers", "// mine\n{\n  \"theme\": \"One Dark\", // dark\n}\n"),
    (".codeium/windsurf/mcp_config.json", "/mcpServers", "{}\n"),
    (".qwen/settings.json", "/mcpServers", "{\n  // mine\n  \"ui\": { \"theme\": \"Ayu\" }\n}\n"),
    (
        ".copilot/mcp-config.json",
        "/mcpServers",
        "{ \"mcpServers\": { \"a\": { \"type\": \"http\", \"tools\": [\"*\"] } } }\n",
    ),
    (".config/goose/config.yaml", "/extensions", GOOSE),
    (".kimi-code/mcp.json", "/mcpServers", "{}\n"),
    (".config/crush/crush.json", "/mcp", "{\n  \"$schema\": \"https://charm.land/crush.json\"\n}\n"),
];

/// As goose writes it, and with comments.
const GOOSE: &str = "\
# mine
GOOSE_PROVIDER: openai   # fast
extensions:
  developer:
    bundled: true
    enabled: true
    name: developer
    timeout: 300
    type: builtin

  # files
  filesystem:
    type: stdio
    name: filesystem
    enabled: true
    cmd: npx
    args: [\"-y\", \"@modelcontextprotocol/server-filesystem\", \"/tmp\"]
    env_keys: []
    envs: {}
    timeout: 300

# the end
GOOSE_MODE: smart_approve
GOOSE_SEARCH_PATHS:
  - \"/usr/local/bin\"
";

fn with_all_clients() -> Home {
    let home = Home::new();
    FILES.iter().for_each(|(file, _, text)| home.write(file, text));
    home
}

fn content(file: &str, text: &str) -> Value {
    if file.ends_with(".toml") {
        return toml::from_str(text).unwrap();
    }
    if file.ends_with(".yaml") {
        return serde_saphyr::from_str(text).unwrap();
    }
    // Comments and trailing commas of these fixtures.
    let plain: Vec<&str> = text.lines().map(|line| line.split(" //").next().unwrap().trim()).collect();
    let plain: Vec<&str> = plain.into_iter().filter(|line| !line.starts_with("//")).collect();
    serde_json::from_str(&plain.join("").replace(",}", "}")).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn entry(home: &Home, file: &str, section: &str) -> Value {
    content(file, &home.read(file)).pointer(&format!("{section}/toolsmith")).cloned().unwrap_or_default()
}

#[test]
fn all_installed_clients_get_the_entry_in_their_own_format() {
    let home = with_all_clients();
    let done =
        home.ok(&["--yes"]).says(&["+ \"toolsmith\": {", "+ [mcp_servers.toolsmith]", "setup --remove"]);
    for (file, section, before) in FILES {
        let entry = entry(&home, file, section);
        let line = if file.contains("opencode") { json!([program(), "serve"]) } else { json!(program()) };
        let command = if file.contains("goose") { &entry["cmd"] } else { &entry["command"] };
        assert_eq!(*command, line, "{file}");
        let text = home.read(file);
        for comment in ["# mine", "# fast", "// mine", "// dark"] {
            assert_eq!(text.contains(comment), before.contains(comment), "{file}: {text}");
        }
        assert_eq!(home.read(&format!("{file}.toolsmith-backup")), before);
        assert!(done.stderr.contains(file), "{}", done.stderr);
    }
    assert_snapshot!(normal(&home.ok(&["--yes"]).stderr), @r"
    claude-code: /tmp/.tmpXXXXXX/.claude.json already has toolsmith
    claude-desktop: /tmp/.tmpXXXXXX/.config/Claude/claude_desktop_config.json already has toolsmith
    codex: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    cursor: /tmp/.tmpXXXXXX/.cursor/mcp.json already has toolsmith
    vscode: /tmp/.tmpXXXXXX/.config/Code/User/mcp.json already has toolsmith
    gemini: /tmp/.tmpXXXXXX/.gemini/settings.json already has toolsmith
    opencode: /tmp/.tmpXXXXXX/.config/opencode/opencode.json already has toolsmith
    toolsmith: codemode is left out, because opencode is not in PATH, and versions before 1.18 do not start with it; without it, its own code mode shortens the description; to add it later: toolsmith setup opencode
    zed: /tmp/.tmpXXXXXX/.config/zed/settings.json already has toolsmith
    windsurf: /tmp/.tmpXXXXXX/.codeium/windsurf/mcp_config.json already has toolsmith
    qwen: /tmp/.tmpXXXXXX/.qwen/settings.json already has toolsmith
    copilot: /tmp/.tmpXXXXXX/.copilot/mcp-config.json already has toolsmith
    goose: /tmp/.tmpXXXXXX/.config/goose/config.yaml already has toolsmith
    kimi: /tmp/.tmpXXXXXX/.kimi-code/mcp.json already has toolsmith
    crush: /tmp/.tmpXXXXXX/.config/crush/crush.json already has toolsmith
    toolsmith: nothing to change
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: cursor has servers of its own, which snippets can't call: a
    help: move them: toolsmith adopt cursor
    toolsmith: copilot has servers of its own, which snippets can't call: a
    help: move them: toolsmith adopt copilot
    toolsmith: checked claude-code: its model sees execute_code whole; 1 note: toolsmith setup claude-code --check
    toolsmith: checked claude-desktop: execute_code has 1549 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup claude-desktop --check
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    toolsmith: checked cursor: execute_code has 1549 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup cursor --check
    toolsmith: checked vscode: execute_code has 1549 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup vscode --check
    toolsmith: checked gemini: its model sees execute_code whole; 1 note: toolsmith setup gemini --check
    toolsmith: checked opencode: its model sees execute_code whole
    toolsmith: checked zed: execute_code has 1549 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup zed --check
    toolsmith: checked windsurf: execute_code has 1549 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup windsurf --check
    toolsmith: checked qwen: its model sees execute_code whole; 1 note: toolsmith setup qwen --check
    toolsmith: checked copilot: its model sees execute_code whole; 1 note: toolsmith setup copilot --check
    toolsmith: checked goose: its model sees execute_code whole
    toolsmith: checked kimi: execute_code has 1549 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup kimi --check
    toolsmith: checked crush: execute_code has 1549 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup crush --check
    ");
}

#[test]
fn an_entry_that_lacks_keys_is_completed_and_only_these_are_shown() {
    let home = Home::new();
    let entry = json!({ "command": program(), "args": ["serve"], "timeout": 900 });
    home.write(".qwen/settings.json", &json!({ "mcpServers": { "toolsmith": entry } }).to_string());
    let done = home.ok(&["--yes"]);
    assert_snapshot!(normal(&done.stderr), @r#"
    qwen: /tmp/.tmpXXXXXX/.qwen/settings.json, in mcpServers
    + "toolsmith": {
    +   "alwaysLoadTools": true
    + }
    toolsmith: completed toolsmith in /tmp/.tmpXXXXXX/.qwen/settings.json
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.qwen/settings.json.toolsmith-backup
    toolsmith: qwen asks before each tool call
    help: to allow its calls without asking: toolsmith setup qwen --approve
    toolsmith: restart the clients to load it; to remove it again: toolsmith setup --remove
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked qwen: its model sees execute_code whole; 1 note: toolsmith setup qwen --check
    "#);
}

#[test]
fn only_installed_clients_are_changed_and_new_files_are_private() {
    let home = Home::new();
    fs::create_dir_all(home.path().join(".cursor")).unwrap();
    let done = home.ok(&["--yes"]);
    assert_snapshot!(normal(&done.stderr), @r#"
    cursor: /tmp/.tmpXXXXXX/.cursor/mcp.json (new file), in mcpServers
    + "toolsmith": {
    +   "command": "[target]/toolsmith",
    +   "args": [
    +     "serve"
    +   ]
    + }
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.cursor/mcp.json
    toolsmith: restart the clients to load it; to remove it again: toolsmith setup --remove
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked cursor: execute_code has 1549 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup cursor --check
    "#);
    assert_eq!(done.stderr.matches("(new file)").count(), 1, "{}", done.stderr);
    assert_eq!(home.mode(".cursor/mcp.json"), 0o600);
    let none = Home::new();
    assert_snapshot!(normal(&none.setup(&["--yes"]).done().exits(2).stderr), @r"
    toolsmith: no MCP client is found on this machine; Toolsmith knows claude-code, claude-desktop, codex, cursor, vscode, gemini, opencode, zed, windsurf, qwen, copilot, goose, kimi, crush
    help: to set up one before it is installed: toolsmith setup CLIENT
    help: for another client, adapt an entry: toolsmith setup claude-desktop --print
    ");
}

#[test]
fn without_a_terminal_nothing_is_changed_before_a_yes() {
    let home = with_all_clients();
    let says = ["+ \"toolsmith\": {", "nothing is changed", "toolsmith setup --yes"];
    home.setup(&[]).done().exits(2).says(&says);
    FILES.iter().for_each(|(file, _, text)| assert_eq!(home.read(file), *text));
    assert!(!home.path().join(".claude.json.toolsmith-backup").exists());
}

#[test]
fn one_answer_decides_about_all_files() {
    for (answer, code) in [("y\n", 0), ("n\n", 2)] {
        let home = with_all_clients();
        let started = home.in_here(Run::on_terminal(home.path())).argument("setup").start();
        started.answer("[y/N] ", 1, answer);
        let done = started.done().exits(code).says(&["Change these files?"]);
        assert_eq!(done.stderr.matches("[y/N]").count(), 1, "{}", done.stderr);
        assert_eq!(entry(&home, ".claude.json", "/mcpServers").is_object(), code == 0);
    }
}

#[test]
fn removal_restores_each_file_byte_by_byte() {
    let home = with_all_clients();
    home.ok(&["--yes"]);
    home.setup(&["--remove"]).done().exits(2).says(&["- \"toolsmith\": {", "setup --remove --yes"]);
    home.ok(&["--remove", "--yes"]).says(&["removed toolsmith from", "as it was before, byte by byte"]);
    for (file, _, before) in FILES {
        assert_eq!(home.read(file), before, "{file}");
        assert!(!home.path().join(format!("{file}.toolsmith-backup")).exists(), "{file}");
    }
    assert_snapshot!(normal(&home.ok(&["--remove"]).stderr), @r"
    toolsmith: no client has an entry toolsmith; nothing is changed
    ");
    assert_snapshot!(normal(&home.setup(&["cursor", "--remove"]).done().exits(2).stderr), @r"
    toolsmith: cursor has no entry toolsmith
    help: to name another entry: --name NAME
    ");
    // A file that `setup` has created is gone again.
    for (file, _, _) in FILES {
        fs::remove_file(home.path().join(file)).unwrap();
    }
    home.ok(&["--yes"]);
    home.ok(&["--remove", "--yes"]);
    for (file, _, _) in FILES {
        assert!(!home.path().join(file).exists(), "{file}");
    }
}

#[test]
fn of_a_file_that_has_changed_since_only_our_entry_is_removed_and_its_first_backup_stays() {
    let home = with_all_clients();
    home.ok(&["--yes"]);
    for (file, _, _) in FILES {
        let text = home.read(file);
        let changed = match file.rsplit('.').next() {
            Some("json") => text.replacen('{', "{\n  \"later\": 1,", 1),
            Some("toml") => format!("later = 1\n{text}"),
            _ => format!("{text}later: 1\n"),
        };
        home.write(file, &changed);
    }
    home.ok(&["--remove", "--yes"]).says(&["removed toolsmith from", ".toolsmith-backup-2"]);
    for (file, section, before) in FILES {
        let (mut now, mut then) = (content(file, &home.read(file)), content(file, before));
        then["later"] = json!(1);
        let section = section.trim_start_matches('/');
        for content in [&mut now, &mut then] {
            if content[section].as_object().is_none_or(serde_json::Map::is_empty) {
                content.as_object_mut().unwrap().remove(section);
            }
        }
        assert_eq!(now, then, "{file}");
        let text = home.read(file);
        assert!(!before.contains("mine") || text.contains("mine"), "{text}");
        assert_eq!(home.read(&format!("{file}.toolsmith-backup")), before);
    }
}

#[test]
fn other_forms_of_a_goose_file_are_changed_and_put_back_too() {
    let mut shown = Vec::new();
    for before in [
        "GOOSE_MODEL: x\n",
        "extensions:\nGOOSE_MODEL: x\n",
        "extensions:\r\n  memory:\r\n    type: builtin\r\n    enabled: true\r\nA: 1\r\n",
        "extensions:\n  zeta:\n    enabled: true\n    available_tools:\n    - a\n    # kept\n\n# end\nA: \"x\"\nB:\n- c: d\n",
    ] {
        let home = Home::new();
        let file = ".config/goose/config.yaml";
        home.write(file, before);
        home.ok(&["goose"]);
        let after = home.read(file);
        let entry = &content(file, &after)["extensions"]["toolsmith"];
        assert_eq!((&entry["name"], &entry["args"]), (&json!("toolsmith"), &json!(["serve"])), "{after}");
        shown.push(normal(&home.ok(&["goose"]).stderr));
        home.ok(&["goose", "--remove"]);
        assert_eq!(home.read(file), before);
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: /tmp/.tmpXXXXXX/.config/goose/config.yaml already has toolsmith, and is unchanged
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked goose: its model sees execute_code whole

    toolsmith: /tmp/.tmpXXXXXX/.config/goose/config.yaml already has toolsmith, and is unchanged
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked goose: its model sees execute_code whole

    toolsmith: /tmp/.tmpXXXXXX/.config/goose/config.yaml already has toolsmith, and is unchanged
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked goose: its model sees execute_code whole

    toolsmith: /tmp/.tmpXXXXXX/.config/goose/config.yaml already has toolsmith, and is unchanged
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked goose: its model sees execute_code whole
    ");
}

#[test]
fn an_entry_that_is_not_ours_stays() {
    let home = Home::new();
    let before = r#"{ "mcpServers": { "toolsmith": { "command": "other", "env": { "KEY": "hunter2" } } } }"#;
    home.write(".cursor/mcp.json", before);
    assert_snapshot!(normal(&home.setup(&["cursor", "--remove"]).done().exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.cursor/mcp.json is unchanged: its toolsmith does not start `toolsmith serve`
    help: to name another entry: --name NAME
    ");
    let done = home.ok(&["--yes"]);
    assert_snapshot!(normal(&done.stderr), @r#"
    cursor: /tmp/.tmpXXXXXX/.cursor/mcp.json has a different toolsmith, which stays: command = "other", env = …
      to replace it: toolsmith setup cursor --force
    toolsmith: nothing to change
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    "#);
    assert_eq!(home.read(".cursor/mcp.json"), before);
}

#[test]
fn a_file_that_cannot_be_read_does_not_stop_the_others() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{ \"mcpServers\": ");
    home.write(".gemini/settings.json", "{}");
    assert_snapshot!(normal(&home.ok(&["--yes"]).stderr), @r#"
    toolsmith: cursor is left out: /tmp/.tmpXXXXXX/.cursor/mcp.json can't be read: unexpected end of input on line 1 column 1
    gemini: /tmp/.tmpXXXXXX/.gemini/settings.json, in mcpServers
    + "toolsmith": {
    +   "command": "[target]/toolsmith",
    +   "args": [
    +     "serve"
    +   ],
    +   "timeout": 1830000
    + }
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.gemini/settings.json
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.gemini/settings.json.toolsmith-backup
    toolsmith: gemini asks before each tool call, and leaves tools out if it can't ask (`gemini -p`)
    help: to allow its calls without asking: toolsmith setup gemini --approve
    toolsmith: restart the clients to load it; to remove it again: toolsmith setup --remove
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked gemini: its model sees execute_code whole; 1 note: toolsmith setup gemini --check
    "#);
    assert!(entry(&home, ".gemini/settings.json", "/mcpServers").is_object());
}

#[test]
fn a_second_form_of_opencode_gets_the_entry_where_it_reads_it() {
    let home = Home::new();
    home.write("opencode.json", r#"{ "mcp": { "servers": {} } }"#);
    home.ok(&["opencode", "--scope", "project"]);
    let content = content("opencode.json", &home.read("opencode.json"));
    let entry = &content["mcp"]["servers"]["toolsmith"];
    assert_eq!((&entry["type"], &entry["timeout"]["request"]), (&json!("local"), &json!(1_830_000)));
    assert_eq!(entry["codemode"], json!(false));
    // An entry that lacks the keys gets them in this form too.
    let bare = json!({ "type": "local", "command": [program(), "serve"] });
    let text = json!({ "mcp": { "servers": { "toolsmith": bare } } });
    home.write("opencode.json", &text.to_string());
    assert_snapshot!(normal(&home.ok(&["opencode", "--scope", "project"]).stderr), @r"
    toolsmith: added timeout, codemode to toolsmith in /tmp/.tmpXXXXXX/opencode.json
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/opencode.json.toolsmith-backup-2
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked opencode: its model sees execute_code whole
    ");
    assert_eq!(self::content("opencode.json", &home.read("opencode.json")), content);
}

#[test]
fn desktop_clients_get_the_search_path_that_a_server_needs() {
    let home = Home::new();
    home.write(".config/toolsmith/config.yaml", "mcpServers:\n  a: { command: rare-mcp, args: [x] }\n");
    home.write("tools/rare-mcp", "");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(home.path().join("tools/rare-mcp"), mode).unwrap();
    let path = format!("/usr/bin:{}", home.path().join("tools").display());
    for client in ["cursor", "claude-code"] {
        home.setup(&[client]).variable("PATH", &path).done().exits(0);
    }
    assert_eq!(entry(&home, ".cursor/mcp.json", "/mcpServers")["env"]["PATH"], json!(path));
    assert!(entry(&home, ".claude.json", "/mcpServers").get("env").is_none());
    // Another search path does not make it a different entry.
    let done = home.setup(&["cursor"]).variable("PATH", "/usr/bin:/bin").done().exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.cursor/mcp.json already has toolsmith, and is unchanged
    toolsmith: clients have these servers in every folder: a
    toolsmith: not confined: a
    help: to confine one: toolsmith mcp sandbox a --learn
    toolsmith: checked cursor: execute_code has 1507 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup cursor --check
    ");
}

/// A user's own server, and a project that has one more.
fn with_own_and_project(home: &Home) {
    let program = program();
    home.write(
        ".config/toolsmith/config.yaml",
        &format!("mcpServers:\n  shop: {{ command: {program:?}, args: [demo-server], trust: true }}\n"),
    );
    let project = format!(
        "# ours\nmcpServers:\n  tools: {{ command: {program:?}, args: [demo-server], permission: deny }}\n  sub: {{ command: {program:?}, args: [demo-server], cwd: below }}\n  web: {{ url: \"http://127.0.0.1:9/mcp\" }}\n"
    );
    home.write("toolsmith.yaml", &project);
    home.write("below/a", "");
    home.in_here(Run::new(home.path())).arguments(&["trust", "--yes"]).done().exits(0);
}

#[test]
fn it_says_which_servers_the_entry_has_and_moves_those_of_a_project() {
    let home = Home::new();
    home.write(".codex/config.toml", "[mcp_servers.notes]\ncommand = \"notes-mcp\"\n");
    assert_snapshot!(normal(&home.ok(&["--yes"]).stderr), @r#"
    codex: /tmp/.tmpXXXXXX/.codex/config.toml, in mcp_servers
    + [mcp_servers.toolsmith]
    + command = "[target]/toolsmith"
    + args = ["serve"]
    + tool_timeout_sec = 1830
    + supports_parallel_tool_calls = true
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.codex/config.toml
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.codex/config.toml.toolsmith-backup
    toolsmith: codex asks before each tool call, and `codex exec` denies it
    help: to allow its calls without asking: toolsmith setup codex --approve
    toolsmith: restart the clients to load it; to remove it again: toolsmith setup --remove
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: codex has servers of its own, which snippets can't call: notes
    help: move them: toolsmith adopt codex
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    "#);
    with_own_and_project(&home);
    let here = home.path().canonicalize().unwrap();
    let file = here.join("toolsmith.yaml");
    let before = home.read("toolsmith.yaml");
    assert_snapshot!(normal(&home.ok(&["--yes"]).stderr), @r"
    codex: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: nothing to change
    toolsmith: clients have these servers in every folder: shop
    toolsmith: in the folder of /tmp/.tmpXXXXXX/toolsmith.yaml, they also have: sub, tools, web
    help: to have them in every folder: toolsmith setup --yes --move-servers
    toolsmith: codex has servers of its own, which snippets can't call: notes
    help: move them: toolsmith adopt codex
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    ");
    assert_snapshot!(normal(&home.ok(&["codex"]).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith, and is unchanged
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: clients have these servers in every folder: shop
    toolsmith: in the folder of /tmp/.tmpXXXXXX/toolsmith.yaml, they also have: sub, tools, web
    help: to have them in every folder: toolsmith setup codex --move-servers
    toolsmith: codex has servers of its own, which snippets can't call: notes
    help: move them: toolsmith adopt codex
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    ");
    assert_snapshot!(normal(&home.ok(&["codex", "--move-servers"]).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith, and is unchanged
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: moved sub, tools, web from /tmp/.tmpXXXXXX/toolsmith.yaml to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: removed /tmp/.tmpXXXXXX/toolsmith.yaml, because it has no other setting
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/toolsmith.yaml.toolsmith-backup
    toolsmith: clients have these servers in every folder: shop, sub, tools, web
    toolsmith: codex has servers of its own, which snippets can't call: notes
    help: move them: toolsmith adopt codex
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    ");
    // The next `mcp add` writes the user's own file again.
    assert!(!file.exists());
    assert_eq!(home.read("toolsmith.yaml.toolsmith-backup"), before);
    let text = home.read(".config/toolsmith/config.yaml");
    let moved: Value = serde_saphyr::from_str(&text).unwrap();
    let program = program();
    // Programs start where they would have started in the project.
    assert_eq!(
        moved["mcpServers"],
        json!({
            "shop": { "command": program, "args": ["demo-server"], "trust": true },
            "sub": { "command": program, "args": ["demo-server"], "cwd": here.join("below") },
            "tools": { "command": program, "args": ["demo-server"], "permission": "deny", "cwd": here },
            "web": { "url": "http://127.0.0.1:9/mcp" },
        }),
        "{text}"
    );
}

#[test]
fn without_a_server_that_can_be_moved_it_says_why_and_changes_nothing() {
    let home = Home::new();
    home.write(".codex/config.toml", "");
    let refused = |arguments: &[&str], why: &[&str]| {
        home.setup(&[arguments, &["--yes", "--move-servers"]].concat()).done().exits(2).says(why);
        assert_eq!(home.read(".codex/config.toml"), "");
    };
    refused(&[], &["no server can be moved: this folder has no project's configuration"]);
    with_own_and_project(&home);
    let before = home.read("toolsmith.yaml");
    let trust = || home.in_here(Run::new(home.path())).arguments(&["trust", "--yes"]).done().exits(0);
    refused(&["--scope", "project"], &["no server can be moved: with --scope project"]);
    home.write("toolsmith.yaml", "mcpServers: {}\n");
    trust();
    refused(&[], &["no server can be moved: ", "has none that your own configuration lacks"]);
    // Elsewhere, the tool would no longer be denied.
    home.write("toolsmith.yaml", &format!("{before}globalSettings: {{ deny: [tools.cancel_order] }}\n"));
    trust();
    refused(&[], &["no server can be moved: globalSettings in ", "would no longer restrict it"]);
    home.write("toolsmith.yaml", &before);
    trust();
    home.write("toolsmith.lock", "{ \"version\": 1, \"servers\": {} }\n");
    refused(&[], &["no server can be moved: ", "is no longer trusted", "`toolsmith trust`"]);
    trust();
    refused(&[], &["no server can be moved: ", "toolsmith.lock would no longer restrict it"]);
    let locked = home.ok(&["--yes"]);
    assert_snapshot!(normal(&locked.stderr), @r#"
    codex: /tmp/.tmpXXXXXX/.codex/config.toml, in mcp_servers
    + [mcp_servers.toolsmith]
    + command = "[target]/toolsmith"
    + args = ["serve"]
    + tool_timeout_sec = 1830
    + supports_parallel_tool_calls = true
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.codex/config.toml
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.codex/config.toml.toolsmith-backup
    toolsmith: codex asks before each tool call, and `codex exec` denies it
    help: to allow its calls without asking: toolsmith setup codex --approve
    toolsmith: restart the clients to load it; to remove it again: toolsmith setup --remove
    toolsmith: clients have these servers in every folder: shop
    toolsmith: in the folder of /tmp/.tmpXXXXXX/toolsmith.yaml, they also have: sub, tools, web
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    "#);
    assert_eq!(home.read("toolsmith.yaml"), before);
}

#[test]
fn on_a_terminal_it_asks_once_whether_to_move_the_servers_of_a_project() {
    let home = Home::new();
    with_own_and_project(&home);
    let run = |arguments: &[&str], questions: &[(&str, &str)]| {
        let words = [&["setup"], arguments].concat();
        let run = home.in_here(Run::on_terminal(home.path())).arguments(&words).start();
        questions.iter().for_each(|(question, answer)| run.answer(question, 1, &format!("{answer}\n")));
        run.done().exits(0)
    };
    let question = "for all folders? [y/N]";
    home.write(".codex/config.toml", "");
    let no = run(&[], &[("Change this file? [y/N]", "y"), (question, "n")]);
    assert_snapshot!(normal(&no.stderr), @r#"
    codex: /tmp/.tmpXXXXXX/.codex/config.toml, in mcp_servers
    + [mcp_servers.toolsmith]
    + command = "[target]/toolsmith"
    + args = ["serve"]
    + tool_timeout_sec = 1830
    + supports_parallel_tool_calls = true
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JChange this file? [y/N] y
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.codex/config.toml
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.codex/config.toml.toolsmith-backup
    toolsmith: codex asks before each tool call, and `codex exec` denies it
    help: to allow its calls without asking: toolsmith setup codex --approve
    toolsmith: restart the clients to load it; to remove it again: toolsmith setup --remove
    toolsmith: sub starts: [target]/toolsmith demo-server
    toolsmith: tools starts: [target]/toolsmith demo-server
    toolsmith: web connects to: http://127.0.0.1:[port]/mcp
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JOnly clients that start in this folder have sub, tools, web. Move to your own configuration, for all folders? [y/N] n
    toolsmith: clients have these servers in every folder: shop
    toolsmith: in the folder of /tmp/.tmpXXXXXX/toolsmith.yaml, they also have: sub, tools, web
    help: to have them in every folder: toolsmith setup --move-servers
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    "#);
    // Neither without a change of a client's file, nor with `--yes`.
    let again = run(&[], &[]);
    home.write(".codex/config.toml", "");
    let yes = run(&["--yes"], &[]);
    for done in [again, yes] {
        assert!(!done.stderr.contains(question), "{done:#?}");
    }
    home.write(".codex/config.toml", "");
    let moved = run(&[], &[("Change this file? [y/N]", "y"), (question, "y")]);
    assert_snapshot!(normal(&moved.stderr), @r#"
    codex: /tmp/.tmpXXXXXX/.codex/config.toml, in mcp_servers
    + [mcp_servers.toolsmith]
    + command = "[target]/toolsmith"
    + args = ["serve"]
    + tool_timeout_sec = 1830
    + supports_parallel_tool_calls = true
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JChange this file? [y/N] y
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.codex/config.toml
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.codex/config.toml.toolsmith-backup
    toolsmith: codex asks before each tool call, and `codex exec` denies it
    help: to allow its calls without asking: toolsmith setup codex --approve
    toolsmith: restart the clients to load it; to remove it again: toolsmith setup --remove
    toolsmith: sub starts: [target]/toolsmith demo-server
    toolsmith: tools starts: [target]/toolsmith demo-server
    toolsmith: web connects to: http://127.0.0.1:[port]/mcp
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JOnly clients that start in this folder have sub, tools, web. Move to your own configuration, for all folders? [y/N] y
    toolsmith: moved sub, tools, web from /tmp/.tmpXXXXXX/toolsmith.yaml to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: removed /tmp/.tmpXXXXXX/toolsmith.yaml, because it has no other setting
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/toolsmith.yaml.toolsmith-backup
    toolsmith: calls to tools of sub, web need your permission
    help: to trust one: toolsmith setup --trust sub
    toolsmith: clients have these servers in every folder: shop, sub, tools, web
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    "#);
    assert!(!home.path().join("toolsmith.yaml").exists());
}
