//! Fuzz target `discover`: a client's handshake with a server that answers anything. Panics if an invariant is broken.
//!
//! Ordinary tests run it as well: see `crates/mcp/tests/discover.rs`.

use std::sync::Arc;

use mcp::{NoHost, ServerConfig, Session};
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};

/// The protocol version that a server found by `server/discover` must support.
const STATELESS: &str = "2026-07-28";

/// The versions with a handshake.
const HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Size of the pipe between both sides, in bytes: no case is larger.
const PIPE: usize = 1 << 20;

/// Answers the client's first request with any bytes. The first byte selects the request, and whether the others are
/// the result, the error, or the whole line.
pub async fn introduction(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let (discovers, form) = (first & 1 == 1, first >> 1 & 3);
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
        let request = lines.next_line().await.ok().flatten().expect("the client sends a request");
        let request: Value = serde_json::from_str(&request).expect("the request is JSON");
        let method = if discovers { "server/discover" } else { "initialize" };
        assert_eq!(request["method"], method, "{request}");
        let _ = write.write_all(&line(&request["id"], form, data)).await;
        // The server ends here and sends nothing else.
        let _ = write.shutdown().await;
        while let Ok(Some(_)) = lines.next_line().await {}
    };
    let (session, ()) = tokio::join!(
        async {
            match connecting.await {
                Ok(session) => {
                    let introduced = (session.protocol_version().to_owned(), bounded(&session));
                    session.close().await;
                    Some(introduced)
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

/// Builds the server's line.
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

/// Checks that the server's self-description is no longer than what it sent.
fn bounded(session: &Session) {
    assert!(session.instructions().unwrap_or_default().len() < PIPE);
    if let Some((name, version)) = session.server_info() {
        assert!(name.len() + version.len() < PIPE);
    }
}

/// Checks that a session exists only if the server named a version that this client supports.
fn assert_introduced(version: &str, discovers: bool, form: u8, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    assert!(form != 2, "an error led to a session: {text}");
    let known = if discovers { version == STATELESS } else { HANDSHAKE.contains(&version) };
    assert!(known, "{version} was agreed on: {text}");
    assert!(text.contains(version) || text.contains('\\'), "{version} was not named: {text}");
    let lines = text
        .split('\n')
        .map(|line| line.trim_start_matches('\u{feff}').trim())
        .filter(|line| !line.is_empty());
    // Checks the syntax only: a number may be too large for a `Value`, and a lone surrogate is read as U+FFFD.
    let is_json = |line: &str| serde_json::from_str::<IgnoredAny>(line).is_ok();
    if form < 2 && !text.contains('\n') {
        assert!(is_json(&format!("{{\"result\":{text}}}")), "{text}");
    } else if form == 3 {
        assert!(lines.clone().any(is_json), "{text}");
    }
}
