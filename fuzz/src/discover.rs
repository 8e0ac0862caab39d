//! What must hold of a client that meets a server, whatever that answers: the body of a fuzz target. It panics where it
//! does not.
//!
//! The ordinary tests run it as well: see `mcp/tests/discover.rs`.

use std::sync::Arc;

use mcp::{NoHost, ServerConfig, Session};
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};

/// The version that a server which is asked in the newer way must support.
const STATELESS: &str = "2026-07-28";

/// The versions with a handshake.
const HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Most bytes between both sides: a case is smaller.
const PIPE: usize = 1 << 20;

/// Any bytes of a server that is asked for an introduction. The first byte says in which way it is asked, and what the
/// others are: its result, its error, or its whole line.
pub async fn introduction(data: &[u8]) {
    let Some((how, data)) = data.split_first() else { return };
    let (discovers, form) = (how & 1 == 1, how >> 1 & 3);
    let (near, far) = duplex(PIPE);
    let config = ServerConfig::stdio("any", "", Vec::<String>::new());
    let connecting = async {
        match discovers {
            true => Session::discover_over(&config, Arc::new(NoHost), split(near)).await,
            false => Session::connect_over(&config, Arc::new(NoHost), split(near)).await,
        }
    };
    let answering = async {
        let (read, mut write) = split(far);
        let mut lines = BufReader::new(read).lines();
        let asked = lines.next_line().await.ok().flatten().expect("the client asks first");
        let asked: Value = serde_json::from_str(&asked).expect("it asks in JSON");
        let method = if discovers { "server/discover" } else { "initialize" };
        assert_eq!(asked["method"], method, "{asked}");
        let _ = write.write_all(&line(&asked["id"], form, data)).await;
        // It ends here: what it has not said does not come.
        let _ = write.shutdown().await;
        while let Ok(Some(_)) = lines.next_line().await {}
    };
    let (session, ()) = tokio::join!(
        async {
            match connecting.await {
                Ok(session) => {
                    let told = (session.protocol_version().to_owned(), bounded(&session));
                    session.close().await;
                    Some(told)
                }
                Err(error) => {
                    assert!(error.to_string().len() < 16 << 10, "{} bytes", error.to_string().len());
                    None
                }
            }
        },
        answering
    );
    if let Some((version, ())) = session {
        assert_introduced(&version, discovers, form, data);
    }
}

/// A line of the server.
fn line(id: &Value, form: u8, data: &[u8]) -> Vec<u8> {
    let around = |member: &str| {
        let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":");
        [head.as_bytes(), data, b"}\n"].concat()
    };
    match form {
        0 | 1 => around("result"),
        2 => around("error"),
        _ => [data, b"\n"].concat(),
    }
}

/// What it says of itself is no longer than what it sent.
fn bounded(session: &Session) {
    assert!(session.instructions().unwrap_or_default().len() < PIPE);
    if let Some((name, version)) = session.server_info() {
        assert!(name.len() + version.len() < PIPE);
    }
}

/// There is a session only with a server that has named a version which this client knows.
fn assert_introduced(version: &str, discovers: bool, form: u8, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    assert!(form != 2, "an error is no introduction: {text}");
    let known = if discovers { version == STATELESS } else { HANDSHAKE.contains(&version) };
    assert!(known, "{version} was agreed on: {text}");
    assert!(text.contains(version) || text.contains('\\'), "{version} was not named: {text}");
    let lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
    // By its form: a number may be too large for a `Value`, and half of a surrogate pair is read as U+FFFD.
    let is_json = |line: &str| serde_json::from_str::<IgnoredAny>(line).is_ok();
    if form < 2 && !text.contains('\n') {
        assert!(is_json(&format!("{{\"result\":{text}}}")), "{text}");
    } else if form == 3 {
        assert!(lines.clone().any(is_json), "{text}");
    }
}
