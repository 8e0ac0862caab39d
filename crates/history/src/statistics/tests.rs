//! Tests of the counts, and of sharing, bounding and replacing files.

use std::os::unix::fs::PermissionsExt as _;

use terminal::Terminal;

use rusqlite::Connection;

use super::*;
use crate::{Durability, Reader};

fn statistics() -> Statistics {
    Statistics::new(Terminal::new(true, false).notifier())
}

/// Adds a call of a certain duration.
fn count(statistics: &Statistics, tool: &str, ms: f64) {
    let tally =
        Tally { calls: 1, ms, longest_ms: ms, bytes: 10, durations: Histogram::of(ms), ..Tally::default() };
    statistics.add("files", tool, &tally);
}

#[test]
fn calls_failures_and_cached_answers_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/history.db");
    let statistics = statistics();
    statistics.begin("files", "read").end(true, 100);
    statistics.begin("files", "read").end(false, 20);
    statistics.begin("files", "read").cached(100);
    drop(statistics.begin("files", "read"));
    statistics.begin("web", "get").cached(7);
    statistics.write_to(&path);
    let all = read(&path, None, None).unwrap();
    let names: Vec<_> = all.iter().map(|one| (one.server.as_str(), one.tool.as_str())).collect();
    assert_eq!(names, [("files", "read"), ("web", "get")]);
    let files = &all[0];
    assert_eq!((files.calls, files.failures, files.cached, files.bytes), (4, 2, 1, 220));
    assert!(files.mean_ms.is_some() && files.p50_ms <= files.p95_ms);
    assert_eq!((all[1].mean_ms, all[1].p95_ms, all[1].total_ms), (None, None, 0.0));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn several_processes_add_to_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let statistics = statistics();
                for ms in 1..=20 {
                    count(&statistics, "read", f64::from(ms));
                    statistics.write_to(&path);
                }
                assert!(statistics.notifier.lock().is_some(), "a warning was shown");
            });
        }
    });
    let all = read(&path, None, None).unwrap();
    assert_eq!((all[0].calls, all[0].total_ms, all[0].bytes), (160, 8.0 * 210.0, 1600));
    assert!((all[0].p50_ms.unwrap() - 10.0).abs() < 0.5, "{all:?}");
    assert!(all[0].p95_ms.unwrap() <= 20.0);
}

#[test]
fn processes_that_write_once_do_not_make_the_log_grow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    for number in 0..300 {
        let statistics = statistics();
        count(&statistics, "read", 1.0);
        statistics.write_to(&path);
        drop(statistics);
        let log = std::fs::metadata(folder.path().join("history.db-wal")).unwrap().len();
        assert!(log <= 1 << 20, "after {number}: {log}");
    }
    assert_eq!(read(&path, None, None).unwrap()[0].calls, 300);
}

#[test]
fn a_damaged_file_costs_one_warning_and_its_counters_are_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    std::fs::write(&path, "no database, but long enough to be read as the head of one: ".repeat(20)).unwrap();
    let statistics = statistics();
    count(&statistics, "read", 1.0);
    statistics.write_to(&path);
    assert!(statistics.notifier.lock().is_none(), "no warning was shown");
    let error = read(&path, None, None).unwrap_err().for_terminal();
    assert!(error.contains("it is damaged; move it away") && error.contains("stats: false"), "{error}");
    std::fs::remove_file(&path).unwrap();
    count(&statistics, "read", 1.0);
    statistics.write_to(&path);
    assert_eq!(read(&path, None, None).unwrap()[0].calls, 2);
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let error = read(&path, None, None).unwrap_err().to_string();
    assert!(error.contains("is the database of another program"), "{error}");
}

