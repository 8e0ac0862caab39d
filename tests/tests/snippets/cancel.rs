//! Ctrl-C, kills and dropped calls, at any moment.

use std::fs;
use std::path::Path;

use end_to_end::cache::{json, plain};
use end_to_end::harness::{FAULT_SERVER, Run, RunningProcess, fault_entry};
use rustix::process::Signal;

/// A server that never answers `wait` and records calls and cancellations.
fn recording(run: Run, record: &Path) -> Run {
    run.config(&format!(
        "mcpServers:\n  rec: {{ command: {FAULT_SERVER:?}, args: [records-cancelled, {record:?}] }}\n"
    ))
}

fn recorded(record: &Path, what: &str) -> usize {
    fs::read_to_string(record).unwrap_or_default().lines().filter(|line| line.starts_with(what)).count()
}

#[test]
fn a_dropped_call_is_cancelled_at_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let code = r#"
let late = tokio::time::timeout(Duration::from_millis(500), rec::wait().message("x")).await.is_err();
let first = tokio::select! { biased; _ = rec::wait().message("y") => 1, answer = rec::echo().message("z") => { answer?; 2 } };
let failed = concurrently(3, 0..3, |n| async move {
    if n == 0 { rec::echo().message("w").await?; bail!("enough") }
    rec::wait().message("never").await?;
    Ok(n)
}).await.is_err();
let after = rec::echo().message("still there").await?.text();
(late, first, failed, after)
"#;
    let result = recording(json(code), &record).result();
    assert_eq!(result, serde_json::json!([true, 2, true, "still there"]));
    // A call that is dropped at once may never be sent; the first one was.
    let (calls, cancelled) = (recorded(&record, "call"), recorded(&record, "cancelled"));
    assert!(calls >= 1 && calls == cancelled, "{calls} calls, {cancelled} cancelled");
}

#[test]
fn an_interrupt_during_a_call_ends_everything() {
    for (signal, json_output) in [(Signal::INT, true), (Signal::TERM, true), (Signal::HUP, false)] {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        let code = "println!(\"before\"); rec::wait().message(\"x\").await?;";
        let run = if json_output { json(code) } else { plain(code) };
        let started = recording(run, &record).start();
        started.wait_until("the call", || recorded(&record, "call") == 1);
        started.signal(signal);
        if json_output {
            let outcome = started.done().expect("cancelled", 130);
            assert_eq!(outcome["error"]["evidence"]["phase"], "running");
            assert_eq!(outcome["stdout"], "before\n");
        } else {
            let done = started.done().exits(130).says(&["cancelled while running"]);
            assert_eq!(done.stdout, "before\n");
        }
        assert_eq!(recorded(&record, "cancelled"), 1, "the server was not notified");
    }
}

fn below(started: &RunningProcess, part: &str) -> bool {
    started.descendants().iter().any(|command| command.contains(part))
}

#[test]
fn an_interrupt_while_connecting_ends_the_server() {
    for mode in ["silent-initialize", "silent-list", "stubborn", "chatty-stderr"] {
        let started = json("faulty::echo().await?.text()").fault(mode, "").start();
        started.wait_until("the server", || below(&started, mode));
        started.signal(Signal::INT);
        let done = started.done();
        // If the server connects in time, the snippet may get further.
        let done = done.exits(130);
        assert!(done.stdout.contains("\"cancelled\"") || done.stderr.contains("cancelled"), "{done:#?}");
    }
}

/// The server ignores the end of its input, so it must be killed.
#[test]
fn an_interrupted_command_ends_its_servers() {
    for arguments in [&["test", "faulty"][..], &["status"], &["lock"], &["list-resources", "faulty"]] {
        let run = Run::new(end_to_end::cache::shared()).argument("mcp").arguments(arguments);
        let started =
            run.config_alone(&format!("mcpServers:\n{}", fault_entry("faulty", "deaf", ""))).start();
        started.wait_until("the server", || below(&started, "deaf"));
        started.signal(Signal::INT);
        started.done().exits(130);
    }
}

#[test]
fn an_interrupt_while_running_ends_the_program() {
    for code in [
        "loop {}",
        "loop { println!(\"x\"); std::thread::sleep(Duration::from_millis(1)); }",
        "std::thread::sleep(Duration::from_secs(600));",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        let code = format!(
            "let _call = tokio::spawn(async {{ rec::wait().await }}); tokio::task::yield_now().await; {code}"
        );
        let started = recording(json(&code), &record).start();
        started.wait_until("the program", || recorded(&record, "call") == 1);
        started.signal(Signal::INT);
        started.done().expect("cancelled", 130);
    }
}

#[test]
fn a_kill_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let code = "std::thread::spawn(|| loop {}); rec::wait().await?;";
    let started = recording(json(code), &record).start();
    started.wait_until("the call", || recorded(&record, "call") == 1);
    started.signal(Signal::KILL);
    started.done();
}

#[test]
fn a_second_interrupt_ends_at_once_and_leaves_no_process() {
    let started = json("faulty::echo().await?; loop {}").fault("stubborn", "").start();
    started.wait_until("the server", || below(&started, "stubborn-inner"));
    started.signal(Signal::INT);
    started.signal(Signal::TERM);
    started.done().exits(130);
}

#[test]
fn a_closed_output_pipe_is_harmless() {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "\"$0\" run - --quiet | head -c 4"]).arg(end_to_end::harness::binary());
    let done = Run::of(command, end_to_end::cache::shared())
        .input("for n in 0..100_000 { println!(\"{n}\"); }")
        .done();
    assert_eq!(done.exits(0).stdout, "0\n1\n");
}
