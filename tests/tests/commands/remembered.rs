//! A remembered permission applies only to the same server, started in the same way.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

const QUESTION: &str = "[n] no: ";

/// A user at a terminal with two projects.
struct Project {
    home: TempDir,
    one: TempDir,
    other: TempDir,
}

impl Project {
    /// Both projects have the same configuration, with one server.
    fn new(entry: &str) -> Self {
        let folder = || tempfile::tempdir().unwrap();
        let place = Project { home: folder(), one: folder(), other: folder() };
        for project in [&place.one, &place.other] {
            write_project(project.path(), entry);
        }
        place
    }

    fn run(&self, folder: &Path, arguments: &[&str]) -> Run {
        Run::on_terminal(shared())
            .arguments(arguments)
            .working_folder(folder)
            .variable("XDG_CONFIG_HOME", self.home.path().to_str().unwrap())
            .variable("XDG_STATE_HOME", self.home.path().join("state").to_str().unwrap())
    }

    fn call(&self, folder: &Path) -> Run {
        self.run(folder, &["trust", "--yes"]).done().exits(0);
        let arguments = "{\"message\":\"x\"}";
        self.run(folder, &["mcp", "call-tool", "--server", "s", "--tool", "echo", "--args", arguments])
    }

    /// Calls the tool and answers "always".
    #[track_caller]
    fn allow(&self, folder: &Path) {
        answer(self.call(folder), "a\n").exits(0);
        is_granted(self.call(folder));
    }

    fn file(&self) -> PathBuf {
        self.home.path().join("toolsmith/permissions.json")
    }
}

fn write_project(folder: &Path, entry: &str) {
    fs::write(folder.join("toolsmith.yaml"), format!("mcpServers:\n  s: {entry}\n")).unwrap();
}

fn answer(run: Run, answer: &str) -> FinishedRun {
    let started = run.start();
    started.answer(QUESTION, 1, answer);
    started.done()
}

#[track_caller]
fn is_granted(run: Run) {
    let done = run.done().exits(0);
    assert!(!done.stderr.contains(QUESTION), "{done:#?}");
}

/// Checks that there is a prompt, so nothing was remembered.
#[track_caller]
fn is_asked(run: Run) {
    answer(run, "n\n").exits(6);
}

