//! `toolsmith setup --check`: starts the entry of a client's file, and reports what the client's model sees; and the
//! keys that depend on the client's version.

use end_to_end::harness::Run;
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
        home.with_path(&["codex"]).done().exits(0).says(&["already has"]);
        home.with_path(&["codex", "--remove"]).done().exits(0);
        assert_eq!(home.read(CODEX), before);
    }
}

#[test]
fn other_namespaces_stay_and_the_name_is_followed() {
    let home = with_clients(&[("codex", "codex-cli 0.171.0")]);
    let before = "[features.code_mode]\ndirect_only_tool_namespaces = [\"mcp__other\"] # others\n";
    home.write(CODEX, before);
    home.with_path(&["codex", "--name", "my-tools", "--required"]).done().exits(0);
    let text = home.read(CODEX);
    let listed = "direct_only_tool_namespaces = [\"mcp__other\", \"mcp__my_tools\"] # others";
    assert!(text.contains(listed) && text.contains("\nrequired = true\n"), "{text}");
    let removed = home.with_path(&["codex", "--name", "my-tools", "--remove"]).done().exits(0);
    removed.says(&["- \"mcp__my_tools\" in features.code_mode.direct_only_tool_namespaces"]);
    assert_eq!(home.read(CODEX), before);
    home.setup(&["gemini", "--required"]).done().exits(2).says(&["no setting to require the server"]);
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
    adopt("--replace").says(&["+ \"mcp__toolsmith\" in features.code_mode.direct_only_tool_namespaces"]);
    let adopted = home.read(CODEX);
    assert!(adopted.contains(NAMESPACES), "{adopted}");
    home.write(CODEX, &adopted.replace("o9", "o10"));
    adopt("--undo").says(&["put back one by one"]);
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
    let added =
        "added supports_parallel_tool_calls, features.code_mode.direct_only_tool_namespaces to toolsmith";
    home.with_path(&["codex"])
        .done()
        .exits(0)
        .says(&[added, "checked codex 0.171.0: its model sees execute_code whole"]);
    let text = home.read(CODEX);
    assert!(text.starts_with(&plain) && text.contains(NAMESPACES), "{text}");
    home.write(
        ".claude.json",
        &json!({ "mcpServers": { "toolsmith":
        { "type": "stdio", "command": program(), "args": ["serve"] } } })
        .to_string(),
    );
    home.ok(&["claude-code"]).says(&["added alwaysLoad to toolsmith"]);
    home.ok(&["claude-code"]).says(&["already has"]);
}

#[test]
fn the_check_says_what_the_model_sees_and_changes_nothing() {
    let home = with_clients(&[
        ("codex", "codex-cli 0.171.0"),
        ("claude", "2.1.332 (Claude Code)"),
        ("goose", " 1.37.0"),
    ]);
    for client in ["codex", "claude-code", "goose"] {
        home.with_path(&[client]).done().exits(0).says(&["toolsmith: checked", "execute_code"]);
    }
    let files = [CODEX, ".claude.json", ".config/goose/config.yaml"];
    let before = files.map(|file| home.read(file));
    home.write(".claude/settings.json", "{ \"permissions\": { \"allow\": [\"mcp__toolsmith\"] } }");
    let done = home.with_path(&["--check"]).done().exits(0);
    for phrase in [
        "codex 0.171.0: ",
        "as codex-mcp-client 0.171.0, with MCP",
        "has \"mcp__toolsmith\"",
        "to allow calls: toolsmith setup codex --approve",
        "as claude-code 2.1.332, with MCP",
        "without asking: mcp__toolsmith is in permissions.allow",
        "as goose-cli 1.37.0, with MCP",
        "calls without asking, unless GOOSE_MODE",
    ] {
        assert!(done.stdout.contains(phrase), "{phrase:?} is missing in\n{}", done.stdout);
    }
    assert_eq!(
        done.stdout.matches("  ok       tool ").count() + done.stdout.matches("  note     tool ").count(),
        3
    );
    assert_eq!(files.map(|file| home.read(file)), before);
}

#[test]
fn the_check_fails_if_the_model_does_not_see_the_tools() {
    let home = with_clients(&[("codex", "codex-cli 0.171.0"), ("qwen", "0.24.4")]);
    home.setup(&["codex", "--check"]).done().exits(2).says(&["codex has no entry toolsmith"]);
    home.setup(&["--check"]).done().exits(2).says(&["no installed client has an entry"]);
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
    let done = home.ok(&["zed"]).says(&["no server is configured for all folders yet", "toolsmith mcp add"]);
    assert!(!done.stderr.contains("does not see the tools"), "{done:#?}");
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
    refused.says(&["added alwaysLoad", "the project's entry is not started"]);
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
    home.ok(&["claude-code", "--name", "smith", "--config", &config]).says(&["added alwaysLoad to smith"]);
    home.write(file, &home.read(file).replace("\"alwaysLoad\": true", "\"alwaysLoad\": false"));
    assert!(home.read(file).contains("false"));
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
    assert!(home.read(copilot).contains("execute_code") && home.read(goose).contains("My tools"));
    home.ok(&["copilot", "goose", "--check"]).prints(&["copilot: ", "goose: "]);
    home.ok(&["cursor"]).says(&["is not measured for this client"]);
}

#[test]
fn an_unknown_version_is_explained_and_unchanged_entries_are_checked() {
    let home = with_clients(&[("codex", "no version")]);
    let options = ["codex", "--name", "smith", "--scope", "project"];
    home.with_path(&options).done().exits(0).says(&[
        "to add it later: toolsmith setup codex --scope project --name smith\n",
        "without asking: toolsmith setup codex --scope project --name smith --approve\n",
    ]);
    let reasons = ["is left out, because `codex --version` printed no version", "checked codex: "];
    home.with_path(&["codex"]).done().exits(0).says(&reasons);
    home.with_path(&["codex"]).done().exits(0).says(&reasons);
    home.ok(&["codex"]).says(&["is left out, because codex is not in PATH"]);
    home.ok(&["codex", "--check"]).prints(&["codex is not in PATH, so its version is not known"]);
    let all = home.with_path(&["--yes"]).done().exits(0);
    all.says(&["nothing to change", "is left out", "checked codex: "]);
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
