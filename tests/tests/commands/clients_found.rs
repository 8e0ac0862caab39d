//! `toolsmith setup` without a client: finds the installed clients, changes their files after one yes, and takes the
//! entries out again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use end_to_end::harness::Run;
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
    home.ok(&["--yes"]).says(&["already has toolsmith", "nothing to change"]);
}

#[test]
fn an_entry_that_lacks_keys_is_completed_and_only_these_are_shown() {
    let home = Home::new();
    let entry = json!({ "command": program(), "args": ["serve"], "timeout": 900 });
    home.write(".qwen/settings.json", &json!({ "mcpServers": { "toolsmith": entry } }).to_string());
    let done = home.ok(&["--yes"]).says(&["+   \"alwaysLoadTools\": true", "completed toolsmith in"]);
    assert!(!done.stderr.contains("\"command\"") && !done.stderr.contains("\"timeout\""), "{}", done.stderr);
}

#[test]
fn only_installed_clients_are_changed_and_new_files_are_private() {
    let home = Home::new();
    fs::create_dir_all(home.path().join(".cursor")).unwrap();
    let done = home.ok(&["--yes"]).says(&["cursor", "(new file)"]);
    assert_eq!(done.stderr.matches("(new file)").count(), 1, "{}", done.stderr);
    assert_eq!(home.mode(".cursor/mcp.json"), 0o600);
    let none = Home::new();
    none.setup(&["--yes"]).done().exits(2).says(&[
        "no MCP client is found",
        "windsurf",
        "toolsmith setup CLIENT",
    ]);
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
    home.ok(&["--remove"]).says(&["no client has an entry toolsmith"]);
    home.setup(&["cursor", "--remove"]).done().exits(2).says(&["cursor has no entry toolsmith"]);
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
        home.ok(&["goose"]).says(&["already has"]);
        home.ok(&["goose", "--remove"]);
        assert_eq!(home.read(file), before);
    }
}

#[test]
fn an_entry_that_is_not_ours_stays() {
    let home = Home::new();
    let before = r#"{ "mcpServers": { "toolsmith": { "command": "other", "env": { "KEY": "hunter2" } } } }"#;
    home.write(".cursor/mcp.json", before);
    home.setup(&["cursor", "--remove"]).done().exits(2).says(&["does not start `toolsmith serve`"]);
    let done = home.ok(&["--yes"]).says(&["has a different toolsmith, which stays"]);
    assert!(!done.stderr.contains("hunter2"), "{}", done.stderr);
    assert_eq!(home.read(".cursor/mcp.json"), before);
}

#[test]
fn a_file_that_cannot_be_read_does_not_stop_the_others() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{ \"mcpServers\": ");
    home.write(".gemini/settings.json", "{}");
    home.ok(&["--yes"]).says(&["cursor is left out", "added toolsmith to"]);
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
    home.ok(&["opencode", "--scope", "project"]).says(&["added timeout, codemode to toolsmith"]);
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
    home.setup(&["cursor"]).variable("PATH", "/usr/bin:/bin").done().exits(0).says(&["already has"]);
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
    home.ok(&["--yes"]).says(&[
        "no server is configured for all folders yet\nhelp: add one: toolsmith mcp add --scope user",
        "codex has servers of its own, which snippets can't call: notes\nhelp: move them: toolsmith adopt codex",
    ]);
    with_own_and_project(&home);
    let here = home.path().canonicalize().unwrap();
    let file = here.join("toolsmith.yaml");
    let before = home.read("toolsmith.yaml");
    let only = |typed: &str| {
        format!(
            "clients have these servers in every folder: shop\ntoolsmith: in the folder of {}, they also have: sub, tools, web\n\
             help: to have them in every folder: toolsmith {typed} --move-servers\n",
            file.display()
        )
    };
    home.ok(&["--yes"]).says(&[&only("setup --yes")]);
    home.ok(&["codex"]).says(&[&only("setup codex")]);
    home.ok(&["codex", "--move-servers"]).says(&[
        &format!("moved sub, tools, web from {}", file.display()),
        &format!("removed {}, because it has no other setting", file.display()),
        &format!("the previous text is in {}.toolsmith-backup\n", file.display()),
        "clients have these servers in every folder: shop, sub, tools, web\n",
    ]);
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
    let locked = home.ok(&["--yes"]).says(&["they also have: sub, tools, web"]);
    assert!(!locked.stderr.contains("--move-servers"), "{locked:#?}");
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
    assert!(no.stderr.contains("tools starts: ") && !no.stderr.contains("moved"), "{no:#?}");
    // Neither without a change of a client's file, nor with `--yes`.
    let again = run(&[], &[]);
    home.write(".codex/config.toml", "");
    let yes = run(&["--yes"], &[]);
    for done in [again, yes] {
        assert!(!done.stderr.contains(question), "{done:#?}");
    }
    home.write(".codex/config.toml", "");
    let moved = run(&[], &[("Change this file? [y/N]", "y"), (question, "y")]);
    assert!(moved.stderr.contains("moved sub, tools, web"), "{moved:#?}");
    assert!(!home.path().join("toolsmith.yaml").exists());
}
