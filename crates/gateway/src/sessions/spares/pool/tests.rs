//! Tests of the limits on spare sessions. All sessions share one connection within this process.

use std::future::{pending, ready};

use config::Server;
use mcp::{NoHost, Session};
use serde_json::{Value, json};
use terminal::Terminal;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::Notify;
use tokio::task::yield_now;

use super::*;
use crate::sessions::connection::Opened;
use crate::tool_list::ToolList;

/// A client that declares more than [`NoHost`].
struct Sampling;

impl mcp::Host for Sampling {
    fn samples(&self) -> bool {
        true
    }
}

fn server(name: &str) -> ServerConfig {
    ServerConfig::stdio(name, "program", [""; 0])
}

fn declared() -> Declared {
    Declared::by(&NoHost)
}

/// Answers each request as if it were `initialize`.
async fn serve(stream: DuplexStream) {
    let (input, mut output) = tokio::io::split(stream);
    let mut lines = BufReader::new(input).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let request: Value = serde_json::from_str(&line).unwrap();
        let result = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "s", "version": "1" },
        });
        if let Some(id) = request.get("id") {
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            output.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    }
}

/// An open session.
async fn opened() -> Opened {
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(serve(far));
    let config = server("s");
    let session = Session::connect_over(&config, Arc::new(NoHost), tokio::io::split(near)).await.unwrap();
    let tools = Arc::new(ToolList::new(&[]));
    Opened { session, tools, warnings: Vec::new(), is_whole: true, page: None, is_shared: false }
}

fn spare(key: &Key, attempt: Attempt) -> Spare {
    let notifier = Terminal::new(true, false).notifier();
    let host = SpareHost::new(key.declared, Masker::default(), notifier, Arc::new(Notify::new()));
    Spare::new(attempt, host, CredentialsVersion::of(&key.config))
}

/// A pool for the servers `a`, `b`, `c` and `d` with these limits.
fn pool(per_server: usize, total: usize) -> Pool {
    let mut pool = Pool::default();
    pool.configure(&configured(&["a", "b", "c", "d"], per_server, total), Masker::default());
    pool
}

/// A configuration of these servers.
fn configured(servers: &[&str], per_server: usize, total: usize) -> Config {
    let servers = servers.iter().map(|name| Server::new(server(name), String::new()));
    let mut config = Config { servers: servers.collect(), ..Config::default() };
    config.serve.spares = Spares { per_server, total, idle_time: Duration::from_secs(300) };
    config
}

/// Opens all sessions that are due, one after the other; returns the names of their servers.
async fn fill(pool: &mut Pool, now: Instant, room: Room) -> Vec<String> {
    let (mut names, opened) = (Vec::new(), opened().await);
    while let Some(key) = pool.due(now, room) {
        assert!(names.len() < 100, "without end: {names:?}");
        drop(pool.add(&key, spare(&key, Attempt::start(ready(Ok(opened.clone()))))));
        while !pool.opening().is_empty() {
            yield_now().await;
        }
        names.push(key.config.name);
    }
    names
}

/// Begins to open all sessions that are due, which will never be open; returns the names of their servers.
fn begin(pool: &mut Pool, now: Instant) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(key) = pool.due(now, Room::Free) {
        assert!(names.len() < 100, "without end: {names:?}");
        drop(pool.add(&key, spare(&key, Attempt::start(pending()))));
        names.push(key.config.name);
    }
    names
}

