//! Compilers that `toolsmith serve` starts before a snippet needs them.

use std::fs;
use std::path::{Path, PathBuf};

use end_to_end::harness::FOREVER;
use end_to_end::harness::unique;
use end_to_end::serving::{DEMO, Serve, Server, Tree, execute, outcome_of};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const STARTED: &str = "a spare compiler is started";
const USED: &str = "a spare compiler has compiled a snippet";
const UNUSABLE: &str = "a spare compiler was not usable";
/// More executions than can start before a changed configuration is in force.
const MANY: usize = 200;
/// A part of the command lines of compilers.
const COMPILER: &str = "--crate-name=program";
/// A part of those of their supervisors.
const SUPERVISOR: &str = "sandbox-helper:";

/// A server with these keys of `serve`, which logs what becomes of spare compilers.
fn serving(keys: &str) -> Server {
    let mut server = Serve::new(&config(keys)).variable("TOOLSMITH_MCP_DEBUG", "1").start();
    server.shake_hands();
    server
}

fn config(keys: &str) -> String {
    format!("{DEMO}serve: {{ {keys} }}\n")
}

/// The outcome of a snippet that is not in the cache.
#[track_caller]
fn outcome(server: &mut Server, code: &str) -> Value {
    let answer = server.ask(1, "tools/call", &execute(&format!("// {}\n{code}", unique())));
    assert!(answer["error"].is_null(), "{answer:#}");
    outcome_of(&answer).clone()
}

#[track_caller]
fn assert_result(server: &mut Server, code: &str, result: &Value) {
    let outcome = outcome(server, code);
    assert_eq!((&outcome["status"], &outcome["result"]), (&json!("ok"), result), "{outcome:#}");
    assert_eq!(outcome["cached"], false, "{outcome:#}");
}

/// The compilers that wait for a text, without their supervisors.
fn compilers(server: &Server) -> Tree {
    server
        .tree()
        .filter(|command| !command.contains(SUPERVISOR) && source(command).is_some_and(|path| waits(&path)))
}

fn count(server: &Server) -> usize {
    compilers(server).commands().len()
}

/// Waits for this number of compilers that can be used: the process of one is seen a little before that.
#[track_caller]
fn wait_for(server: &Server, number: usize) -> Tree {
    let is_ready = || times(server, STARTED) >= times(server, USED) + times(server, UNUSABLE) + number;
    server.wait_until(&format!("{number} spare compilers"), || count(server) == number && is_ready());
    compilers(server)
}

/// A server that has executed a snippet, and its spare compiler.
fn with_spare(keys: &str) -> (Server, Tree) {
    let mut server = serving(keys);
    assert_result(&mut server, "6 * 7", &json!(42));
    let spare = wait_for(&server, 1);
    (server, spare)
}

fn times(server: &Server, phrase: &str) -> usize {
    server.stderr().matches(phrase).count()
}

/// The folders with the sources of these compilers.
fn sources(compilers: &Tree) -> Vec<PathBuf> {
    let all: Vec<PathBuf> =
        compilers.commands().into_iter().filter_map(|(_, command)| source(command)).collect();
    assert!(!all.is_empty() && all.iter().all(|folder| waits(folder)), "{all:?}");
    all
}

/// The folder with the sources of a compiler with this command line.
fn source(command: &str) -> Option<PathBuf> {
    let main = command.split(' ').find(|word| word.ends_with("/main.rs"))?;
    Some(Path::new(main).parent()?.to_owned())
}

