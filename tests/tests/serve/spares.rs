//! Sessions that `toolsmith serve` opens before an execution needs them, and sessions that executions share.
//!
//! The server records each of its sessions in a file, and returns which process answers and how often it was called.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use end_to_end::harness::FAULT_SERVER;
use end_to_end::serving::{HANDSHAKE, Serve, Server, execute, outcome_of};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A part of the command lines of the server.
const MODE: &str = "records-sessions";

/// A snippet that returns the state of the session that it uses.
const STATE: &str = "sessions::session().await?.json::<serde_json::Value>()?";

/// The same with the tool that its list has only after a change.
const LATE: &str = "sessions::late().await?.json::<serde_json::Value>()?";

/// A server that records its sessions.
struct Recorded {
    folder: TempDir,
}

impl Recorded {
    fn new() -> Self {
        Recorded { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// An entry with this name, and more keys.
    fn entry(&self, name: &str, more: &str) -> String {
        let file = self.file(name);
        format!("  {name}: {{ command: {FAULT_SERVER:?}, args: [{MODE}, {file:?}], trust: true{more} }}\n")
    }

    /// A configuration with the server `sessions`.
    fn config(&self, more: &str) -> String {
        format!("mcpServers:\n{}", self.entry("sessions", more))
    }

    /// The processes of the sessions so far, in order, and whether their client answers questions.
    fn all(&self, name: &str) -> Vec<(u32, bool)> {
        sessions_in(&self.file(name))
    }

    fn processes(&self) -> BTreeSet<u32> {
        self.all("sessions").into_iter().map(|(process, _)| process).collect()
    }

    /// Waits until there were this many sessions.
    #[track_caller]
    fn wait_for(&self, server: &Server, name: &str, count: usize) {
        server.wait_until(&format!("{count} sessions"), || self.all(name).len() >= count);
    }
}

fn sessions_in(file: &Path) -> Vec<(u32, bool)> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(process, elicits)| (process.parse().unwrap(), elicits == "true")).collect()
}

/// Runs a snippet; returns its result.
#[track_caller]
fn result_of(server: &mut Server, id: u32, code: &str) -> Value {
    let answer = server.ask(id, "tools/call", &execute(code));
    let outcome = outcome_of(&answer);
    assert_eq!(outcome["status"], "ok", "{answer:#} {}", server.stderr());
    outcome["result"].clone()
}

fn process_in(state: &Value) -> u32 {
    u32::try_from(state["process"].as_u64().unwrap()).unwrap()
}

/// Whether a process has ended; a zombie has.
fn has_ended(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with(['Z', 'X']))
}

/// The watched session, that of the first execution, and two spare ones (the default of `perServer`).
const AFTER_THE_FIRST: usize = 4;

#[test]
fn each_execution_has_its_own_session_which_was_opened_before() {
    let recorded = Recorded::new();
    let mut server = Serve::new(&recorded.config("")).start();
    server.shake_hands();
    let mut used = BTreeSet::from([process_in(&result_of(&mut server, 1, STATE))]);
    for execution in 0..5 {
        recorded.wait_for(&server, "sessions", AFTER_THE_FIRST + execution);
        let before = recorded.processes();
        let state = result_of(&mut server, 2 + u32::try_from(execution).unwrap(), STATE);
        assert!(before.contains(&process_in(&state)), "opened only now: {state} {before:?}");
        assert!(used.insert(process_in(&state)), "used before: {state} {used:?}");
        assert_eq!((&state["calls"], &state["sessions"]), (&json!(1), &json!(1)), "{state}");
    }
    server.close_input();
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
    assert!(recorded.processes().into_iter().all(has_ended));
}

#[test]
fn executions_at_once_have_different_sessions() {
    let recorded = Recorded::new();
    let mut server = Serve::new(&recorded.config("")).start();
    server.shake_hands();
    result_of(&mut server, 1, STATE);
    for id in 2..10 {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": execute(STATE) });
        server.send(&call);
    }
    let mut used = BTreeSet::new();
    for id in 2..10 {
        let answer = server.receive("the answer", |message| message["id"] == id);
        let state = &outcome_of(&answer)["result"];
        assert_eq!(state["calls"], 1, "{answer:#}");
        assert!(used.insert(process_in(state)), "{answer:#}");
    }
}