/// A program in `folder` that becomes the fault server.
fn program(file: &Path, comment: &str) {
    fs::write(file, format!("#!/bin/sh\n# {comment}\nexec {FAULT_SERVER:?} sound\n")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_remembered_answer_applies_in_the_servers_folder() {
    let place = Project::new(&format!("{{ command: {FAULT_SERVER:?}, args: [sound] }}"));
    place.allow(place.one.path());
    is_asked(place.call(place.other.path()));
    // A link to the folder is the same folder.
    let link = place.home.path().join("link");
    symlink(place.one.path(), &link).unwrap();
    is_granted(place.call(&link));
}

#[test]
fn a_remembered_answer_applies_to_the_found_program() {
    let place = Project::new("{ command: the-server, cwd: / }");
    let bin = |name: &str| {
        let folder = place.home.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        program(&folder.join("the-server"), name);
        format!("{}:/usr/bin:/bin", folder.display())
    };
    let (one, other) = (bin("one"), bin("other"));
    let call = |path: &str| place.call(place.one.path()).variable("PATH", path);
    answer(call(&one), "a\n").exits(0);
    is_granted(call(&one));
    is_asked(call(&other));
    // The program has changed.
    program(&place.home.path().join("one/the-server"), "changed");
    is_asked(call(&one));
}

#[test]
fn a_remembered_answer_applies_to_the_script_in_the_arguments() {
    let script = "server.sh";
    let place = Project::new(&format!("{{ command: sh, args: [{script}, data] }}"));
    let folder = place.one.path();
    program(&folder.join(script), "first");
    fs::write(folder.join("data"), "1").unwrap();
    place.allow(folder);
    // Data may change; a changed script, or a link to a different one, is a different script.
    fs::write(folder.join("data"), "2").unwrap();
    is_granted(place.call(folder));
    program(&folder.join(script), "second");
    is_asked(place.call(folder));
    program(&folder.join(script), "first");
    is_granted(place.call(folder));
    fs::rename(folder.join(script), folder.join("real.sh")).unwrap();
    symlink("real.sh", folder.join(script)).unwrap();
    is_asked(place.call(folder));
}

#[test]
fn a_remembered_answer_applies_to_variable_values_which_are_not_stored() {
    let entry = |value: &str| {
        format!("{{ command: {FAULT_SERVER:?}, args: [sound], cwd: /, env: {{ WHERE: {value} }} }}")
    };
    let place = Project::new(&entry("production-7381"));
    let folder = place.one.path();
    place.allow(folder);
    write_project(folder, &entry("staging-7381"));
    is_asked(place.call(folder));
    write_project(folder, &entry("production-7381"));
    is_granted(place.call(folder));

    let text = fs::read_to_string(place.file()).unwrap();
    assert!(!text.contains("7381") && !text.contains("fault-server"), "{text}");
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
    let key = place.home.path().join("state/toolsmith/permissions.key");
    assert_eq!((mode(&place.file()), mode(&key), fs::metadata(&key).unwrap().len()), (0o600, 0o600, 32));
    // Hashes are useless without the key.
    fs::remove_file(&key).unwrap();
    is_asked(place.call(folder));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    assert_snapshot!(normal(&answer(place.call(folder), "a\n").exits(0).stderr), @r#"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: s.echo
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [a] always  [n] no: a
    toolsmith: the answer is valid for this time only: the key /tmp/.tmpXXXXXX/state/toolsmith/permissions.key can't be used: others may read it; remove it, and you will be asked again
    "#);
}

#[test]
fn answers_of_an_older_format_are_ignored_and_reported_once() {
    let place = Project::new(&format!("{{ command: {FAULT_SERVER:?}, args: [sound], cwd: / }}"));
    let folder = place.one.path();
    place.allow(folder);
    let mut content: Value = serde_json::from_str(&fs::read_to_string(place.file()).unwrap()).unwrap();
    assert_eq!(content["version"], 3);
    // Even if the hashes match.
    let mut older = content.clone();
    older["version"] = json!(1);
    for server in older["servers"].as_object_mut().unwrap().values_mut() {
        server["allow"]
            .as_object_mut()
            .unwrap()
            .values_mut()
            .for_each(|answer| *answer = answer["hash"].take());
    }
    fs::write(place.file(), older.to_string()).unwrap();
    let done = answer(place.call(folder), "n\n").exits(6);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: warning: /tmp/.tmpXXXXXX/toolsmith/permissions.json has an older version, which did not cover the servers' folders, programs and variables: its answers are no longer valid, and you will be asked again (it is /tmp/.tmpXXXXXX/toolsmith/permissions.json.1 now)
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: s.echo
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [a] always  [n] no: n
    toolsmith: permission to call s.echo was refused
    "#);
    let done = answer(place.call(folder), "a\n").exits(0);
    assert!(!done.stderr.contains("older"), "{done:#?}");
    is_granted(place.call(folder));
    // A file of a later version is neither used nor overwritten.
    content["version"] = json!(4);
    fs::write(place.file(), content.to_string()).unwrap();
    let done = answer(place.call(folder), "a\n").exits(0);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: warning: /tmp/.tmpXXXXXX/toolsmith/permissions.json is invalid: its version is 4, and this version of Toolsmith knows those up to 3; correct or delete it
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: s.echo
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [a] always  [n] no: a
    toolsmith: the answer is valid for this time only: /tmp/.tmpXXXXXX/toolsmith/permissions.json can't be written: /tmp/.tmpXXXXXX/toolsmith/permissions.json is invalid: its version is 4, and this version of Toolsmith knows those up to 3; correct or delete it
    "#);
    assert_eq!(fs::read_to_string(place.file()).unwrap(), content.to_string());
}

#[test]
fn permanent_answers_are_listed_and_taken_back() {
    let place = Project::new(&format!("{{ command: {FAULT_SERVER:?}, args: [sound], cwd: / }}"));
    let (folder, other) = (place.one.path(), place.other.path());
    assert_snapshot!(normal(&place.run(folder, &["permission", "list"]).done().exits(0).stderr), @r"
    toolsmith: warning: The configuration /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted yet and is left out: run `toolsmith trust` in its folder.
    toolsmith: you have allowed no tool permanently
    ");
    place.allow(folder);
    let list = |folder: &Path| -> Value {
        let mut run = place.run(folder, &["permission", "list", "--json"]);
        run = run.variable("TERM", "dumb");
        serde_json::from_str(&run.done().exits(0).stdout).unwrap()
    };
    let listed = list(folder);
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed:#}");
    let answer = &listed[0];
    assert_eq!((&answer["server"], &answer["tool"]), (&json!("s"), &json!("echo")));
    assert_eq!(
        (&answer["answeredAt"], &answer["state"]),
        (&json!("terminal"), &json!("in_force")),
        "{answer:#}"
    );
    assert!(answer["since"].as_str().is_some_and(|since| since.starts_with("20") && since.ends_with('Z')));
    // The project that is not trusted has no servers.
    assert_eq!(list(other)[0]["state"], "other_server");
    let revoke = |what: &str| place.run(folder, &["permission", "revoke", what]).done();
    assert_snapshot!(normal(&revoke("s.ecko").exits(2).stderr), @r#"
    toolsmith: no permanent answer is about "s.ecko"
    help: did you mean `s.echo`?
    help: `toolsmith permission list` lists the answers
    "#);
    assert_eq!(list(folder), listed);
    assert_snapshot!(normal(&revoke("s.*").exits(0).stderr), @"toolsmith: took back 1 answer: s.echo");
    is_asked(place.call(folder));
    assert_eq!(list(folder), json!([]));
}