#[test]
fn old_days_are_deleted_and_periods_and_servers_selected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let statistics = statistics();
    let tally = Tally { calls: 1, ..Tally::default() };
    for (age, server) in [(500, "old"), (10, "a"), (1, "b"), (0, "b")] {
        let key = (today() - age, server.to_owned(), "t".to_owned());
        statistics.pending().insert(key, tally.clone());
    }
    statistics.write_to(&path);
    let servers = |since: Option<u64>, server: Option<&str>| -> Vec<(String, u64)> {
        let since = since.map(|days| SystemTime::now() - Duration::from_secs(days * 86_400));
        let found = read(&path, since, server).unwrap();
        found.into_iter().map(|one| (one.server, one.calls)).collect()
    };
    assert_eq!(servers(None, None), [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    assert_eq!(servers(Some(5), None), [("b".to_owned(), 2)]);
    assert_eq!(servers(None, Some("a")), [("a".to_owned(), 1)]);
    assert_eq!(reset(&path, Some("b")).unwrap(), 2);
    assert_eq!(servers(None, None), [("a".to_owned(), 1)]);
    assert_eq!(reset(&path, None).unwrap(), 1);
    assert_eq!(reset(&folder.path().join("missing.db"), None).unwrap(), 0);
}

#[test]
fn a_file_that_grows_within_a_day_keeps_the_tools_with_most_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let statistics = statistics();
    let write = |tools: std::ops::Range<usize>, calls: u64| {
        for number in tools {
            let tally = Tally { calls, ..Tally::default() };
            statistics.pending().insert((today(), "s".to_owned(), format!("t{number}")), tally);
        }
        statistics.write_to(&path);
    };
    // The first write of a day applies the limits; the others do after some growth.
    write(0..1, 1);
    write(1..60_001, 2);
    let kept = read(&path, None, None).unwrap();
    assert_eq!(kept.len(), 50_000);
    assert!(kept.iter().all(|tool| tool.calls == 2));
}

#[test]
fn counters_in_memory_are_bounded() {
    let statistics = statistics();
    for number in 0..TOOLS_LIMIT + 10 {
        count(&statistics, &format!("tool-{number}"), 1.0);
    }
    let pending = statistics.pending();
    assert_eq!(pending.len(), TOOLS_LIMIT + 1);
    assert_eq!(pending[&(today(), OTHERS.to_owned(), OTHERS.to_owned())].calls, 10);
}

/// A file of an earlier version with calls of one tool today, and the connection of the process that wrote them.
fn earlier(folder: &Path, calls: i64) -> Connection {
    let connection = moved::FORMAT.create(&folder.join("stats.db"), Durability::Written).unwrap();
    let values = rusqlite::params![today(), calls];
    connection.execute("INSERT INTO calls VALUES (?1, 's', 't', ?2, 1, 0, 5.0, 5.0, 10)", values).unwrap();
    connection.execute("INSERT INTO durations VALUES (?1, 's', 't', 70, ?2)", values).unwrap();
    connection
}

fn calls(history: &Path) -> u64 {
    read(history, None, None).unwrap().iter().map(|tool| tool.calls).sum()
}

#[test]
fn counters_of_an_earlier_version_are_moved_once() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("history.db"), folder.path().join("stats.db"));
    drop(earlier(folder.path(), 3));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(calls(&path), 3));
        }
    });
    assert!(!old.exists());
    let statistics = statistics();
    statistics.begin("s", "t").end(true, 1);
    // An earlier version has counted in between.
    drop(earlier(folder.path(), 2));
    statistics.write_to(&path);
    assert!(!old.exists());
    let all = read(&path, None, None).unwrap();
    assert_eq!((all.len(), all[0].calls, all[0].failures, all[0].bytes), (1, 6, 2, 21));
    assert!(Reader::open(&path).unwrap().is_none(), "no execution was kept");
}

#[test]
fn a_file_that_an_earlier_version_uses_is_emptied_and_removed_later() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("history.db"), folder.path().join("stats.db"));
    let running = earlier(folder.path(), 3);
    assert_eq!([calls(&path), calls(&path)], [3, 3]);
    assert!(old.exists());
    let values = rusqlite::params![today()];
    running.execute("INSERT INTO calls VALUES (?1, 's', 't', 2, 0, 0, 5.0, 5.0, 10)", values).unwrap();
    assert_eq!(calls(&path), 5);
    drop(running);
    assert_eq!(calls(&path), 5);
    assert!(!old.exists());
}

#[test]
fn counters_that_were_added_before_a_crash_are_not_added_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    drop(earlier(folder.path(), 3));
    let crashed = crate::schema::FORMAT.create(&path, Durability::Written).unwrap();
    crashed.execute("INSERT INTO facts (name, value) VALUES ('statistics_moved', x'')", []).unwrap();
    drop(crashed);
    assert_eq!(calls(&path), 0);
    drop(earlier(folder.path(), 2));
    assert_eq!(calls(&path), 2);
}

#[test]
fn a_damaged_file_of_an_earlier_version_is_left_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("stats.db");
    std::fs::write(&old, "no database, but long enough to be read as the head of one: ".repeat(20)).unwrap();
    let error = read(&folder.path().join("history.db"), None, None).unwrap_err().for_terminal();
    assert!(error.contains("stats.db can't be opened") && error.contains("it is damaged"), "{error}");
    assert!(old.exists());
}