#[test]
fn a_dead_spare_session_is_replaced_by_a_new_one() {
    let recorded = Recorded::new();
    let mut server = Serve::new(&recorded.config("")).start();
    server.shake_hands();
    let first = process_in(&result_of(&mut server, 1, STATE));
    recorded.wait_for(&server, "sessions", AFTER_THE_FIRST);
    let watched = recorded.all("sessions")[0].0;
    let spares: Vec<u32> =
        recorded.processes().into_iter().filter(|process| ![watched, first].contains(process)).collect();
    for process in &spares {
        kill_process(Pid::from_raw(i32::try_from(*process).unwrap()).unwrap(), Signal::KILL).unwrap();
        server.wait_until("the end of the process", || has_ended(*process));
    }
    let state = result_of(&mut server, 2, STATE);
    assert!(!spares.contains(&process_in(&state)), "{state}");
}

/// Executes a snippet once, and stops the processes of the spare sessions that are opened then.
#[track_caller]
fn with_stopped_spares(recorded: &Recorded, code: &str) -> (Server, Vec<u32>) {
    let mut server = Serve::new(&recorded.config("")).arguments(&["--verbose"]).start();
    server.shake_hands();
    let first = process_in(&result_of(&mut server, 1, code));
    recorded.wait_for(&server, "sessions", AFTER_THE_FIRST);
    let watched = recorded.all("sessions")[0].0;
    let stopped: Vec<u32> =
        recorded.processes().into_iter().filter(|process| ![watched, first].contains(process)).collect();
    for process in &stopped {
        kill_process(Pid::from_raw(i32::try_from(*process).unwrap()).unwrap(), Signal::STOP).unwrap();
    }
    (server, stopped)
}

const NOT_USABLE: &str = "a spare session was not usable";

/// A server that does not answer the check of its spare session costs a new session.
#[test]
fn a_spare_session_that_does_not_answer_is_not_used() {
    let recorded = Recorded::new();
    let (mut server, stopped) = with_stopped_spares(&recorded, STATE);
    let state = result_of(&mut server, 2, STATE);
    assert!(!stopped.contains(&process_in(&state)), "{state}");
    server.wait_for_log(NOT_USABLE);
}

/// Whether a program runs before the check of its session has ended, which here ends only at its time limit.
fn runs_before_the_check() -> bool {
    let code = format!("progress(1, 1, \"it runs\");\n{STATE}");
    let recorded = Recorded::new();
    let (mut server, stopped) = with_stopped_spares(&recorded, &code);
    let mut call = execute(&code);
    call["_meta"] = json!({ "progressToken": 1 });
    server.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }));
    server.receive("the program's progress", |message| message["params"]["message"] == "1 of 1 it runs");
    let is_early = !server.stderr().contains(NOT_USABLE);
    let answer = server.receive("the answer", |message| message["id"] == 2);
    let outcome = outcome_of(&answer);
    assert_eq!(outcome["status"], "ok", "{answer:#}");
    assert!(!stopped.contains(&process_in(&outcome["result"])), "{answer:#}");
    is_early
}

/// Only its first call waits for the check. On a busy machine, the program may start after the check's limit.
#[test]
fn a_program_starts_while_its_session_is_checked() {
    assert!((0..5).any(|_| runs_before_the_check()));
}

#[test]
fn a_changed_configuration_ends_spare_sessions() {
    let recorded = Recorded::new();
    let mut server = Serve::new(&recorded.config("")).start();
    server.shake_hands();
    result_of(&mut server, 1, STATE);
    recorded.wait_for(&server, "sessions", AFTER_THE_FIRST);
    let before = recorded.processes();
    server.configure(&recorded.config(", env: { NEW: \"1\" }"));
    server.wait_until("the end of the old sessions", || before.iter().all(|process| has_ended(*process)));
    let state = result_of(&mut server, 2, STATE);
    assert!(!before.contains(&process_in(&state)), "{state}");
}