/// Whether the compiler of this source folder waits for its text.
fn waits(folder: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    folder.join("snippet.rs").symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[test]
fn a_spare_compiler_compiles_the_next_snippet() {
    let (mut server, spare) = with_spare("");
    for number in 1..4 {
        wait_for(&server, 1);
        assert_result(&mut server, &format!("{number} + 0"), &json!(number));
        server.wait_until(USED, || times(&server, USED) == number);
    }
    spare.is_gone();
    assert_eq!(times(&server, UNUSABLE), 0, "{}", server.stderr());
}

#[test]
fn there_is_one_for_the_latest_bindings_and_one_without() {
    let mut server = serving("");
    let call = "demo::echo(\"a\").await?.text()";
    assert_result(&mut server, call, &json!("a"));
    for number in 0..2 {
        wait_for(&server, 2);
        assert_result(&mut server, "6 * 7", &json!(42));
        wait_for(&server, 2);
        assert_result(&mut server, call, &json!("a"));
        server.wait_until(USED, || times(&server, USED) == 2 * (number + 1));
    }
}

/// Everything that a client sees of a compilation.
const SEEN: [&str; 8] =
    ["status", "result", "error", "diagnostics", "fixes", "manifest", "stdout", "sandbox"];

#[test]
fn outcomes_are_those_of_other_compilers() {
    let long = format!("let text = \"{}\";\ntext.len()", "é".repeat(100_000));
    let snippets = [
        "let x: i32 = \"a\";\nx",
        "let x: i32 = 1_u8;\ndemo::echo(x).await?.text()",
        "let y = 2; y = 3; y",
        "demo::echo(\"never awaited\");\n1",
        "include_str!(\"snippet.rs\").lines().nth(1).map(str::to_owned)",
        "include!(\"snippet.rs\")",
        "include_str!(\"/etc/passwd\").len()",
        "mod other;\n1",
        "let values: Vec<u32> = Vec::new();\nvalues[3]",
        &long,
    ];
    let mut plain = serving("spareCompilers: 0");
    let mut server = serving("");
    assert_result(&mut server, "demo::echo(\"a\").await?.text()", &json!("a"));
    for code in snippets {
        let expected = outcome(&mut plain, code);
        wait_for(&server, 2);
        let before = times(&server, USED);
        let outcome = outcome(&mut server, code);
        for field in SEEN {
            assert_eq!(outcome[field], expected[field], "{field} of {}", &code[..code.len().min(80)]);
        }
        server.wait_until(USED, || times(&server, USED) > before);
    }
    assert_eq!(count(&plain), 0);
    assert_eq!(times(&server, UNUSABLE), 0, "{}", server.stderr());
}

#[test]
fn macros_with_names_of_the_prelude_compile_as_with_other_compilers() {
    let (mut server, _) = with_spare("spareCompilers: 1");
    for code in [
        "mod own { macro_rules! json { () => { 7 } } pub(crate) use json; }\nuse own::json;\njson!()",
        "#[macro_export] macro_rules! seven { () => { 7 } }\ncrate::seven!()",
    ] {
        assert_result(&mut server, code, &json!(7));
        wait_for(&server, 1);
    }
}

#[test]
fn check_only_uses_a_spare_compiler() {
    let (mut server, _) = with_spare("");
    let mut call = execute(&format!("// {}\nlet x: i32 = \"a\"; x", unique()));
    call["arguments"]["check_only"] = json!(true);
    let answer = server.ask(2, "tools/call", &call);
    assert_eq!(outcome_of(&answer)["diagnostics"][0]["code"], "E0308", "{answer:#}");
    server.wait_for_log(USED);
}

#[test]
fn a_killed_one_costs_a_new_compiler() {
    let (mut server, spare) = with_spare("");
    server.tree().kill(COMPILER);
    spare.is_gone();
    assert_result(&mut server, "6 * 7", &json!(42));
    assert_eq!(times(&server, USED), 0, "{}", server.stderr());
    // The next one has a spare compiler again.
    wait_for(&server, 1);
    assert_result(&mut server, "6 * 7", &json!(42));
    server.wait_for_log(USED);
}

#[test]
fn a_stuck_one_costs_a_new_compiler() {
    let (mut server, spare) = with_spare("");
    for (id, _) in spare.commands() {
        kill_process(Pid::from_raw(id.cast_signed()).unwrap(), Signal::STOP).unwrap();
    }
    assert_result(&mut server, "6 * 7", &json!(42));
    server.wait_for_log(UNUSABLE);
    spare.is_gone();
    assert_eq!(times(&server, USED), 0, "{}", server.stderr());
}

/// Another process of the user has deleted what it uses.
#[test]
fn one_without_its_folder_costs_a_new_compiler() {
    let (mut server, spare) = with_spare("");
    for folder in sources(&spare) {
        fs::rename(&folder, folder.with_extension("moved")).unwrap();
        fs::remove_dir_all(folder.with_extension("moved")).unwrap();
    }
    assert_result(&mut server, "6 * 7", &json!(42));
    assert_eq!(times(&server, USED), 0, "{}", server.stderr());
}

#[test]
fn a_cancelled_request_ends_the_compiler_that_it_uses() {
    let (mut server, spare) = with_spare("");
    let code = format!("// {}\n{FOREVER}", unique());
    server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": execute(&code) }));
    let source = sources(&spare).remove(0);
    server.wait_until("its use", || !waits(&source));
    let cancel = json!({ "requestId": 7 });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }));
    spare.is_gone();
    server.wait_until("the end of its folder", || !source.exists());
    assert_result(&mut server, "6 * 7", &json!(42));
}

#[test]
fn a_changed_configuration_ends_those_that_do_not_fit() {
    let (mut server, first) = with_spare("");
    let folders = sources(&first);
    // Other confinement, so another engine.
    server.configure(&format!(
        "{}codeMode: {{ sandbox: {{ dangerouslyRunWithoutSandbox: true }} }}\n",
        config("")
    ));
    first.is_gone();
    server.wait_until("the end of their folders", || !folders.iter().any(|folder| folder.exists()));
    // The list of tools, and with it the configuration of executions, follows the file a little later.
    let is_unconfined = |server: &mut Server| outcome(server, "6 * 7")["sandbox"]["tier"] == "off";
    assert!((0..MANY).any(|_| is_unconfined(&mut server)), "{}", server.stderr());
    let unconfined = wait_for(&server, 1);
    assert_result(&mut server, "6 * 7", &json!(42));
    server.wait_for_log(USED);
    unconfined.is_gone();
    let last = wait_for(&server, 1);
    server.configure(&config("spareCompilers: 0"));
    last.is_gone();
    assert_result(&mut server, "6 * 7", &json!(42));
    assert_eq!(count(&server), 0);
}

#[test]
fn they_end_when_no_snippet_follows() {
    // Long enough to look at the compiler on a busy machine.
    let (mut server, spare) = with_spare("spares: { idleTime: 5 }");
    let folders = sources(&spare);
    spare.is_gone();
    server.wait_until("the end of their folders", || !folders.iter().any(|folder| folder.exists()));
    assert_result(&mut server, "6 * 7", &json!(42));
    wait_for(&server, 1);
}

#[test]
fn nothing_is_left_of_them_after_the_end() {
    let (mut server, spare) = with_spare("");
    let folders = sources(&spare);
    server.close_input();
    // No process may be left.
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
    spare.is_gone();
    assert!(!folders.iter().any(|folder| folder.exists()), "{folders:?}");
}

#[test]
fn nothing_is_left_of_them_after_a_kill_and_the_next_start() {
    let (mut server, spare) = with_spare("");
    let (folders, tree) = (sources(&spare), server.tree());
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
    tree.is_gone();
    let mut next = serving("");
    assert_result(&mut next, "6 * 7", &json!(42));
    assert!(!folders.iter().any(|folder| folder.exists()), "{folders:?}");
}
