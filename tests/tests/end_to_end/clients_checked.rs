//! `toolsmith setup --check`: starts the entry of a client's file, and reports what the client's model sees; and the keys
//! that depend on the client's version.

use serde_json::json;

use crate::clients::{Home, program};
use crate::harness::Run;

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

#[test]
fn an_entry_that_does_not_start_is_reported_with_its_own_words_but_not_with_secrets() {
    let home = Home::new();
    let script = "echo \"no key $KEY\" >&2; exit 3";
    let entry = json!({ "command": "/bin/sh", "args": ["-c", script], "env": { "KEY": "hunter2" } });
    home.write(".cursor/mcp.json", &json!({ "mcpServers": { "toolsmith": entry } }).to_string());
    let done = home.setup(&["cursor", "--check"]).done().exits(1).prints(&["missing  start", "no key …"]);
    assert!(!done.stdout.contains("hunter2"), "{}", done.stdout);
    // A new entry without servers: the reason and what to do.
    home.ok(&["zed"]).says(&["its model does not see the tools", "no MCP servers are configured"]);
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
