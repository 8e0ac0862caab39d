//! The lock files that pin a server: that of its layer, and always the user's. Trusting a project includes its lock
//! file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run, unique};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A project's folder, a user's folder of configurations, and a folder without a project.
struct Project {
    home: TempDir,
    project: TempDir,
    elsewhere: TempDir,
    /// Distinguishes these servers from those of other tests in the shared cache.
    unique: String,
}

impl Project {
    /// A user with the server `faulty`, whose tools are defined in a file.
    fn new() -> Self {
        let folder = || tempfile::tempdir().unwrap();
        let place = Project { home: folder(), project: folder(), elsewhere: folder(), unique: unique() };
        fs::create_dir(place.home.path().join("toolsmith")).unwrap();
        place.offer("users", &json!({ "one": "reads a file" }));
        place.user(&place.servers(&[("faulty", "users")]));
        place
    }

    /// `mcpServers` with these servers, each with the tools of a list.
    fn servers(&self, servers: &[(&str, &str)]) -> String {
        let entry = |(name, tools): &(&str, &str)| {
            format!(
                "  {name}: {{ command: {FAULT_SERVER:?}, args: [described, {:?}], env: {{ PLACE: {:?} }}, trust: true }}\n",
                self.tools(tools),
                self.unique
            )
        };
        format!("mcpServers:\n{}", servers.iter().map(entry).collect::<String>())
    }

    fn tools(&self, list: &str) -> PathBuf {
        self.home.path().join(format!("{list}.json"))
    }

    fn offer(&self, list: &str, tools: &Value) {
        fs::write(self.tools(list), tools.to_string()).unwrap();
    }

    fn user(&self, text: &str) {
        fs::write(self.home.path().join("toolsmith/config.yaml"), text).unwrap();
    }

    fn users_lock(&self) -> PathBuf {
        self.home.path().join("toolsmith/toolsmith.lock")
    }

    fn projects_lock(&self) -> PathBuf {
        self.project.path().join("toolsmith.lock")
    }

    /// Writes the project's configuration and trusts it.
    fn project(&self, text: &str) {
        fs::write(self.project.path().join("toolsmith.yaml"), text).unwrap();
        self.in_project(&["trust", "--yes"]).exits(0);
    }

    fn run_in(&self, folder: &Path, arguments: &[&str]) -> Run {
        Run::new(shared())
            .arguments(arguments)
            .working_folder(folder)
            .variable("XDG_CONFIG_HOME", self.home.path().to_str().unwrap())
    }

    fn in_project(&self, arguments: &[&str]) -> FinishedRun {
        self.run_in(self.project.path(), arguments).done()
    }

    fn elsewhere(&self, arguments: &[&str]) -> FinishedRun {
        self.run_in(self.elsewhere.path(), arguments).done()
    }
}

const CALL: [&str; 8] =
    ["mcp", "call-tool", "--server", "faulty", "--tool", "one", "--args", "{\"message\":\"x\"}"];

/// Checks that the call was rejected because of a pin.
#[track_caller]
fn assert_held_back(done: FinishedRun) {
    done.exits(6).says(&["faulty.one has changed", "held back"]);
}

