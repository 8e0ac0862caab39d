//! Reads the declarations of `toolsmith serve` to a client that says who it is.

use std::{fs, path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::Command,
    time::timeout,
};

use crate::product::Checked;

/// Time limit for the start of the server and its answers.
const WATCHDOG: Duration = Duration::from_secs(60);

/// The `clientInfo` of the client that an audit log names.
pub(super) fn client(log: &Path) -> Checked<Value> {
    let text = fs::read_to_string(log).map_err(|error| format!("{}: {error}", log.display()))?;
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut clients = records.filter(|record| record["who"]["client"].is_string());
    let who = clients.next().ok_or("the agent has called nothing")?["who"].take();
    Ok(json!({ "name": who["client"], "version": who["version"] }))
}

/// The description of `execute_code` for a client. The command starts the server.
pub(super) async fn description(mut server: Command, client: Value) -> Checked<String> {
    let failed = |error: std::io::Error| format!("toolsmith serve: {error}");
    let mut server =
        server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
    let (Some(mut input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err("toolsmith serve has no input or no output".to_owned());
    };
    let parameters = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    ];
    let text: String = messages.iter().map(|message| format!("{message}\n")).collect();
    input.write_all(text.as_bytes()).await.map_err(failed)?;
    let mut lines = BufReader::new(output).lines();
    let listed = async {
        while let Some(line) = lines.next_line().await.map_err(failed)? {
            let message: Value = serde_json::from_str(&line).map_err(|error| format!("{line}: {error}"))?;
            if message["id"] == 2 {
                return Ok(message);
            }
        }
        Err("toolsmith serve has ended without a list of tools".to_owned())
    };
    let listed =
        timeout(WATCHDOG, listed).await.map_err(|_| "toolsmith serve lists no tools".to_owned())??;
    drop(input);
    timeout(WATCHDOG, server.wait())
        .await
        .map_err(|_| "toolsmith serve has not ended".to_owned())?
        .map_err(failed)?;
    let tools = listed["result"]["tools"].as_array();
    let tool = tools.into_iter().flatten().find(|tool| tool["name"] == "execute_code");
    let description = tool.and_then(|tool| tool["description"].as_str()).map(str::to_owned);
    description.ok_or_else(|| format!("toolsmith serve lists no execute_code: {listed}"))
}
