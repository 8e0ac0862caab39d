//! Several processes that write one file, and processes that are killed while they write.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;

use super::*;

/// The environment of a process that one of these tests starts: the file, and its task.
const FILE: &str = "HISTORY_TEST_FILE";
const MODE: &str = "HISTORY_TEST_MODE";

/// Number of processes that write at the same time, and of their executions.
const PROCESSES: usize = 8;
const EXECUTIONS: usize = 25;

/// The number of times that a process is killed.
const KILLS: usize = 200;

/// Starts this test binary again, to run only [`started_by_another_test`].
fn start_process(file: &Path, mode: &str) -> Child {
    let own = "tests::processes::started_by_another_test";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", own, "--nocapture"]).env(FILE, file).env(MODE, mode);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
}

#[tokio::test]
async fn started_by_another_test() {
    let Some(file) = std::env::var_os(FILE).map(PathBuf::from) else { return };
    let settings = config::History::default();
    let history = start(&file, &settings);
    let is_endless = std::env::var(MODE).unwrap() == "endless";
    let mut number = 0;
    while is_endless || number < EXECUTIONS {
        let id = format!("{}-{number}", std::process::id());
        let execution = history.begin(new(&id, &"let text = 1;\n".repeat(50)), &settings, Masker::default());
        call(&execution, 0, &json!({ "n": number }), Ok(&json!({ "content": [] })));
        let mut ended = outcome(Status::Ok);
        (ended.stdout, ended.calls_total) = ("printed ".repeat(2_000), 1);
        execution.end(execution.ending(&ended), "");
        number += 1;
        if is_endless {
            history.flush(Duration::from_secs(60)).await;
            writeln!(std::io::stdout(), "\nwritten {id}").unwrap();
            // Executions that are not flushed.
            drop(history.begin(new(&format!("{id}-x"), "1"), &settings, Masker::default()));
        }
    }
    history.flush(Duration::from_secs(60)).await;
}

fn assert_sound(file: &Path) {
    let connection = Connection::open(file).unwrap();
    let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    let dangling: i64 =
        connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!((check.as_str(), dangling), ("ok", 0));
    connection.execute("INSERT INTO words (words) VALUES ('integrity-check')", []).unwrap();
}

#[test]
fn concurrent_processes_create_one_file_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/history.db");
    let children: Vec<Child> = (0..PROCESSES).map(|_| start_process(&file, "some")).collect();
    for child in children {
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    }
    let reader = Reader::open(&file).unwrap().unwrap();
    let all = reader.list(&Filter::default(), Page::ALL).unwrap();
    assert_eq!(all.len(), PROCESSES * EXECUTIONS);
    assert!(all.iter().all(|summary| summary.status == "ok" && summary.calls == 1));
    assert_sound(&file);
}

#[test]
fn a_process_that_is_killed_while_it_writes_corrupts_nothing_and_loses_nothing_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let mut written = Vec::new();
    for kill in 0..KILLS {
        let mut child = start_process(&file, "endless");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        // Another number of writes each time, so that the kill meets another moment.
        for _ in 0..1 + kill % 4 {
            let line = lines.find(|line| line.starts_with("written ")).expect("it writes until it is killed");
            written.push(line.replace("written ", ""));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if kill % 20 == 0 {
            assert_sound(&file);
        }
    }
    assert_sound(&file);
    let reader = Reader::open(&file).unwrap().unwrap();
    for id in &written {
        let found = reader.execution(id).unwrap();
        assert_eq!((found.summary.status.as_str(), found.calls_made.len()), ("ok", 1), "{id}");
    }
}