/// The second client declares other capabilities, so it gets none of the sessions that were opened for the first.
#[test]
fn clients_get_only_sessions_with_their_own_declarations() {
    let recorded = Recorded::new();
    let server = Serve::http(&recorded.config("")).start();
    let (asked, _) = server.client().shake_hands_as(HANDSHAKE, &json!({ "elicitation": {} }));
    let other = server.client().shake_hands();
    let state_for = |client: &end_to_end::serving::Client| {
        outcome_of(&client.ask("tools/call", &execute(STATE)))["result"].clone()
    };
    assert_eq!(state_for(&asked)["elicits"], true);
    server.wait_until("spare sessions", || {
        recorded.all("sessions").iter().filter(|(_, elicits)| *elicits).count() >= AFTER_THE_FIRST
    });
    assert_eq!(state_for(&other)["elicits"], false);
    assert_eq!(state_for(&asked)["elicits"], true);
}

#[test]
fn a_server_without_spare_sessions_is_started_only_for_executions() {
    let recorded = Recorded::new();
    let config = recorded.config(", spare: false") + &recorded.entry("others", "");
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let both = "sessions::session().await?; others::session().await?; 1";
    for (id, others) in [(1, AFTER_THE_FIRST), (2, AFTER_THE_FIRST + 1)] {
        result_of(&mut server, id, both);
        recorded.wait_for(&server, "others", others);
        // The watched session, and one for each execution.
        assert_eq!(recorded.all("sessions").len(), 1 + usize::try_from(id).unwrap());
    }
}

#[test]
fn spare_sessions_end_when_their_server_is_not_used() {
    let recorded = Recorded::new();
    let config = recorded.config("") + "serve: { spares: { idleTime: 2 } }\n";
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    result_of(&mut server, 1, STATE);
    recorded.wait_for(&server, "sessions", 3);
    server.wait_until("only the watched session", || server.tree().count(MODE) == 1);
    assert_eq!(result_of(&mut server, 2, STATE)["calls"], 1);
}

#[test]
fn the_limit_for_all_servers_holds() {
    let recorded = Recorded::new();
    let config = recorded.config("") + &recorded.entry("others", "") + "serve: { spares: { total: 1 } }\n";
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let other = STATE.replace("sessions::", "others::");
    for (id, code) in [(1, STATE), (2, &other), (3, STATE), (4, &other)] {
        result_of(&mut server, id, code);
        server.wait_until("one spare session", || server.tree().count(MODE) == 3);
    }
}

#[test]
fn an_adopted_session_has_the_changed_tools() {
    let recorded = Recorded::new();
    let config = recorded.config("").replace(MODE, "records-sessions-changing");
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    server.wait_until("the changed list", || server.stderr().contains("2 tools"));
    result_of(&mut server, 1, STATE);
    recorded.wait_for(&server, "sessions", AFTER_THE_FIRST);
    let before = recorded.processes();
    let state = result_of(&mut server, 2, LATE);
    assert!(before.contains(&process_in(&state)), "{state} {before:?}");
}

/// The announcement arrives with the answer to the check of the spare session.
#[test]
fn a_spare_session_whose_list_changes_while_it_waits_is_listed_again() {
    let recorded = Recorded::new();
    let config = recorded.config(", pingInterval: 1").replace(MODE, "records-sessions-late");
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    result_of(&mut server, 1, STATE);
    recorded.wait_for(&server, "sessions", AFTER_THE_FIRST);
    let before = recorded.processes();
    fs::write(recorded.file("sessions.changed"), "").unwrap();
    // Only the watched session is checked regularly.
    server.wait_until("the changed list", || server.stderr().contains("2 tools"));
    let state = result_of(&mut server, 2, LATE);
    assert!(before.contains(&process_in(&state)), "{state} {before:?}");
}