#[tokio::test(start_paused = true)]
async fn sessions_are_opened_within_the_limits_for_the_servers_used_last() {
    let (mut pool, start) = (pool(2, 3), Instant::now());
    let later = start + Duration::from_secs(1);
    assert!(pool.used(&server("a"), declared(), start));
    assert_eq!(fill(&mut pool, start, Room::Free).await, [""; 0], "the answer may not have been sent");
    assert_eq!(fill(&mut pool, later, Room::Busy).await, [""; 0]);
    assert_eq!(fill(&mut pool, start + MAX_WAIT + QUIET, Room::Busy).await, ["a", "a"]);
    assert!(pool.used(&server("b"), declared(), start + QUIET));
    assert_eq!(fill(&mut pool, later, Room::Free).await, ["b"], "the third");
    // A server without any displaces the one used least recently, and they do not displace each other for ever.
    assert!(pool.used(&server("c"), declared(), start + 2 * QUIET));
    assert_eq!(fill(&mut pool, later, Room::Free).await, ["c"]);
    assert_eq!(pool.count(), 3);
    assert!(pool.take(&server("a"), declared(), "ann", later).is_some());
    assert!(pool.take(&server("a"), declared(), "ann", later).is_none());
    assert!(!pool.used(&server("other"), declared(), later), "not configured");
}

#[tokio::test(start_paused = true)]
async fn sessions_end_with_time_memory_and_configuration() {
    let (start, later) = (Instant::now(), Instant::now() + Duration::from_secs(1));
    let filled = || async {
        let mut pool = pool(2, 8);
        assert!(pool.used(&server("a"), declared(), start));
        assert_eq!(fill(&mut pool, later, Room::Free).await.len(), 2);
        assert_eq!(pool.prune(later, Room::Free).len(), 0);
        pool
    };
    assert_eq!(filled().await.prune(start + Duration::from_secs(300), Room::Free).len(), 2);

    let mut without_memory = filled().await;
    assert_eq!(without_memory.prune(later, Room::NoMemory).len(), 2);
    assert_eq!(fill(&mut without_memory, later + MAX_WAIT, Room::Free).await, [""; 0], "until its next use");
    assert!(without_memory.used(&server("a"), declared(), later));
    assert_eq!(fill(&mut without_memory, later + QUIET, Room::Free).await.len(), 2);

    let mut changed = filled().await;
    let mut other = Server::new(server("a"), String::new());
    other.connection.roots = vec![mcp::Root { uri: "file:///other".to_owned(), name: None }];
    changed.configure(&Config { servers: vec![other.clone()], ..Config::default() }, Masker::default());
    assert!(changed.take(&other.connection, declared(), "ann", later).is_none(), "other roots");
    assert_eq!(changed.prune(later, Room::Free).len(), 2);

    let mut off = pool(2, 8);
    for (spare, session) in [(false, SessionMode::Fresh), (true, SessionMode::Shared)] {
        let server = Server { spare, session, ..Server::new(server("a"), String::new()) };
        off.configure(&Config { servers: vec![server.clone()], ..Config::default() }, Masker::default());
        assert!(!off.used(&server.connection, declared(), start));
    }
}

