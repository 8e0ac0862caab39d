//! Checks whether a server still responds.

use crate::{
    error::{Error, ErrorKind},
    session::Session,
};

/// The error code for an unknown method (JSON-RPC 2.0, section 5.1).
const METHOD_NOT_FOUND: i64 = -32_601;

/// Pings a server. One that does not know `ping` has responded all the same; any other error may mean that it has lost
/// the session, and then it can't list its tools either.
///
/// # Errors
/// Returns the reason if it does not respond.
pub async fn check(session: &Session) -> Result<(), Error> {
    let Err(error) = session.ping().await else { return Ok(()) };
    match *error.kind {
        ErrorKind::Rpc { code: METHOD_NOT_FOUND, .. } => Ok(()),
        ErrorKind::Rpc { .. } => session.list_tools().await.map(drop),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

    use super::check;
    use crate::{
        host::NoHost,
        server_config::{Command, ServerConfig, Transport},
        session::Session,
    };

    /// A server with these responses, by method.
    async fn serve(stream: DuplexStream, answers: BTreeMap<&'static str, Value>) {
        let (input, mut output) = tokio::io::split(stream);
        let mut lines = BufReader::new(input).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let request: Value = serde_json::from_str(&line).unwrap();
            let Some(mut answer) = request["method"].as_str().and_then(|method| answers.get(method)).cloned()
            else {
                continue;
            };
            answer["jsonrpc"] = json!("2.0");
            answer["id"] = request["id"].clone();
            output.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    }

    /// Whether a server with these responses to `ping` and `tools/list` counts as alive.
    async fn lives(ping: Value, list: Value) -> bool {
        let initialized = json!({ "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "s", "version": "1" },
        } });
        let answers = BTreeMap::from([("initialize", initialized), ("ping", ping), ("tools/list", list)]);
        let (near, far) = tokio::io::duplex(1 << 16);
        let serving = tokio::spawn(serve(far, answers));
        let config = ServerConfig::new("s", Transport::Stdio(Command::default()));
        let connecting = Session::connect_over(&config, Arc::new(NoHost), tokio::io::split(near));
        let session = connecting.await.unwrap();
        let is_alive = check(&session).await.is_ok();
        session.close().await;
        serving.await.unwrap();
        is_alive
    }

    #[tokio::test]
    async fn a_server_that_answers_a_ping_or_lists_its_tools_is_alive() {
        let error = |code: i64| json!({ "error": { "code": code, "message": "no" } });
        let (pong, tools) = (json!({ "result": {} }), json!({ "result": { "tools": [] } }));
        assert!(lives(pong, error(-32_600)).await);
        assert!(lives(error(-32_601), error(-32_600)).await);
        assert!(lives(error(-32_603), tools).await);
        assert!(!lives(error(-32_000), error(-32_000)).await);
    }
}