/// The check of the spare session is then the list itself, and pins apply to that.
#[test]
fn a_list_that_changes_without_an_announcement_is_read_at_the_adoption() {
    let recorded = Recorded::new();
    let config = recorded.config("").replace(MODE, "records-sessions-silently");
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    result_of(&mut server, 1, STATE);
    recorded.wait_for(&server, "sessions", AFTER_THE_FIRST);
    fs::write(recorded.file("sessions.changed"), "").unwrap();
    let answer = server.ask(2, "tools/call", &execute(STATE));
    let text = answer.to_string();
    for part in ["has changed since the program was built", "look the server's tools up again"] {
        assert!(text.contains(part), "{answer:#}");
    }
}

#[test]
fn a_spare_session_whose_tools_were_not_listed_is_listed_at_the_adoption() {
    let recorded = Recorded::new();
    let config = recorded.config("").replace(MODE, "records-sessions-refusing");
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    server.wait_until("the list of the watched session", || server.stderr().contains("1 tool"));
    fs::write(recorded.file("sessions.changed"), "").unwrap();
    // The session of this execution has no tools.
    server.ask(1, "tools/call", &execute(STATE));
    recorded.wait_for(&server, "sessions", AFTER_THE_FIRST);
    let before = recorded.processes();
    let state = result_of(&mut server, 2, STATE);
    assert!(before.contains(&process_in(&state)), "{state} {before:?}");
}

#[test]
fn executions_of_a_client_share_a_session_that_the_entry_marks() {
    let recorded = Recorded::new();
    let server = Serve::http(&recorded.config(", session: shared")).start();
    let (one, other) = (server.client().shake_hands(), server.client().shake_hands());
    let answers = [&one, &one, &other].map(|client| client.ask("tools/call", &execute(STATE)));
    let states = answers.each_ref().map(|answer| outcome_of(answer)["result"].clone());
    let calls = states.each_ref().map(|state| state["calls"].as_u64().unwrap());
    assert_eq!(calls, [1, 2, 1], "{states:?}");
    assert_eq!(process_in(&states[0]), process_in(&states[1]));
    assert_ne!(process_in(&states[0]), process_in(&states[2]));
    for answer in &answers {
        assert_eq!(outcome_of(answer)["shared_sessions"], json!(["sessions"]), "{answer:#}");
        assert!(answer["result"]["content"].to_string().contains("share one session with sessions"));
    }
    // After its end, it is connected again.
    let process = i32::try_from(process_in(&states[0])).unwrap();
    kill_process(Pid::from_raw(process).unwrap(), Signal::KILL).unwrap();
    server.wait_until("the end of the process", || has_ended(process.cast_unsigned()));
    server.wait_until("the new session", || recorded.all("sessions").len() >= 4);
    let state = outcome_of(&one.ask("tools/call", &execute(STATE)))["result"].clone();
    assert_eq!(state["calls"], 1, "{state}");
}

/// A client without a session has nothing that its executions could share.
#[test]
fn executions_without_a_client_session_share_none() {
    let recorded = Recorded::new();
    let server = Serve::http(&recorded.config(", session: shared")).start();
    let client = server.client().stateless();
    for _ in 0..2 {
        let answer = client.ask("tools/call", &execute(STATE));
        assert_eq!(outcome_of(&answer)["result"]["calls"], 1, "{answer:#}");
        assert!(outcome_of(&answer)["shared_sessions"].is_null());
    }
}

#[test]
fn no_spare_session_outlives_a_killed_server() {
    let recorded = Recorded::new();
    let mut server = Serve::new(&recorded.config("")).start();
    server.shake_hands();
    result_of(&mut server, 1, STATE);
    recorded.wait_for(&server, "sessions", AFTER_THE_FIRST);
    let tree = server.tree();
    assert!(tree.count(MODE) >= 3, "{tree:#?}");
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
    tree.is_gone();
}