#[tokio::test(start_paused = true)]
async fn executions_in_quick_succession_do_not_postpone_the_next_sessions() {
    for (room, longest) in [(Room::Free, QUIET), (Room::Busy, MAX_WAIT + QUIET)] {
        let (mut pool, start) = (pool(2, 8), Instant::now());
        let mut now = start;
        while now < start + longest {
            assert!(pool.due(now, room).is_none(), "too early: {:?}", now - start);
            assert!(pool.take(&server("a"), declared(), "ann", now).is_none());
            assert!(pool.used(&server("a"), declared(), now));
            now += Duration::from_millis(10);
        }
        assert_eq!(fill(&mut pool, now, room).await, ["a", "a"]);
        // From the next missing session on, the answer is waited for again.
        assert!(pool.take(&server("a"), declared(), "ann", now).is_some());
        assert!(pool.used(&server("a"), declared(), now));
        assert!(pool.due(now, room).is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn one_session_is_opened_at_a_time_with_each_of_a_few_servers() {
    let (mut pool, start) = (pool(2, 8), Instant::now());
    for (number, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let used = start + Duration::from_millis(u64::try_from(number).unwrap());
        assert!(pool.used(&server(name), declared(), used));
    }
    let later = start + Duration::from_secs(1);
    assert_eq!(begin(&mut pool, later), ["d", "c", "b"]);
    assert_eq!(pool.opening().len(), MAX_OPENING);
    // There is nothing to open before one of them is open: the checks are at the usual interval.
    assert_eq!(pool.next_look(later), Some(later + CHECK_INTERVAL));
}

#[tokio::test(start_paused = true)]
async fn the_limit_for_a_server_holds_for_all_declarations_together() {
    let (mut pool, start) = (pool(2, 8), Instant::now());
    let later = start + Duration::from_secs(1);
    assert!(pool.used(&server("a"), declared(), start));
    assert_eq!(fill(&mut pool, later, Room::Free).await, ["a", "a"]);
    assert!(pool.used(&server("a"), Declared::by(&Sampling), start + QUIET));
    assert_eq!(fill(&mut pool, later, Room::Free).await, ["a"]);
    pool.configure(&configured(&["a"], 1, 8), Masker::default());
    assert_eq!(pool.prune(later, Room::Free).len(), 1);
    assert!(pool.take(&server("a"), Declared::by(&Sampling), "ann", later).is_some(), "used last");
}

#[tokio::test(start_paused = true)]
async fn a_returned_session_is_kept_within_the_limits() {
    let (mut pool, start) = (pool(1, 8), Instant::now());
    let later = start + Duration::from_secs(1);
    assert!(pool.used(&server("a"), declared(), start));
    assert_eq!(begin(&mut pool, later), ["a"]);
    let taken = pool.take(&server("a"), declared(), "ann", later).unwrap();
    assert!(pool.used(&server("a"), declared(), later));
    assert!(pool.put_back(&server("a"), declared(), taken).is_none());
    assert_eq!(begin(&mut pool, later + MAX_WAIT), [""; 0], "none is missing");

    let taken = pool.take(&server("a"), declared(), "ann", later).unwrap();
    assert!(pool.used(&server("a"), declared(), later));
    assert_eq!(begin(&mut pool, later + QUIET), ["a"], "another one instead");
    assert!(pool.put_back(&server("a"), declared(), taken).is_some());
    let taken = pool.take(&server("a"), declared(), "ann", later).unwrap();
    assert_eq!(pool.clear().len(), 0);
    assert!(pool.put_back(&server("a"), declared(), taken).is_some(), "closed");
}

#[tokio::test(start_paused = true)]
async fn the_last_session_is_for_the_client_that_has_used_the_fewest() {
    let (mut pool, start) = (pool(2, 8), Instant::now());
    let later = |seconds| start + Duration::from_secs(seconds);
    let take = |pool: &mut Pool, client, now| pool.take(&server("a"), declared(), client, now).is_some();
    pool.used(&server("a"), declared(), start);
    assert_eq!(fill(&mut pool, later(1), Room::Free).await, ["a", "a"]);
    assert!(take(&mut pool, "ann", later(1)), "alone");
    assert!(take(&mut pool, "bob", later(1)));
    pool.used(&server("a"), declared(), later(1));
    assert_eq!(fill(&mut pool, later(2), Room::Busy).await, ["a"], "the first is opened beside executions");
    assert_eq!(fill(&mut pool, later(2) + MAX_WAIT, Room::Busy).await, ["a"]);
    assert!(take(&mut pool, "ann", later(5)));
    for _ in 0..200 {
        assert!(!take(&mut pool, "ann", later(6)), "it is kept for bob");
    }
    assert!(take(&mut pool, "bob", later(6)));
    // Bob is gone.
    pool.used(&server("a"), declared(), later(6));
    assert_eq!(fill(&mut pool, later(7), Room::Free).await, ["a", "a"]);
    assert!(take(&mut pool, "ann", later(40)));
    assert!(take(&mut pool, "ann", later(40)));
}

#[test]
fn many_clients_are_not_counted_for_ever() {
    let (mut users, now) = (Users::default(), Instant::now());
    for number in 0..1_000 {
        users.count(&number.to_string(), now);
    }
    let counted = format!("{users:?}").matches("User {").count();
    assert!((2..=64).contains(&counted), "{counted}");
}
