//! `toolsmith setup --check`: starts the entry of a client's file, and reports what the client's model sees; and the
//! keys that depend on the client's version.

use end_to_end::harness::Run;
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::clients::{Home, program};

/// A home with the demo server, in which these clients report a version.
fn with_clients(versions: &[(&str, &str)]) -> Home {
    let home = Home::new();
    home.write(
        ".config/toolsmith/config.yaml",
        &format!(
            "mcpServers: {{ demo: {{ command: {:?}, args: [demo-server], trust: true }} }}\n",
            program()
        ),
    );
    for (client, version) in versions {
        home.with_program(client, version);
    }
    home
}

const CODEX: &str = ".codex/config.toml";

const NAMESPACES: &str = "direct_only_tool_namespaces = [\"mcp__toolsmith\"]";

#[test]
fn codex_lists_the_namespace_if_its_version_can() {
    let mut shown = Vec::new();
    for (version, is_listed) in [
        (Some("codex-cli 0.171.0"), true),
        (Some("codex-cli 0.142.0"), true),
        (Some("codex-cli 0.141.0"), false),
        (None, false),
    ] {
        let home = with_clients(version.map(|version| ("codex", version)).as_slice());
        let before = "model = \"o9\" # fast\n\n[features]\ncode_mode = true # on\n";
        home.write(CODEX, before);
        let done = home.with_path(&["codex"]).done().exits(0);
        let text = home.read(CODEX);
        assert_eq!(text.contains(NAMESPACES), is_listed, "{text}");
        assert_eq!(text.contains("code_mode = { enabled = true, "), is_listed, "{text}");
        assert_eq!(text.contains("code_mode = true # on"), !is_listed, "{text}");
        if !is_listed {
            done.says(&["direct_only_tool_namespaces is left out", "0.142"]);
        }
        shown.push(normal(&home.with_path(&["codex"]).done().exits(0).stderr));
        home.with_path(&["codex", "--remove"]).done().exits(0);
        assert_eq!(home.read(CODEX), before);
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith, and is unchanged
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked codex 0.171.0: its model sees execute_code whole; 1 note: toolsmith setup codex --check

    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith, and is unchanged
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked codex 0.142.0: its model sees execute_code whole; 1 note: toolsmith setup codex --check

    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith, and is unchanged
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex 0.141.0 does not start with it, only 0.142 and later; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked codex 0.141.0: its model sees execute_code whole; 1 note: toolsmith setup codex --check

    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith, and is unchanged
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    ");
}

#[test]
fn other_namespaces_stay_and_the_name_is_followed() {
    let home = with_clients(&[("codex", "codex-cli 0.171.0")]);
    let before = "[features.code_mode]\ndirect_only_tool_namespaces = [\"mcp__other\"] # others\n";
    home.write(CODEX, before);
    home.with_path(&["codex", "--name", "my-tools", "--required"]).done().exits(0);
    let text = home.read(CODEX);
    assert_snapshot!(normal(&text), @r#"
    [features.code_mode]
    direct_only_tool_namespaces = ["mcp__other", "mcp__my_tools"] # others

    [mcp_servers.my-tools]
    command = "[target]/toolsmith"
    args = ["serve"]
    tool_timeout_sec = 1830
    supports_parallel_tool_calls = true
    required = true
    "#);
    let removed = home.with_path(&["codex", "--name", "my-tools", "--remove"]).done().exits(0);
    assert_snapshot!(normal(&removed.stderr), @r#"
    codex: /tmp/.tmpXXXXXX/.codex/config.toml, in mcp_servers
    - [mcp_servers.my-tools]
    - args = ["serve"]
    - command = "[target]/toolsmith"
    - required = true
    - supports_parallel_tool_calls = true
    - tool_timeout_sec = 1830
    - "mcp__my_tools" in features.code_mode.direct_only_tool_namespaces
    toolsmith: removed my-tools from /tmp/.tmpXXXXXX/.codex/config.toml, which is as it was before, byte by byte
    "#);
    assert_eq!(home.read(CODEX), before);
    assert_snapshot!(normal(&home.setup(&["gemini", "--required"]).done().exits(2).stderr), @r"
    toolsmith: the entry for gemini has no setting to require the server
    help: leave out --required; docs/clients.md describes how to configure gemini
    ");
}

#[test]
fn a_namespace_stays_while_another_entry_has_it_and_marks_and_line_ends_stay() {
    let home = with_clients(&[("codex", "codex-cli 0.171.0")]);
    let before = "\u{feff}model = \"o9\" # fast\r\n";
    home.write(CODEX, before);
    home.with_path(&["codex", "--name", "my-tools"]).done().exits(0);
    let one = home.read(CODEX);
    assert!(one.starts_with(before) && !one.replace("\r\n", "").contains('\n'), "{one:?}");
    home.with_path(&["codex", "--name", "my_tools"]).done().exits(0);
    home.with_path(&["codex", "--name", "my_tools", "--remove"]).done().exits(0);
    assert_eq!(home.read(CODEX), one);
    home.with_path(&["codex", "--name", "my-tools", "--remove"]).done().exits(0);
    assert_eq!(home.read(CODEX), before);
}

#[test]
fn adopting_codex_lists_the_namespace_and_undo_removes_it() {
    let home = with_clients(&[("codex", "codex-cli 0.171.0")]);
    let before = "model = \"o9\"\n\n[mcp_servers.files]\ncommand = \"npx\"\n";
    home.write(CODEX, before);
    let path = format!("{}/programs:/usr/bin:/bin", home.path().display());
    let adopt = |option: &str| {
        let run = home.in_here(Run::new(home.path())).arguments(&["adopt", "codex", "--yes", option]);
        run.variable("PATH", &path).done().exits(0)
    };
    assert_snapshot!(normal(&adopt("--replace").stderr), @r#"
    /tmp/.tmpXXXXXX/.codex/config.toml, in mcp_servers
    - [mcp_servers.files]
    - command = "npx"
    + [mcp_servers.toolsmith]
    + command = "[target]/toolsmith"
    + args = ["serve"]
    + tool_timeout_sec = 1830
    + supports_parallel_tool_calls = true
    + "mcp__toolsmith" in features.code_mode.direct_only_tool_namespaces
    /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml, in mcpServers
    + files starts: npx
    toolsmith: moved files from /tmp/.tmpXXXXXX/.codex/config.toml to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.codex/config.toml.toolsmith-backup
    toolsmith: not confined: files
    help: to confine one: toolsmith mcp sandbox files --learn
    toolsmith: to put everything back: toolsmith adopt codex --undo
    "#);
    let adopted = home.read(CODEX);
    assert_snapshot!(normal(&adopted), @r#"
    model = "o9"

    [mcp_servers.toolsmith]
    command = "[target]/toolsmith"
    args = ["serve"]
    tool_timeout_sec = 1830
    supports_parallel_tool_calls = true

    [features.code_mode]
    direct_only_tool_namespaces = ["mcp__toolsmith"]
    "#);
    home.write(CODEX, &adopted.replace("o9", "o10"));
    assert_snapshot!(normal(&adopt("--undo").stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml has changed since: entries are put back one by one
    - toolsmith
    + files
    toolsmith: /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml: as it was before, byte by byte
    toolsmith: put back the servers of /tmp/.tmpXXXXXX/.codex/config.toml
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.codex/config.toml.toolsmith-backup-2
    ");
    let undone: toml::Table = home.read(CODEX).parse().unwrap();
    assert_eq!(undone, before.replace("o9", "o10").parse().unwrap());
}

#[test]
fn an_existing_entry_gets_the_keys_that_it_lacks() {
    let home = with_clients(&[("codex", "codex-cli 0.171.0")]);
    let plain = format!(
        "[mcp_servers.toolsmith]\ncommand = {:?}\nargs = [\"serve\"]\ntool_timeout_sec = 60\n",
        program()
    );
    home.write(CODEX, &plain);
    assert_snapshot!(normal(&home.with_path(&["codex"]).done().exits(0).stderr), @r"
    toolsmith: added supports_parallel_tool_calls, features.code_mode.direct_only_tool_namespaces to toolsmith in /tmp/.tmpXXXXXX/.codex/config.toml
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.codex/config.toml.toolsmith-backup
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked codex 0.171.0: its model sees execute_code whole; 1 note: toolsmith setup codex --check
    ");
    let text = home.read(CODEX);
    assert_snapshot!(normal(&text), @r#"
    [mcp_servers.toolsmith]
    command = "[target]/toolsmith"
    args = ["serve"]
    tool_timeout_sec = 60
    supports_parallel_tool_calls = true

    [features.code_mode]
    direct_only_tool_namespaces = ["mcp__toolsmith"]
    "#);
    assert!(text.starts_with(&plain), "{text}");
    home.write(
        ".claude.json",
        &json!({ "mcpServers": { "toolsmith":
        { "type": "stdio", "command": program(), "args": ["serve"] } } })
        .to_string(),
    );
    assert_snapshot!(normal(&home.ok(&["claude-code"]).stderr), @r"
    toolsmith: added alwaysLoad to toolsmith in /tmp/.tmpXXXXXX/.claude.json
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.claude.json.toolsmith-backup
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked claude-code: its model sees execute_code whole; 1 note: toolsmith setup claude-code --check
    ");
    home.ok(&["claude-code"]).says(&["already has"]);
}

#[test]
fn the_check_says_what_the_model_sees_and_changes_nothing() {
    let home = with_clients(&[
        ("codex", "codex-cli 0.171.0"),
        ("claude", "2.1.332 (Claude Code)"),
        ("goose", " 1.37.0"),
    ]);
    let mut shown = Vec::new();
    for client in ["codex", "claude-code", "goose"] {
        shown.push(normal(&home.with_path(&[client]).done().exits(0).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: codex asks before each tool call, and `codex exec` denies it
    help: to allow its calls without asking: toolsmith setup codex --approve
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.codex/config.toml: [target]/toolsmith serve
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked codex 0.171.0: its model sees execute_code whole; 1 note: toolsmith setup codex --check

    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.claude.json: [target]/toolsmith serve
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked claude-code 2.1.332: its model sees execute_code whole; 1 note: toolsmith setup claude-code --check

    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.config/goose/config.yaml: [target]/toolsmith serve
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked goose: its model sees execute_code whole
    ");
    let files = [CODEX, ".claude.json", ".config/goose/config.yaml"];
    let before = files.map(|file| home.read(file));
    home.write(".claude/settings.json", "{ \"permissions\": { \"allow\": [\"mcp__toolsmith\"] } }");
    let done = home.with_path(&["--check"]).done().exits(0);
    assert_snapshot!(normal(&done.stdout), @r#"
    claude-code 2.1.332: /tmp/.tmpXXXXXX/.claude.json, mcpServers.toolsmith
      ok       start         tools listed after [time], as claude-code 2.1.332, with MCP 2025-11-25
      ok       tool          its model reads all 3214 characters of execute_code
      ok       instructions  its model reads all 228 characters
      ok       calls         without asking: mcp__toolsmith is in permissions.allow of /tmp/.tmpXXXXXX/.claude/settings.json
    codex 0.171.0: /tmp/.tmpXXXXXX/.codex/config.toml, mcp_servers.toolsmith
      ok       start         tools listed after [time], as codex-mcp-client 0.171.0, with MCP 2025-11-25
      ok       tool          its model reads all 4637 characters of execute_code
      ok       instructions  its model reads all 225 characters
      ok       namespace     features.code_mode.direct_only_tool_namespaces has "mcp__toolsmith"
      note     calls         asks before each tool call, and `codex exec` denies it; to allow calls: toolsmith setup codex --approve
    goose 1.37.0: /tmp/.tmpXXXXXX/.config/goose/config.yaml, extensions.toolsmith
      ok       start         tools listed after [time], as goose-cli 1.37.0, with MCP 2025-11-25
      ok       tool          its model reads all 4637 characters of execute_code
      ok       instructions  its model reads all 228 characters
      ok       calls         calls without asking, unless GOOSE_MODE is approve, smart_approve or chat
    "#);
    assert_eq!(
        done.stdout.matches("  ok       tool ").count() + done.stdout.matches("  note     tool ").count(),
        3
    );
    assert_eq!(files.map(|file| home.read(file)), before);
}

#[test]
fn the_check_fails_if_the_model_does_not_see_the_tools() {
    let home = with_clients(&[("codex", "codex-cli 0.171.0"), ("qwen", "0.24.4")]);
    assert_snapshot!(normal(&home.setup(&["codex", "--check"]).done().exits(2).stderr), @r"
    toolsmith: codex has no entry toolsmith
    help: to add it: toolsmith setup codex
    help: to name another entry: --name NAME
    ");
    assert_snapshot!(normal(&home.setup(&["--check"]).done().exits(2).stderr), @r"
    toolsmith: no installed client has an entry toolsmith
    help: to add it: toolsmith setup
    ");
    // Without codex in PATH, the namespace is left out.
    home.ok(&["codex"]);
    home.ok(&["codex", "--check"]);
    home.with_path(&["codex", "--check"])
        .done()
        .exits(1)
        .prints(&["missing  namespace", "toolsmith setup codex"]);
    home.with_path(&["codex"]).done().exits(0);
    home.with_path(&["codex", "--check"]).done().exits(0);
    home.with_program("codex", "codex-cli 0.141.0");
    home.with_path(&["codex", "--check"]).done().exits(1).prints(&["codex 0.141.0 does not start with"]);
    let text = json!({ "mcpServers": { "toolsmith": { "command": program(), "args": ["serve"] } } });
    home.write(".qwen/settings.json", &text.to_string());
    home.with_path(&["qwen", "--check"])
        .done()
        .exits(1)
        .prints(&["`alwaysLoadTools` is not true", "note     key"]);
}

/// Writes a program with the name of ours, which runs these lines, and returns its path.
fn with_script(home: &Home, lines: &str) -> String {
    let program = home.with_program("toolsmith", "");
    home.write("programs/toolsmith", &format!("#!/bin/sh\n{lines}\n"));
    program
}

/// Writes `.cursor/mcp.json` with this entry.
fn with_entry(home: &Home, entry: &Value) {
    home.write(".cursor/mcp.json", &json!({ "mcpServers": { "toolsmith": entry } }).to_string());
}

#[test]
fn an_entry_that_does_not_start_is_reported_with_its_own_words_but_not_with_secrets() {
    let home = Home::new();
    let script = with_script(&home, "echo \"no key $KEY $3 after 11 s\" >&2; exit 3");
    let env = json!({ "KEY": "hunter2", "DEBUG": "1" });
    with_entry(&home, &json!({ "command": script, "args": ["serve", "--token", "hunter3"], "env": env }));
    let done = home.setup(&["cursor", "--check"]).done().exits(1);
    done.prints(&["missing  start", "no key … … after 11 s"]);
    // A new entry without servers works, and the user learns how to add some.
    let done = home.ok(&["zed"]);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.config/zed/settings.json: [target]/toolsmith serve
    toolsmith: no server is configured for all folders yet
    help: add one: toolsmith mcp add --scope user NAME -- COMMAND ARGUMENTS…
    toolsmith: checked zed: execute_code has 1549 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup zed --check
    ");
}

#[test]
fn output_that_is_no_message_is_shown_without_secrets() {
    let home = with_clients(&[]);
    let script = with_script(&home, &format!("echo \"key $KEY\"; exec {} serve", program()));
    with_entry(&home, &json!({ "command": script, "args": ["serve"], "env": { "KEY": "hunter2" } }));
    home.ok(&["cursor", "--check"]).prints(&["note     protocol", "no message: key …"]);
}

#[test]
fn only_enabled_entries_of_ours_are_started() {
    let home = with_clients(&[]);
    let started = home.path().join("started");
    let touch = format!("touch {}", started.display());
    with_entry(&home, &json!({ "command": "/bin/sh", "args": ["-c", touch] }));
    home.setup(&["cursor", "--check"]).done().exits(1).prints(&["does not start `toolsmith serve`"]);
    let doctor = home.in_here(Run::new(home.path())).argument("doctor").done();
    assert!(doctor.stdout.contains("does not start `toolsmith serve`"), "{}", doctor.stdout);
    let script = with_script(&home, &touch);
    with_entry(&home, &json!({ "command": script, "args": ["serve"], "disabled": true }));
    home.setup(&["cursor", "--check"]).done().exits(1).prints(&["the entry is disabled"]);
    // Any folder may have a `.mcp.json` of someone else.
    for entry in [
        json!({ "command": script, "args": ["serve"] }),
        json!({ "command": program(), "args": ["serve", "--config", "theirs.yaml"] }),
        json!({ "command": program(), "args": ["serve"], "env": { "LD_PRELOAD": "theirs.so" } }),
    ] {
        let mut entry = entry;
        entry["type"] = json!("stdio");
        home.write(".mcp.json", &json!({ "mcpServers": { "toolsmith": entry } }).to_string());
        let done = home.setup(&["claude-code", "--scope", "project", "--check"]).done().exits(1);
        done.prints(&["the project's entry is not started", "toolsmith setup claude-code --scope project"]);
    }
    let refused = home.ok(&["claude-code", "--scope", "project"]);
    assert_snapshot!(normal(&refused.stderr), @r"
    toolsmith: added alwaysLoad to toolsmith in /tmp/.tmpXXXXXX/.mcp.json
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.mcp.json.toolsmith-backup
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked claude-code: its model does not see the tools: the project's entry is not started: it may come from someone else, and `toolsmith setup claude-code --scope project` would write another one
    ");
    assert!(!started.exists());
    home.write(".mcp.json", "{}");
    home.ok(&["claude-code", "--scope", "project"]);
    home.ok(&["claude-code", "--scope", "project", "--check"]).prints(&["tools listed after"]);
}

#[test]
fn the_advice_of_a_check_changes_the_entry() {
    let home = with_clients(&[]);
    home.write("tools.yaml", "mcpServers: {}\n");
    let config = home.path().join("tools.yaml").display().to_string();
    let file = ".claude.json";
    let entry = json!({ "type": "stdio", "command": program(), "args": ["serve", "--config", config] });
    home.write(file, &json!({ "mcpServers": { "smith": entry } }).to_string());
    let check = || home.setup(&["claude-code", "--name", "smith", "--check"]).done().exits(0);
    let command = format!("toolsmith setup claude-code --name smith --config {config}");
    check().prints(&[&format!("to add it: {command}\n")]);
    let done = home.ok(&["claude-code", "--name", "smith", "--config", &config]);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: added alwaysLoad to smith in /tmp/.tmpXXXXXX/.claude.json
    toolsmith: the previous text is in /tmp/.tmpXXXXXX/.claude.json.toolsmith-backup
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked claude-code: its model sees execute_code whole; 1 note: toolsmith setup claude-code --name smith --check
    ");
    home.write(file, &home.read(file).replace("\"alwaysLoad\": true", "\"alwaysLoad\": false"));
    assert_snapshot!(normal(&home.read(file)), @r#"
    {"mcpServers":{"smith":{
          "type":"stdio",
          "command":"[target]/toolsmith",
          "args":["serve","--config","/tmp/.tmpXXXXXX/tools.yaml"],
          "alwaysLoad": false
        }}}
    "#);
    check().prints(&["set it to true in", file]);
    // `setup` refuses to change an entry that starts another program.
    let script = with_script(&home, &format!("exec {} serve", program()));
    let entry = json!({ "command": script, "args": ["serve"] });
    home.write(".gemini/settings.json", &json!({ "mcpServers": { "toolsmith": entry } }).to_string());
    home.ok(&["gemini", "--check"]).prints(&["set it to 1830000 in", "set `trust` to true in"]);
}

#[test]
fn other_values_that_work_are_no_findings() {
    let home = with_clients(&[]);
    for client in ["copilot", "goose"] {
        home.ok(&[client]);
    }
    let (copilot, goose) = (".copilot/mcp-config.json", ".config/goose/config.yaml");
    home.write(copilot, &home.read(copilot).replace("\"*\"", "\"execute_code\""));
    home.write(goose, &home.read(goose).replace("name: toolsmith", "name: My tools"));
    assert_snapshot!(normal(&home.read(copilot)), @r#"
    {
      "mcpServers": {
        "toolsmith": {
          "type": "local",
          "command": "[target]/toolsmith",
          "args": ["serve"],
          "tools": ["execute_code"],
          "timeout": 1830000
        }
      }
    }
    "#);
    assert_snapshot!(normal(&home.read(goose)), @r"
    extensions:
      toolsmith:
        type: stdio
        cmd: [target]/toolsmith
        args:
          - serve
        name: My tools
        enabled: true
        timeout: 1830
    ");
    home.ok(&["copilot", "goose", "--check"]).prints(&["copilot: ", "goose: "]);
    assert_snapshot!(normal(&home.ok(&["cursor"]).stderr), @r"
    toolsmith: added toolsmith to /tmp/.tmpXXXXXX/.cursor/mcp.json: [target]/toolsmith serve
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked cursor: execute_code has 3214 characters; how many of them its model reads is not measured for this client; 2 notes: toolsmith setup cursor --check
    ");
}

#[test]
fn an_unknown_version_is_explained_and_unchanged_entries_are_checked() {
    let home = with_clients(&[("codex", "no version")]);
    let options = ["codex", "--name", "smith", "--scope", "project"];
    assert_snapshot!(normal(&home.with_path(&options).done().exits(0).stderr), @r"
    toolsmith: codex asks before each tool call, and `codex exec` denies it
    help: to allow its calls without asking: toolsmith setup codex --scope project --name smith --approve
    toolsmith: added smith to /tmp/.tmpXXXXXX/.codex/config.toml: [target]/toolsmith serve
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because `codex --version` printed no version, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex --scope project --name smith
    toolsmith: its paths are valid only on this machine: check them before you share the file
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --scope project --name smith --check
    ");
    let reasons = ["is left out, because `codex --version` printed no version", "checked codex: "];
    home.with_path(&["codex"]).done().exits(0).says(&reasons);
    home.with_path(&["codex"]).done().exits(0).says(&reasons);
    assert_snapshot!(normal(&home.ok(&["codex"]).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith, and is unchanged
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because codex is not in PATH, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    ");
    home.ok(&["codex", "--check"]).prints(&["codex is not in PATH, so its version is not known"]);
    let all = home.with_path(&["--yes"]).done().exits(0);
    assert_snapshot!(normal(&all.stderr), @r"
    codex: /tmp/.tmpXXXXXX/.codex/config.toml already has toolsmith
    toolsmith: features.code_mode.direct_only_tool_namespaces is left out, because `codex --version` printed no version, and versions before 0.142 do not start with it; without it, most of its models see only the beginning of the instructions, and not the tools; to add it later: toolsmith setup codex
    toolsmith: nothing to change
    toolsmith: clients have these servers in every folder: demo
    toolsmith: checked codex: its model sees execute_code whole; 2 notes: toolsmith setup codex --check
    ");
}

#[test]
fn the_doctor_has_a_line_for_each_client() {
    let home = with_clients(&[("codex", "codex-cli 0.171.0")]);
    home.with_path(&["codex"]).done().exits(0);
    let run = home.in_here(Run::new(home.path())).arguments(&["doctor", "--json"]);
    let found = run.variable("PATH", &format!("{}/programs:/usr/bin:/bin", home.path().display())).done();
    let clients = &found.outcome()["clients"];
    assert_eq!(
        (&clients[0]["client"], &clients[0]["ok"]),
        (&json!("codex 0.171.0"), &json!(true)),
        "{clients}"
    );
}
