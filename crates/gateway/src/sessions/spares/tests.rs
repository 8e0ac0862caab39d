//! Tests of the adoption of spare sessions.

use std::time::Duration;

use config::Server;
use tokio::net::TcpListener;
use tokio::time::advance;

use super::*;
use crate::sessions::Sessions;
use crate::sessions::tests::Unattended;

/// Lets time pass until a condition is met.
async fn until(condition: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if condition() {
            return;
        }
        advance(Duration::from_millis(1)).await;
    }
    panic!("the condition is never met");
}

/// The server accepts connections and never answers.
#[tokio::test(start_paused = true)]
async fn a_session_that_is_being_opened_outlasts_an_execution_that_ends_early() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let remote = mcp::Remote { url, ..mcp::Remote::default() };
    let mut connection = ServerConfig::new("s", Transport::Http(remote));
    connection.connect_timeout = Duration::from_secs(1_000_000);
    let servers = vec![Server::new(connection.clone(), String::new())];
    let mut config = Config { servers, ..Config::default() };
    config.serve.spares.per_server = 1;
    let config = Arc::new(config);
    let host: Arc<dyn SessionHost> = Arc::new(Unattended);
    let spares = SpareSessions::new(|| Room::Free, host.notifier());
    spares.configure(&config, &Masker::default());
    let opening = || spares.shared.pool().opening();

    spares.used(&connection, &*host, None);
    assert!(spares.worker().is_none(), "whether the server has a handshake is unknown");
    // An earlier execution has used it.
    assert!(spares.shared.pool().used(&connection, Declared::by(&*host), Instant::now()));
    spares.used(&connection, &*host, None);
    until(|| opening().len() == 1).await;
    let before = opening()[0].clone();

    let mut sessions = Sessions::new(config, Masker::default(), host);
    sessions.adopt_from(spares.clone(), "ann");
    drop(sessions.start("s"));
    until(|| opening().is_empty()).await;
    sessions.close().await;
    assert!(opening().len() == 1 && opening()[0].ptr_eq(&before));
    spares.close().await;
    assert!(before.await.is_err_and(|error| error.to_string().contains("cancelled")));
}
