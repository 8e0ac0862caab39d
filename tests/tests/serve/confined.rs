//! Confined servers under `toolsmith serve`: sessions that were opened before, shared ones, direct tools, and the session
//! after a crash.

use std::fs;
use std::path::Path;

use end_to_end::harness::FAULT_SERVER;
use end_to_end::serving::{Serve, Server, execute, outcome_of};
use serde_json::json;

const SECRET: &str = "planted-secret";

/// A part of the command lines of the server.
const MODE: &str = "attacks";

/// The watched session, that of the first execution, and two spare ones (the default of `perServer`).
const WITH_SPARES: usize = 3;

/// A server that reads what it is told to, with this `sandbox` and further keys.
fn serving(sandbox: bool, more: &str) -> Server {
    let entry = format!("command: {FAULT_SERVER:?}, args: [{MODE}], trust: true, sandbox: {sandbox}{more}");
    let mut server = Serve::new(&format!("mcpServers:\n  hostile: {{ {entry} }}\n")).start();
    server.shake_hands();
    server
}

/// Has a snippet call the server, which tries to read a file; returns its answer.
#[track_caller]
fn in_a_snippet(server: &mut Server, file: &Path) -> String {
    let code = format!("hostile::echo().message({:?}).await?.text()", format!("read {}", file.display()));
    let answer = server.ask(1, "tools/call", &execute(&code));
    let outcome = outcome_of(&answer);
    outcome["result"].as_str().unwrap_or_else(|| panic!("{outcome:#} {}", server.stderr())).to_owned()
}

/// Calls the server's tool directly, as [`in_a_snippet`].
#[track_caller]
fn directly(server: &mut Server, file: &Path) -> String {
    let call = json!({ "name": "echo", "arguments": { "message": format!("read {}", file.display()) } });
    let answer = server.ask(1, "tools/call", &call);
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
}

/// A file that no setting grants.
fn secret() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    fs::write(&file, SECRET).unwrap();
    (folder, file)
}

#[test]
fn each_kind_of_session_is_confined_also_after_a_crash() {
    let (_folder, file) = secret();
    let read = format!("done {SECRET}");
    type Attempt = fn(&mut Server, &Path) -> String;
    let kinds: [(&str, Attempt); 4] = [
        ("", in_a_snippet),
        (", spare: false", in_a_snippet),
        (", session: shared", in_a_snippet),
        (", codeMode: false", directly),
    ];
    for (more, attempt) in kinds {
        assert_eq!(attempt(&mut serving(false, more), &file), read, "without a sandbox{more}");
        let mut server = serving(true, more);
        for round in 0..3 {
            let answer = attempt(&mut server, &file);
            assert_eq!(answer, "refused No such file or directory (os error 2)", "{round}{more}");
            if round == 1 {
                let tree = server.tree();
                tree.kill(MODE);
                tree.filter(|command| command.contains(MODE)).is_gone();
            }
        }
    }
}

#[test]
fn spare_sessions_are_confined() {
    let (_folder, file) = secret();
    let mut server = serving(true, "");
    for _ in 0..3 {
        assert_eq!(in_a_snippet(&mut server, &file), "refused No such file or directory (os error 2)");
        server.wait_until("spare sessions", || server.tree().count(MODE) >= WITH_SPARES);
    }
}
