//! Tests that sessions end with their execution.

use std::time::Duration;

use config::Server;
use terminal::{Notifier, Terminal};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::*;

/// A host that can't ask anyone.
pub(super) struct Unattended;

impl mcp::Host for Unattended {}

impl SessionHost for Unattended {
    fn questions(&self) -> watch::Receiver<usize> {
        watch::channel(0).1
    }

    fn notifier(&self) -> Notifier {
        Terminal::new(true, false).notifier()
    }
}

/// The server accepts the connection and never answers. Paused time advances only when all tasks are idle.
#[tokio::test(start_paused = true)]
async fn an_attempt_to_connect_ends_with_its_execution() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let remote = mcp::Remote { url, ..mcp::Remote::default() };
    let mut connection = mcp::ServerConfig::new("s", mcp::Transport::Http(remote));
    connection.connect_timeout = Duration::from_secs(1_000_000);
    let config =
        Arc::new(Config { servers: vec![Server::new(connection, String::new())], ..Config::default() });
    let host = || Arc::new(Unattended);
    let sessions = Sessions::new(config.clone(), Masker::default(), host());
    let attempt = sessions.start("s");
    sessions.close().await;
    let error = attempt.await.err().unwrap();
    assert!(error.to_string().contains("cancelled"), "{error}");

    // The same if it is dropped without closing.
    let sessions = Sessions::new(config.clone(), Masker::default(), host());
    let attempt = sessions.start("s");
    drop(sessions);
    let error = attempt.await.err().unwrap();
    assert!(error.to_string().contains("cancelled"), "{error}");
}

#[test]
fn the_runner_finds_what_was_changed_in_an_answer() {
    assert_eq!(mcp::REPAIRED_META, runner::REPAIRED_META);
    let marked = |meta: serde_json::Value| runner::Answer {
        result: serde_json::value::to_raw_value(&serde_json::json!({ "content": [], "_meta": meta }))
            .unwrap(),
        is_error: false,
        cached: None,
    };
    assert_eq!(
        marked(serde_json::json!({ runner::REPAIRED_META: ["a", "b"], "c": 1 })).repairs(),
        ["a", "b"]
    );
    assert!(marked(serde_json::json!({ runner::REPAIRED_META: 7 })).repairs().is_empty());
}
