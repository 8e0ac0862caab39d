//! Configuration layers through the real binary: precedence, trust, and the commands that change them.

use std::fs;
use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run};
use end_to_end::page::normal;
use insta::assert_snapshot;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A project's folder, and a user's folder of configurations.
struct Project {
    folder: TempDir,
    home: TempDir,
}

impl Project {
    fn new() -> Self {
        Project { folder: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        Run::new(shared())
            .arguments(arguments)
            .working_folder(self.folder.path())
            .variable("XDG_CONFIG_HOME", self.home.path().to_str().unwrap())
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> FinishedRun {
        self.run(arguments).done().exits(0)
    }

    fn project(&self, text: &str) {
        fs::write(self.folder.path().join("toolsmith.yaml"), text).unwrap();
    }

    fn user(&self, text: &str) {
        fs::create_dir_all(self.home.path().join("toolsmith")).unwrap();
        fs::write(self.home.path().join("toolsmith/config.yaml"), text).unwrap();
    }

    fn text(&self) -> String {
        fs::read_to_string(self.folder.path().join("toolsmith.yaml")).unwrap()
    }

    #[track_caller]
    fn shown(&self, arguments: &[&str]) -> Value {
        shown(self.run(&["config", "show", "--json"]).arguments(arguments))
    }
}

#[track_caller]
fn shown(run: Run) -> Value {
    serde_json::from_str(&run.done().exits(0).stdout).unwrap()
}

/// Name, layer and state of each server.
fn servers(shown: &Value) -> Value {
    let server = |server: &Value| json!([server["name"], server["layer"], server["state"]]);
    shown["servers"].as_array().unwrap().iter().map(server).collect()
}

#[test]
fn later_layers_override_earlier_ones_by_name_and_by_key() {
    let place = Project::new();
    place.user("mcpServers:\n  both: { command: users }\n  mine: { command: m }\n  off: { command: o }\nglobalSettings: { timeout: 5, requestTimeout: 6, deny: [a] }\nserve: { grace: 1, listWait: 2 }\n");
    place.project("mcpServers:\n  both: { command: projects }\n  off: { enabled: false }\nglobalSettings: { timeout: 7, deny: [b] }\ncodeMode: { timeout: 8, sandbox: { cpu: 9 } }\nserve: { grace: 3 }\n");
    place.ok(&["trust", "--yes"]);
    let all = place.shown(&[]);
    let expected =
        json!([["both", "project", "enabled"], ["mine", "user", "enabled"], ["off", "project", "disabled"]]);
    assert_eq!(servers(&all), expected);
    assert_eq!(all["servers"][0]["entry"]["command"], "projects");
    assert!(all["servers"][1]["place"].as_str().unwrap().ends_with("toolsmith/config.yaml:3"), "{all:#}");
    let setting = |name: &str| json!([all["settings"][name]["value"], all["settings"][name]["layer"]]);
    assert_eq!(setting("globalSettings.timeout"), json!([7, "project"]));
    assert_eq!(setting("globalSettings.requestTimeout"), json!([6, "user"]));
    assert_eq!(setting("globalSettings.deny"), json!([["a", "b"], "project"]));
    assert_eq!(setting("codeMode.sandbox.cpu"), json!([9, "project"]));
    assert_eq!(setting("codeMode.sandbox.wallClock"), json!([8, "project"]));
    assert_eq!(setting("serve.grace"), json!([3, "project"]));
    assert_eq!(setting("serve.listWait"), json!([2, "user"]));
    let default = json!({ "value": "48KiB", "layer": "default", "place": null });
    assert_eq!(all["settings"]["serve.output"], default);

    fs::write(place.folder.path().join("named.yaml"), "mcpServers:\n  both: { command: named }\n").unwrap();
    let list = json!([{ "name": "mine", "command": "e" }, { "name": "new", "url": "https://x.example/mcp" }]);
    let run = place.run(&["config", "show", "--json", "--config", "named.yaml"]);
    let all = shown(run.variable("TOOLSMITH_MCP_SERVERS", &list.to_string()));
    let expected = json!([
        ["both", "config", "enabled"],
        ["mine", "environment", "enabled"],
        ["new", "environment", "enabled"],
        ["off", "project", "disabled"]
    ]);
    assert_eq!(servers(&all), expected);
    let run = place.run(&["config", "show", "--json"]);
    let all = shown(run.variable("TOOLSMITH_MCP_SERVERS", r#"{ "new": { "command": "e" } }"#));
    assert_eq!(
        all["servers"][2],
        json!({ "name": "new", "layer": "environment", "place": "TOOLSMITH_MCP_SERVERS:1",
        "state": "enabled", "entry": { "command": "e" }, "wrong": null })
    );
    let mut texts = Vec::new();
    for wrong in [
        "[{}]",
        "7",
        "[{ \"name\": \"a\" }, { \"name\": \"a\" }]",
        "[{ \"name\": \"a\", \"command\": ",
        "[1]",
    ] {
        let run = place.run(&["config", "show"]).variable("TOOLSMITH_MCP_SERVERS", wrong);
        texts.push(normal(&run.done().exits(2).stderr));
    }
    assert_snapshot!(texts.join("\n"), @r#"
    toolsmith: TOOLSMITH_MCP_SERVERS:1:2: the server has no name; write "name": "…"
      |
    1 | [{}]
      |  ^

    toolsmith: TOOLSMITH_MCP_SERVERS:1:1: expected a mapping; write `mcpServers:` and the servers below it

    toolsmith: TOOLSMITH_MCP_SERVERS:1:29: another server in the list has this name; keep one of them
      |
    1 | [{ "name": "a" }, { "name": "a" }]
      |                             ^

    toolsmith: TOOLSMITH_MCP_SERVERS:1:1: unclosed bracket '{'; close it

    toolsmith: TOOLSMITH_MCP_SERVERS:1:2: expected an object with a server's `name`
      |
    1 | [1]
      |  ^
    "#);
}

#[test]
fn a_project_is_ignored_until_it_is_trusted_and_after_every_change() {
    let place = Project::new();
    let text = format!(
        "mcpServers:\n  evil: {{ command: {FAULT_SERVER:?}, args: [\"a\\e[2Jb\"], env: {{ T: \"${{HOME}}\" }}, trust: true }}\n"
    );
    place.project(&text);
    let commands: [&[&str]; 5] =
        [&["run", "-"], &["codegen"], &["mcp", "lock"], &["cache", "warm"], &["config", "show"]];
    let mut texts = Vec::new();
    for command in commands {
        let done = place.run(command).input("1").done().exits(2);
        texts.push(normal(&done.stderr));
    }
    assert_snapshot!(texts.join("\n"), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is not trusted yet
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE

    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is not trusted yet
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE

    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is not trusted yet
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE

    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is not trusted yet
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE

    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is not trusted yet
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
    // Without a terminal, there is no prompt and nothing is recorded.
    let done = place.run(&["trust"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: there is no terminal to ask on
    help: to trust it without a question: toolsmith trust --yes
    ");
    assert_snapshot!(normal(&done.stdout), @r#"
    /tmp/.tmpXXXXXX/toolsmith.yaml:
      server evil starts: [target]/fault-server "a\u{1b}[2Jb"
    !   env: {"T":"${HOME}"}
    !   trust: true
    ! reads the variables: HOME
    "#);
    assert_snapshot!(normal(&place.ok(&["trust", "--show"]).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted
    ");
    place.run(&["config", "show"]).done().exits(2);
    place.ok(&["trust", "--yes"]);
    assert_eq!(servers(&place.shown(&[])), json!([["evil", "project", "enabled"]]));
    let record = place.home.path().join("toolsmith/trusted.json");
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);

    place.project(&text.replace("[2J", "[3J"));
    assert_snapshot!(normal(&place.run(&["config", "show"]).done().exits(2).stderr), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, has changed since it was trusted
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
    place.project(&text);
    place.ok(&["config", "show"]);
    place.ok(&["trust", "--remove"]);
    assert_snapshot!(normal(&place.run(&["config", "show"]).done().exits(2).stderr), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is not trusted yet
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
    // A file named on the command line is used; the project's is ignored with a note.
    fs::write(place.folder.path().join("other.yaml"), "mcpServers:\n  own: { command: x }\n").unwrap();
    let done = place.ok(&["config", "show", "--config", "other.yaml"]);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted yet, and is left out (`toolsmith trust` shows it)
    ");
    assert!(done.stdout.contains("server own") && !done.stdout.contains("evil"), "{done:#?}");
    assert_eq!(
        servers(&place.shown(&["--config", "toolsmith.yaml"])),
        json!([["evil", "config", "enabled"]])
    );
    // An unreadable record trusts nothing.
    let mut texts = Vec::new();
    for broken in ["broken", r#"{ "version": 1, "files": { "/a": "1", "\u002fa": "2" } }"#] {
        fs::write(&record, broken).unwrap();
        texts.push(normal(&place.run(&["config", "show"]).done().exits(2).stderr));
    }
    assert_snapshot!(texts.join("\n"), @r#"
    toolsmith: the trust record /tmp/.tmpXXXXXX/toolsmith/trusted.json can't be read: expected value at line 1 column 1
    help: remove the file, and trust your projects again

    toolsmith: the trust record /tmp/.tmpXXXXXX/toolsmith/trusted.json can't be read: the name "/a" appears twice in one object at line 1 column 39
    help: remove the file, and trust your projects again
    "#);
}

#[test]
fn two_files_in_one_place_are_reported() {
    let place = Project::new();
    place.project("mcpServers: { a: { command: x } }\n");
    fs::create_dir(place.folder.path().join(".toolsmith")).unwrap();
    fs::write(place.folder.path().join(".toolsmith/config.json"), "{}").unwrap();
    assert_snapshot!(normal(&place.run(&["config", "show"]).done().exits(2).stderr), @r"
    toolsmith: there are two configurations, /tmp/.tmpXXXXXX/toolsmith.yaml and /tmp/.tmpXXXXXX/.toolsmith/config.json
    help: keep one of them
    ");
}

#[test]
fn a_broken_server_does_not_affect_the_others_unless_strict() {
    let text = format!(
        "mcpServers:\n  good: {{ command: {FAULT_SERVER:?}, args: [sound], trust: true }}\n  bad: {{ comand: x }}\n  unset: {{ command: x, env: {{ A: \"${{TOOLSMITH_NO_SUCH_VARIABLE}}\" }} }}\n"
    );
    let run = |more: &[&str]| Run::new(shared()).arguments(&["codegen"]).arguments(more).config(&text).done();
    let done = run(&[]).exits(0);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: warning: /tmp/.tmpXXXXXX/given.yaml:3:10: unknown key `comand`; did you mean `command`?
      |
    3 |   bad: { comand: x }
      |          ^
    toolsmith: warning: /tmp/.tmpXXXXXX/given.yaml:4:34: the environment variable TOOLSMITH_NO_SUCH_VARIABLE is not set; set it, or write a default: ${TOOLSMITH_NO_SUCH_VARIABLE:-…}
      |
    4 |   unset: { command: x, env: { A: "${TOOLSMITH_NO_SUCH_VARIABLE}" } }
      |                                  ^
    "#);
    assert_snapshot!(normal(&done.stdout), @r"
    mod good {
    /// A tool of the fault server.
    echo(message?: String) -> ToolResult
    }
    ");
    assert_eq!(done.stderr.matches("comand").count(), 2, "expected one report with its line: {done:#?}");
    assert_snapshot!(normal(&run(&["--strict"]).exits(2).stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/given.yaml:3:10: unknown key `comand`; did you mean `command`?
      |
    3 |   bad: { comand: x }
      |          ^
    /tmp/.tmpXXXXXX/given.yaml:4:34: the environment variable TOOLSMITH_NO_SUCH_VARIABLE is not set; set it, or write a default: ${TOOLSMITH_NO_SUCH_VARIABLE:-…}
      |
    4 |   unset: { command: x, env: { A: "${TOOLSMITH_NO_SUCH_VARIABLE}" } }
      |                                  ^
    "#);
    let all_broken = "mcpServers:\n  bad: { comand: x }\n";
    let done = Run::new(shared()).arguments(&["codegen"]).config(all_broken).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/given.yaml:2:10: unknown key `comand`; did you mean `command`?
      |
    2 |   bad: { comand: x }
      |          ^
    no usable server is left
    help: correct the entry, or add another server
    help: add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…
    ");
}

#[test]
fn secrets_are_masked_in_shown_configurations() {
    let place = Project::new();
    place.user("mcpServers:\n  a: { command: x, env: { LITERAL: s3cr3t, VAR: \"${TOKEN_OF_TEST}\" } }\n  b: { url: \"https://x.example/${TOKEN_OF_TEST}\", headers: { X: \"Bearer s3cr3t\" }, oauth: { client_id: i, client_secret: s3cr3t } }\n");
    for more in [&["config", "show"][..], &["config", "show", "--json"], &["config", "check"]] {
        let done = place.run(more).variable("TOKEN_OF_TEST", "t0k3n").done().exits(0);
        let text = format!("{}{}", done.stdout, done.stderr);
        assert!(!text.contains("s3cr3t") && !text.contains("t0k3n"), "{text}");
        assert!(more[1] == "check" || text.contains("${TOKEN_OF_TEST}"), "{text}");
    }
}

#[test]
fn check_reports_all_problems_of_all_files() {
    let place = Project::new();
    place.project("mcpServers:\n  a: { comand: x, timeout: -1 }\n");
    place.user("codeMod: {}\n");
    let done = place.run(&["config", "check"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted yet, and has no effect until you trust it: toolsmith trust
    toolsmith: 3 problems
    ");
    assert_snapshot!(normal(&done.stdout), @r"
    /tmp/.tmpXXXXXX/toolsmith/config.yaml:1:1: unknown key `codeMod`; did you mean `codeMode`?
      |
    1 | codeMod: {}
      | ^
    /tmp/.tmpXXXXXX/toolsmith.yaml:2:8: unknown key `comand`; did you mean `command`?
      |
    2 |   a: { comand: x, timeout: -1 }
      |        ^
    /tmp/.tmpXXXXXX/toolsmith.yaml:2:28: -1 is out of range; write 0 for no limit, or up to 86400 seconds
      |
    2 |   a: { comand: x, timeout: -1 }
      |                            ^
    ");
    fs::write(place.folder.path().join("fine.yaml"), "mcpServers: { a: { command: x } }\n").unwrap();
    assert_snapshot!(normal(&place.ok(&["config", "check", "fine.yaml"]).stderr), @"toolsmith: no problems");
    let printed = place.run(&["config", "check", "fine.yaml", "missing.yaml"]).done().exits(2);
    assert_snapshot!(normal(&printed.stderr), @"toolsmith: 1 problem");
    let schema: Value = serde_json::from_str(&place.ok(&["config", "schema"]).stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn editing_servers_keeps_comments() {
    let place = Project::new();
    place.ok(&[
        "mcp",
        "add",
        "files",
        "--scope",
        "project",
        "--env",
        "KEY=${KEY}",
        "--timeout",
        "5",
        "--",
        "files-mcp",
        "--root",
        "/data",
    ]);
    assert_eq!(
        place.text(),
        "mcpServers:\n  files:\n    type: stdio\n    command: files-mcp\n    args:\n      - '--root'\n      - /data\n    env:\n      KEY: ${KEY}\n    timeout: 5\n    permission: ask\n"
    );
    // An entry that the user adds is trusted.
    assert_eq!(place.shown(&[])["servers"][0]["layer"], "project");
    place.project(&format!("# mine\n{}# the end\n", place.text()));
    place.run(&["config", "show"]).done().exits(2);
    // A change does not make the rest of the file trusted.
    assert_snapshot!(normal(&place.ok(&["mcp", "disable", "files"]).stderr), @r"
    toolsmith: it has no effect until you trust it: toolsmith trust
    toolsmith: disabled files in /tmp/.tmpXXXXXX/toolsmith.yaml
    ");
    place.run(&["config", "show"]).done().exits(2);
    place.ok(&["trust", "--yes"]);
    place.ok(&["mcp", "add", "web", "--url", "https://x.example/mcp", "--header", "X-Key=${KEY}", "--trust"]);
    assert_snapshot!(normal(&place.text()), @r"
    # mine
    mcpServers:
      files:
        type: stdio
        command: files-mcp
        args:
          - '--root'
          - /data
        env:
          KEY: ${KEY}
        timeout: 5
        permission: ask
        enabled: false
      web:
        url: https://x.example/mcp
        headers:
          X-Key: ${KEY}
        trust: true
    # the end
    ");
    let entry = |place: &Project, index: usize| place.shown(&[])["servers"][index]["entry"].clone();
    assert_eq!(
        entry(&place, 1),
        json!({ "url": "https://x.example/mcp", "headers": { "X-Key": "${KEY}" }, "trust": true })
    );
    assert_eq!(entry(&place, 0)["enabled"], false);
    place.ok(&["mcp", "enable", "files"]);
    assert_eq!(entry(&place, 0)["enabled"], true);

    let before = place.text();
    assert_snapshot!(normal(&place.run(&["mcp", "add", "web", "--", "x"]).done().exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml already has web, and is unchanged
    help: replace existing servers: --replace
    ");
    let done = place.run(&["mcp", "add", "odd", "--url", "nowhere"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: the file is unchanged, because the entry would be invalid:
    /tmp/.tmpXXXXXX/toolsmith.yaml:20:10: this is not an absolute address; write one such as https://example.com/mcp
       |
    20 |     url: nowhere
       |          ^
    ");
    let done =
        place.run(&["mcp", "add", "odd", "--url", "https://x.example", "--env", "A=b"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: the file is unchanged, because the entry would be invalid:
    /tmp/.tmpXXXXXX/toolsmith.yaml:21:7: `env` is only for stdio servers; remove it, or write `type: stdio`
       |
    21 |       A: *
       |       ^
    ");
    assert_snapshot!(normal(&place.run(&["mcp", "add", "odd"]).done().exits(2).stderr), @r"
    toolsmith: a server needs a command or a URL
    help: toolsmith mcp add NAME -- COMMAND ARGUMENTS…
    help: toolsmith mcp add NAME --url https://…
    help: toolsmith mcp add NAME --openapi FILE
    ");
    place.run(&["mcp", "add", "a b", "--", "x"]).done().exits(2);
    assert_snapshot!(normal(&place.run(&["mcp", "remove", "other"]).done().exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml has no server other
    help: `toolsmith config show` lists the servers and their files
    ");
    assert_snapshot!(normal(&place.run(&["mcp", "disable", "other"]).done().exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml has no server other
    help: `toolsmith config show` lists the servers and their files
    ");
    assert_eq!(place.text(), before);
    place.ok(&["mcp", "add", "web", "--replace", "--permission", "deny", "--", "x"]);
    assert_eq!(entry(&place, 1), json!({ "type": "stdio", "command": "x", "permission": "deny" }));
    place.ok(&["mcp", "remove", "web"]);
    place.ok(&["mcp", "remove", "files"]);
    assert_snapshot!(normal(&place.text()), @r"
    # mine
    # the end
    ");

    place.ok(&["mcp", "add", "users", "--scope", "user", "--", "x"]);
    place.ok(&["mcp", "disable", "users"]);
    assert_eq!(servers(&place.shown(&[])), json!([["users", "project", "disabled"]]));
    place.ok(&["mcp", "enable", "users"]);
    assert_eq!(servers(&place.shown(&[])), json!([["users", "user", "enabled"]]));
}

#[test]
fn a_server_is_added_for_all_folders_unless_this_one_has_a_configuration() {
    let place = Project::new();
    assert_snapshot!(normal(&place.ok(&["mcp", "add", "everywhere", "--", "x"]).stderr), @r"
    toolsmith: added everywhere to /tmp/.tmpXXXXXX/toolsmith/config.yaml
    toolsmith: warning: MCP server `everywhere`: cannot start: the command `x` was not found in the folders of PATH; install it, or give its absolute path as `command`
    ");
    assert_eq!(servers(&place.shown(&[])), json!([["everywhere", "user", "enabled"]]));
    place.ok(&["mcp", "disable", "everywhere"]);
    assert_eq!(servers(&place.shown(&[])), json!([["everywhere", "user", "disabled"]]));
    place.ok(&["mcp", "add", "here", "--scope", "project", "--", "x"]);
    assert_snapshot!(normal(&place.ok(&["mcp", "add", "too", "--", "x"]).stderr), @r"
    toolsmith: added too to /tmp/.tmpXXXXXX/toolsmith.yaml
    toolsmith: it counts only in this folder; for all folders: --scope user
    toolsmith: warning: MCP server `too`: cannot start: the command `x` was not found in the folders of PATH; install it, or give its absolute path as `command`
    ");
    place.ok(&["mcp", "remove", "here"]);
    // The user's file has it, and the advice is the whole command.
    let mut texts = Vec::new();
    for command in ["remove", "enable"] {
        texts.push(normal(&place.run(&["mcp", command, "everywhere"]).done().exits(2).stderr));
    }
    assert_snapshot!(texts.join("\n"), @r"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml has no server everywhere
    help: /tmp/.tmpXXXXXX/toolsmith/config.yaml has it: toolsmith mcp remove everywhere --scope user

    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml has no server everywhere
    help: /tmp/.tmpXXXXXX/toolsmith/config.yaml has it: toolsmith mcp enable everywhere --scope user
    ");
    assert_eq!(
        servers(&place.shown(&[])),
        json!([["everywhere", "user", "disabled"], ["too", "project", "enabled"]])
    );
}

#[test]
fn links_and_modes_of_changed_files_are_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Project::new();
    let real = place.home.path().join("real.json");
    fs::write(&real, "{\n  // mine\n  \"mcpServers\": {}\n}\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&real, place.folder.path().join("toolsmith.json")).unwrap();
    place.ok(&["trust", "--yes"]);
    place.ok(&["mcp", "add", "a", "--trust", "--", "x", "y"]);
    assert!(place.folder.path().join("toolsmith.json").is_symlink());
    let text = fs::read_to_string(&real).unwrap();
    assert_snapshot!(normal(&text), @r#"
    {
      // mine
      "mcpServers": {
        "a": {
          "type": "stdio",
          "command": "x",
          "args": ["y"],
          "trust": true
        }
      }
    }
    "#);
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(servers(&place.shown(&[])), json!([["a", "project", "enabled"]]));
    assert_eq!(names(place.folder.path()), ["toolsmith.json"]);
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_servers_of_other_clients_are_imported() {
    let place = Project::new();
    let file = json!({ "mcpServers": {
        "files": { "command": "npx", "args": ["-y", "files"], "env": { "A": "${A:-b}" } },
        "web": { "type": "streamable-http", "url": "https://x.example/mcp", "alwaysAllow": ["x"] },
    }});
    fs::write(place.folder.path().join(".mcp.json"), file.to_string()).unwrap();
    assert_snapshot!(normal(&place.ok(&["mcp", "import", "--scope", "project"]).stderr), @r"
    toolsmith: web: `alwaysAllow` was not imported: set Toolsmith's own permission: --trust or --permission
    toolsmith: added files, web to /tmp/.tmpXXXXXX/toolsmith.yaml
    toolsmith: not confined: files
    help: to confine one: toolsmith mcp sandbox files --learn
    ");
    assert_snapshot!(normal(&place.text()), @r"
    mcpServers:
      files:
        type: stdio
        command: npx
        args:
          - '-y'
          - files
        env:
          A: ${A:-b}
        permission: ask
      web:
        type: http
        url: https://x.example/mcp
        permission: ask
    ");
    let all = place.shown(&[]);
    assert_eq!(
        all["servers"][1]["entry"],
        json!({ "type": "http", "url": "https://x.example/mcp", "permission": "ask" })
    );
    let before = place.text();
    assert_snapshot!(normal(&place.run(&["mcp", "import"]).done().exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml already has files, web, and is unchanged
    help: replace existing servers: --replace
    ");
    let printed = place.run(&["mcp", "import", "missing.json"]).done().exits(2);
    assert_snapshot!(normal(&printed.stderr), @r"
    toolsmith: the configuration missing.json can't be read: there is no such file
    help: check the path of the configuration file
    help: to import from an installed client: toolsmith mcp import --from CLIENT
    ");
    fs::write(place.folder.path().join("bad.json"), "{ \"mcpServers\": ").unwrap();
    assert_snapshot!(normal(&place.run(&["mcp", "import", "bad.json"]).done().exits(2).stderr), @r"
    toolsmith: bad.json:1:17: this is not JSON (expected value after colon in object property); correct it
    ");
    let twice = r#"{ "mcpServers": { "a": { "command": "x", "comm\u0061nd": "y" } } }"#;
    fs::write(place.folder.path().join("twice.json"), twice).unwrap();
    assert_snapshot!(normal(&place.run(&["mcp", "import", "twice.json"]).done().exits(2).stderr), @r"
    toolsmith: twice.json:1:42: the key `command` appears a second time; keep one of them
    ");
    assert_eq!(place.text(), before);
    let wrong = json!({ "servers": { "odd": { "type": "http", "url": "wss://x.example" } } });
    fs::write(place.folder.path().join("wrong.json"), wrong.to_string()).unwrap();
    let done = place.run(&["mcp", "import", "wrong.json"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: odd: left out, because its entry would be invalid:
    /tmp/.tmpXXXXXX/toolsmith.yaml:17:10: this is not the address of an HTTP server; write one such as http://localhost:8080/mcp
       |
    17 |     url: wss://x.example
       |          ^
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is unchanged: no server could be imported
    ");
    assert_eq!(place.text(), before);
    place.ok(&["mcp", "import", "--replace", "--permission", "ask-each"]);
    assert_eq!(place.shown(&[])["servers"][0]["entry"]["permission"], "ask-each");
}

#[test]
fn a_pipe_as_configuration_does_not_block_and_a_replaced_server_is_reported() {
    let place = Project::new();
    place.user("mcpServers:\n  mine: { command: x, permission: deny }\n");
    place.project("mcpServers:\n  mine: { command: y }\n");
    let shown = place.ok(&["trust", "--show"]);
    assert_snapshot!(normal(&shown.stdout), @r"
    /tmp/.tmpXXXXXX/toolsmith.yaml:
      server mine starts: y
    !   replaces your own server mine, with its permissions and filters
    ");
    let path = place.folder.path().join("toolsmith.yaml");
    fs::remove_file(&path).unwrap();
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut texts = Vec::new();
    for arguments in [&["mcp", "list-servers"][..], &["mcp", "add", "a", "--", "x"], &["trust", "--show"]] {
        texts.push(normal(&place.run(arguments).done().exits(2).stderr));
    }
    assert_snapshot!(texts.join("\n"), @r"
    toolsmith: the configuration /tmp/.tmpXXXXXX/toolsmith.yaml is a pipe
    help: remove it: a configuration is a file

    toolsmith: the configuration /tmp/.tmpXXXXXX/toolsmith.yaml is a pipe
    help: remove it: a configuration is a file

    toolsmith: the configuration /tmp/.tmpXXXXXX/toolsmith.yaml is a pipe
    help: remove it: a configuration is a file
    ");
}

/// Editors on Windows write one, and other clients read comments and trailing commas.
#[test]
fn files_with_a_byte_order_mark_are_read_and_changed() {
    let place = Project::new();
    let file = "\u{feff}{\r\n  // mine\r\n  \"mcpServers\": {\r\n    /* one */\r\n    \"a\": { \"command\": \"echo\", \
                \"args\": [\"x\",], },\r\n  },\r\n}\r\n";
    fs::write(place.folder.path().join("other.json"), file).unwrap();
    let done = place.ok(&["mcp", "import", "--scope", "project", "other.json"]);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: added a to /tmp/.tmpXXXXXX/toolsmith.yaml
    toolsmith: not confined: a
    help: to confine one: toolsmith mcp sandbox a --learn
    ");
    fs::write(place.folder.path().join("codex.toml"), "\u{feff}[mcp_servers.c]\ncommand = \"x\"\n").unwrap();
    assert_snapshot!(normal(&place.ok(&["mcp", "import", "codex.toml"]).stderr), @r"
    toolsmith: added c to /tmp/.tmpXXXXXX/toolsmith.yaml
    toolsmith: it counts only in this folder; for all folders: --scope user
    toolsmith: not confined: c
    help: to confine one: toolsmith mcp sandbox c --learn
    ");
    let marked = format!("\u{feff}{}", place.text());
    place.project(&marked);
    place.ok(&["trust", "--yes"]);
    place.ok(&["mcp", "disable", "a"]);
    assert!(place.text().starts_with("\u{feff}mcpServers:"), "{:?}", place.text());
    assert_eq!(
        servers(&place.shown(&[])),
        json!([["a", "project", "disabled"], ["c", "project", "enabled"]])
    );

    let place = Project::new();
    fs::write(place.folder.path().join("toolsmith.json"), file).unwrap();
    place.ok(&["trust", "--yes"]);
    place.ok(&["mcp", "add", "b", "--", "x"]);
    let text = fs::read_to_string(place.folder.path().join("toolsmith.json")).unwrap();
    assert!(text.starts_with("\u{feff}{\r\n  // mine"), "{text:?}");
    assert_eq!(servers(&place.shown(&[])), json!([["a", "project", "enabled"], ["b", "project", "enabled"]]));
    let wrong = file.replace("\"args\"", "\"argss\"");
    fs::write(place.folder.path().join("wrong.json"), wrong).unwrap();
    let checked = place.run(&["config", "check", "wrong.json"]).done().exits(2);
    assert!(checked.stdout.starts_with("wrong.json:5:31: unknown key `argss`"), "{checked:#?}");
}

#[test]
fn imported_servers_have_distinct_names_and_flat_files_are_read() {
    let place = Project::new();
    let file = json!({
        "my.server": { "command": "true" }, "my-server": { "command": "false" },
        "高德地图": { "url": "https://mcp.amap.com/sse?key=${NOT_SET_KEY}" },
    });
    fs::write(place.folder.path().join(".mcp.json"), file.to_string()).unwrap();
    assert_snapshot!(normal(&place.ok(&["mcp", "import"]).stderr), @r#"
    toolsmith: "my.server" is called my-server-2 here
    toolsmith: "高德地图" is called amap here
    toolsmith: amap: the path of its URL ends with /sse, so its type is sse
    toolsmith: amap: the environment variable NOT_SET_KEY is not set; until you set it, the server is unavailable
    toolsmith: added amap, my-server, my-server-2 to /tmp/.tmpXXXXXX/toolsmith/config.yaml
    toolsmith: not confined: my-server, my-server-2
    help: to confine one: toolsmith mcp sandbox my-server --learn
    "#);
    let entries = place.shown(&[])["servers"].clone();
    assert_eq!(entries[0]["name"], "amap", "{entries:#}");
}

/// The address decides, whichever command has written the entry.
#[test]
fn every_reader_assumes_the_same_transport() {
    let place = Project::new();
    for (name, address) in [
        ("a", "https://x.example/sse"),
        ("b", "https://x.example/v1/sse/"),
        ("c", "https://x.example/sse?key=1"),
        ("d", "https://x.example/mcp?next=/sse"),
    ] {
        place.ok(&["mcp", "add", name, "--scope", "project", address]);
        let entry = json!({ "mcpServers": { (name.to_uppercase()): { "serverUrl": address } } });
        fs::write(place.folder.path().join("other.json"), entry.to_string()).unwrap();
        place.ok(&["mcp", "import", "other.json"]);
    }
    place.user("mcpServers:\n  own: { url: \"https://x.example/sse/?key=1\" }\n");
    let listed = place.ok(&["mcp", "list", "--json"]).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let kinds: Vec<_> =
        listed.as_array().unwrap().iter().map(|row| format!("{} {}", row["id"], row["transport"])).collect();
    let expected = ["a sse", "A sse", "b sse", "B sse", "c sse", "C sse", "d http", "D http", "own sse"];
    let expected: std::collections::BTreeSet<String> = expected
        .iter()
        .map(|row| row.split(' ').map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(kinds.into_iter().collect::<std::collections::BTreeSet<_>>(), expected);
}