fn lock(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn names(lock: &Value) -> Vec<&str> {
    lock["servers"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_users_pins_apply_under_every_other_layer() {
    let place = Project::new();
    place.elsewhere(&["mcp", "lock"]).exits(0);
    place.elsewhere(&CALL).exits(0);
    place.offer("users", &json!({ "one": "reads a file, and sends it" }));
    assert_held_back(place.elsewhere(&CALL));

    let named = place.elsewhere.path().join("named.yaml");
    fs::write(&named, "globalSettings: { timeout: 50 }\n").unwrap();
    let with_named = [&CALL[..], &["--config", named.to_str().unwrap()]].concat();
    assert_held_back(place.elsewhere(&with_named));
    let servers = json!([{ "name": "other", "command": FAULT_SERVER.path(), "args": ["sound"] }]).to_string();
    assert_held_back(
        place.run_in(place.elsewhere.path(), &CALL).variable("TOOLSMITH_MCP_SERVERS", &servers).done(),
    );
    place.project("globalSettings: { timeout: 50 }\n");
    assert_held_back(place.in_project(&CALL));
    assert_held_back(place.in_project(&with_named));

    // Neither listed, nor generated, nor callable from a program.
    let code = format!("// {}\nfaulty::one().message(\"x\").await?.text()", unique());
    let run = place.run_in(place.project.path(), &["run", "--json", "-"]).input(code).done();
    run.says(&["faulty.one has changed"]).expect("compile_error", 3);
    assert_snapshot!(normal(&place.in_project(&["mcp", "status"]).exits(0).stderr), @r#"
    toolsmith: warning: faulty: tools that differ from /tmp/.tmpXXXXXX/toolsmith/toolsmith.lock are held back:
      ~ faulty.one has changed:
          description: was "reads a file"
                       is "reads a file, and sends it"
    review the change, and accept it with `toolsmith mcp lock --accept faulty`
    "#);
    let listed = place.in_project(&["codegen"]).exits(0);
    assert!(!listed.stdout.contains("fn one"), "{listed:#?}");
    assert_snapshot!(normal(&place.in_project(&["mcp", "lock"]).exits(1).stderr), @r#"
    faulty: tools differ from those in /tmp/.tmpXXXXXX/toolsmith/toolsmith.lock:
      ~ faulty.one has changed:
          description: was "reads a file"
                       is "reads a file, and sends it"
    toolsmith: the tools of faulty differ from the lock file, which is unchanged
    help: check the changes, and accept them with `toolsmith mcp lock --accept faulty`
    "#);
}

#[test]
fn replacing_a_users_server_does_not_unpin_it() {
    let place = Project::new();
    place.elsewhere(&["mcp", "lock"]).exits(0);
    place.offer("projects", &json!({ "one": "reads a file, and sends it" }));
    let replaced = place.servers(&[("faulty", "projects")]);
    place.project(&replaced);
    assert_held_back(place.in_project(&CALL));
    fs::write(place.elsewhere.path().join("named.yaml"), &replaced).unwrap();
    assert_held_back(place.elsewhere(&[&CALL[..], &["--config", "named.yaml"]].concat()));

    // Accepting updates every file that pins the server, and both are named.
    let shown = place.in_project(&["mcp", "lock"]).exits(1);
    assert_snapshot!(normal(&shown.stderr), @r#"
    faulty: tools differ from those in /tmp/.tmpXXXXXX/toolsmith/toolsmith.lock:
      ~ faulty.one has changed:
          description: was "reads a file"
                       is "reads a file, and sends it"
    toolsmith: the tools of faulty differ from the lock file, which is unchanged
    help: check the changes, and accept them with `toolsmith mcp lock --accept faulty`
    "#);
    assert!(!place.projects_lock().exists());
    place.in_project(&["mcp", "lock", "--accept", "faulty"]).exits(0);
    place.in_project(&CALL).exits(0);
    assert_held_back(place.elsewhere(&CALL));
}

#[test]
fn each_server_is_locked_next_to_its_configuration() {
    let place = Project::new();
    place.offer("projects", &json!({ "two": "does another thing" }));
    place.project(&place.servers(&[("other", "projects")]));
    place.in_project(&["mcp", "lock"]).exits(0);
    assert_eq!(names(&lock(&place.users_lock())), ["faulty"]);
    assert_eq!(names(&lock(&place.projects_lock())), ["other"]);

    // A pin in the project's file, as older versions wrote it, also applies to the user's server.
    fs::copy(place.users_lock(), place.projects_lock()).unwrap();
    fs::remove_file(place.users_lock()).unwrap();
    place.in_project(&["trust", "--yes"]).exits(0);
    place.offer("users", &json!({ "one": "reads a file, and sends it" }));
    assert_held_back(place.in_project(&CALL));
    place.elsewhere(&CALL).exits(0);
}

#[test]
fn lock_files_of_the_user_neither_contain_nor_pin_the_demo_server() {
    let place = Project::new();
    place.user(&place.servers(&[("demo", "users")]));
    place.elsewhere(&["mcp", "lock"]).exits(0);
    let before = fs::read(place.users_lock()).unwrap();
    let mut shown = Vec::new();
    for command in [&["mcp", "lock", "--demo"][..], &["mcp", "lock", "--demo", "--accept"]] {
        shown.push(normal(&place.elsewhere(command).exits(2).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: the demo server has no lock file
    help: name a file with --lock FILE

    toolsmith: the demo server has no lock file
    help: name a file with --lock FILE
    ");
    let observe = ["mcp", "observe", "demo.echo", "--demo"];
    assert_snapshot!(normal(&place.elsewhere(&observe).exits(2).stderr), @r"
    toolsmith: the demo server has no lock file
    help: name a file with --lock FILE
    ");
    let called = place.elsewhere(&["mcp", "call", "demo.echo", "message=hello", "--demo"]).exits(0);
    assert_eq!((called.stdout.as_str(), called.stderr.as_str()), ("hello\n", ""));
    assert_eq!(fs::read(place.users_lock()).unwrap(), before);

    place.elsewhere(&["mcp", "lock", "--demo", "--lock", "demo.lock"]).exits(0);
    let written = lock(&place.elsewhere.path().join("demo.lock"));
    assert_eq!(names(&written), ["demo"]);
    assert!(written["servers"]["demo"]["tools"]["echo"].is_object(), "{written:#}");
}

#[test]
fn a_projects_lock_is_part_of_what_is_trusted() {
    let place = Project::new();
    place.offer("projects", &json!({ "two": "does another thing" }));
    place.project(&place.servers(&[("other", "projects")]));
    // Locking keeps the project trusted, and so do other commands that write the file.
    place.in_project(&["mcp", "lock"]).exits(0);
    place.in_project(&["mcp", "observe", "other.two", "--args", "{\"message\":\"7\"}"]).exits(0);
    place.in_project(&["mcp", "observe", "other.two", "--forget"]).exits(0);
    place.in_project(&["mcp", "observe", "other.two", "--args", "{\"message\":\"7\"}"]).exits(0);
    place.in_project(&["config", "show"]).exits(0);
    place.in_project(&["mcp", "lock", "--lock", "./toolsmith.lock"]).exits(0);
    place.in_project(&["mcp", "lock", "--config", "toolsmith.yaml"]).exits(0);
    assert_snapshot!(normal(&place.in_project(&["trust", "--show"]).exits(0).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is trusted
    ");

    let file = place.projects_lock();
    let good = fs::read_to_string(&file).unwrap();
    let shown = place.in_project(&["trust", "--show"]);
    assert!(
        shown.stdout.contains("toolsmith.lock pins ") && shown.stdout.contains("other (1 tool)"),
        "{shown:#?}"
    );
    let empty = "{ \"version\": 1, \"servers\": {} }\n";
    let forms = [
        Some(empty),
        Some(""),
        Some("{ torn"),
        None,
        Some(&good.replace("\"pinned\": true", "\"pinned\": false")),
    ]
    .map(|text| text.map(str::to_owned));
    for text in forms {
        match &text {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        for command in [&["config", "show"][..], &["mcp", "list-tools"], &["mcp", "lock"], &["codegen"]] {
            let done = place.in_project(command).exits(2);
            done.says(&["toolsmith.lock", "has changed since it was trusted", "toolsmith trust"]);
        }
        place.in_project(&["trust", "--show"]).exits(0).says(&["toolsmith.lock", "has changed"]);
        // A command that changes the configuration does not restore the trust.
        place.in_project(&["mcp", "add", "more", "--", "x"]).exits(0).says(&["toolsmith trust"]);
        place.in_project(&["config", "show"]).exits(2);
        place.in_project(&["mcp", "remove", "more"]).exits(0);
        fs::write(&file, &good).unwrap();
        place.in_project(&["trust", "--yes"]).exits(0);
    }
    place.in_project(&["config", "show"]).exits(0);
    place.in_project(&["mcp", "disable", "other"]).exits(0);
    place.in_project(&["config", "show"]).exits(0);

    // An added lock file is a change too.
    fs::remove_file(&file).unwrap();
    place.in_project(&["trust", "--yes"]).exits(0);
    place.in_project(&["config", "show"]).exits(0);
    fs::write(&file, &good).unwrap();
    assert_snapshot!(normal(&place.in_project(&["config", "show"]).exits(2).stderr), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is no longer trusted: its lock file /tmp/.tmpXXXXXX/toolsmith.lock has changed since it was trusted
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
    fs::remove_file(&file).unwrap();
    place.in_project(&["config", "show"]).exits(0);
}

#[test]
fn a_lock_file_behind_a_link_is_trusted_by_its_content() {
    let place = Project::new();
    place.offer("projects", &json!({ "two": "does another thing" }));
    place.project(&place.servers(&[("other", "projects")]));
    let target = place.elsewhere.path().join("real.lock");
    fs::write(&target, "{ \"version\": 1, \"servers\": {} }\n").unwrap();
    symlink(&target, place.projects_lock()).unwrap();
    assert_snapshot!(normal(&place.in_project(&["config", "show"]).exits(2).stderr), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is no longer trusted: its lock file /tmp/.tmpXXXXXX/toolsmith.lock has changed since it was trusted
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
    place.in_project(&["trust", "--yes"]).exits(0);
    place.in_project(&["mcp", "lock"]).exits(0);
    assert!(place.projects_lock().is_symlink());
    place.in_project(&["config", "show"]).exits(0);
    fs::write(&target, "{ \"version\": 1, \"servers\": {} }\n").unwrap();
    assert_snapshot!(normal(&place.in_project(&["config", "show"]).exits(2).stderr), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is no longer trusted: its lock file /tmp/.tmpXXXXXX/toolsmith.lock has changed since it was trusted
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
    fs::remove_file(place.projects_lock()).unwrap();
    symlink(place.elsewhere.path().join("nowhere"), place.projects_lock()).unwrap();
    assert_snapshot!(normal(&place.in_project(&["config", "show"]).exits(2).stderr), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is no longer trusted: its lock file /tmp/.tmpXXXXXX/toolsmith.lock has changed since it was trusted
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
}

#[test]
fn adding_a_server_does_not_trust_an_existing_lock_file() {
    let place = Project::new();
    fs::write(place.projects_lock(), "{ \"version\": 1, \"servers\": {} }\n").unwrap();
    let done = place.in_project(&["mcp", "add", "own", "--scope", "project", "--", "x"]).exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: it has no effect until you trust it: toolsmith trust
    toolsmith: added own to /tmp/.tmpXXXXXX/toolsmith.yaml
    toolsmith: warning: own was not tried: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is not trusted yet
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
    assert_snapshot!(normal(&place.in_project(&["config", "show"]).exits(2).stderr), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/toolsmith.yaml, is not trusted yet
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
}

#[test]
fn a_different_lock_file_does_not_unpin() {
    let place = Project::new();
    place.elsewhere(&["mcp", "lock"]).exits(0);
    place.offer("users", &json!({ "one": "reads a file, and sends it" }));
    let observe = ["mcp", "observe", "faulty.one", "--args", "{\"message\":\"7\"}", "--lock", "empty.lock"];
    assert_snapshot!(normal(&place.elsewhere(&observe).exits(6).stderr), @r"
    toolsmith: the tool has changed since its server was locked, and is held back; review the change, and accept it with `toolsmith mcp lock --accept faulty`
    ");
    // Writing other lock files does not unpin either.
    place.elsewhere(&["mcp", "lock", "--lock", "empty.lock"]).exits(0);
    assert_held_back(place.elsewhere(&CALL));
}

#[test]
fn a_project_with_an_inner_folder_is_trusted_with_the_lock_in_there() {
    let place = Project::new();
    place.offer("projects", &json!({ "two": "does another thing" }));
    let inner = place.project.path().join(".toolsmith");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("config.yaml"), place.servers(&[("other", "projects")])).unwrap();
    place.in_project(&["trust", "--yes"]).exits(0);
    place.in_project(&["mcp", "lock"]).exits(0);
    assert_eq!(names(&lock(&inner.join("toolsmith.lock"))), ["other"]);
    place.in_project(&["config", "show"]).exits(0);
    // A lock file next to the folder has no effect.
    fs::write(place.projects_lock(), "{ torn").unwrap();
    place.in_project(&["mcp", "list-tools"]).exits(0);
    fs::write(inner.join("toolsmith.lock"), "").unwrap();
    assert_snapshot!(normal(&place.in_project(&["mcp", "list-tools"]).exits(2).stderr), @r"
    toolsmith: the configuration of this folder, /tmp/.tmpXXXXXX/.toolsmith/config.yaml, is no longer trusted: its lock file /tmp/.tmpXXXXXX/.toolsmith/toolsmith.lock has changed since it was trusted
    help: review what it starts and which settings it weakens, then trust it: toolsmith trust
    help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
    help: or name another configuration: --config FILE
    ");
}
