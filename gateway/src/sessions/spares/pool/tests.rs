//! Tests of the limits on spare sessions. The sessions are never connected.

use std::future::pending;

use config::Server;
use terminal::Terminal;
use tokio::sync::Notify;

use super::*;

fn server(name: &str) -> ServerConfig {
    ServerConfig::stdio(name, "program", [""; 0])
}

fn declared() -> Declared {
    Declared::by(&mcp::NoHost)
}

/// A pool for the servers `a`, `b` and `c` with these limits.
fn pool(per_server: usize, total: usize) -> Pool {
    let mut pool = Pool::default();
    let servers = ["a", "b", "c"].map(|name| Server::new(server(name), String::new()));
    let mut config = Config { servers: servers.to_vec(), ..Config::default() };
    config.serve.spares = Spares { per_server, total, idle_time: Duration::from_secs(300) };
    pool.configure(&config, Masker::default());
    pool
}

/// Opens all sessions that are due; returns the names of their servers.
fn fill(pool: &mut Pool, now: Instant, room: Room) -> Vec<String> {
    let mut opened = Vec::new();
    while let Some(key) = pool.due(now, room) {
        assert!(opened.len() < 100, "without end: {opened:?}");
        let notifier = Terminal::new(true, false).notifier();
        let host = SpareHost::new(key.declared, notifier, Arc::new(Notify::new()));
        let spare = Spare::new(Attempt::start(pending(), false), host, CredentialsVersion::of(&key.config));
        drop(pool.add(&key, spare));
        opened.push(key.config.name);
    }
    opened
}

#[tokio::test(start_paused = true)]
async fn sessions_are_opened_within_the_limits_for_the_servers_used_last() {
    let (mut pool, start) = (pool(2, 3), Instant::now());
    let later = start + Duration::from_secs(1);
    assert!(pool.used(&server("a"), declared(), start));
    assert_eq!(fill(&mut pool, start, Room::Free), [""; 0], "the answer may not have been sent");
    assert_eq!(fill(&mut pool, later, Room::Busy), [""; 0]);
    assert_eq!(fill(&mut pool, start + MAX_WAIT + QUIET, Room::Busy), ["a", "a"]);
    assert!(pool.used(&server("b"), declared(), start + QUIET));
    assert_eq!(fill(&mut pool, later, Room::Free), ["b"], "the third");
    // A server without any displaces the one used least recently, and they do not displace each other for ever.
    assert!(pool.used(&server("c"), declared(), start + 2 * QUIET));
    assert_eq!(fill(&mut pool, later, Room::Free), ["c"]);
    assert_eq!(pool.count(), 3);
    assert!(pool.take(&server("a"), declared(), later).is_some());
    assert!(pool.take(&server("a"), declared(), later).is_none());
    assert!(!pool.used(&server("other"), declared(), later), "not configured");
}

#[tokio::test(start_paused = true)]
async fn sessions_end_with_time_memory_and_configuration() {
    let (start, later) = (Instant::now(), Instant::now() + Duration::from_secs(1));
    let filled = || {
        let mut pool = pool(2, 8);
        assert!(pool.used(&server("a"), declared(), start));
        assert_eq!(fill(&mut pool, later, Room::Free).len(), 2);
        assert_eq!(pool.prune(later, Room::Free).len(), 0);
        pool
    };
    assert_eq!(filled().prune(start + Duration::from_secs(300), Room::Free).len(), 2);

    let mut without_memory = filled();
    assert_eq!(without_memory.prune(later, Room::NoMemory).len(), 2);
    assert_eq!(fill(&mut without_memory, later + MAX_WAIT, Room::Free), [""; 0], "until its next use");
    assert!(without_memory.used(&server("a"), declared(), later));
    assert_eq!(fill(&mut without_memory, later + QUIET, Room::Free).len(), 2);

    let mut changed = filled();
    let mut other = Server::new(server("a"), String::new());
    other.connection.roots = vec![mcp::Root { uri: "file:///other".to_owned(), name: None }];
    changed.configure(&Config { servers: vec![other.clone()], ..Config::default() }, Masker::default());
    assert!(changed.take(&other.connection, declared(), later).is_none(), "other roots");
    assert_eq!(changed.prune(later, Room::Free).len(), 2);

    let mut off = pool(2, 8);
    for (spare, session) in [(false, SessionMode::Fresh), (true, SessionMode::Shared)] {
        let server = Server { spare, session, ..Server::new(server("a"), String::new()) };
        off.configure(&Config { servers: vec![server.clone()], ..Config::default() }, Masker::default());
        assert!(!off.used(&server.connection, declared(), start));
    }
}
