//! Tasks of the official TypeScript SDKs: a server with a tool that runs only as a task, and a client that runs a
//! snippet as a task.

use serde_json::json;

use crate::{
    clients::Serving,
    product::{Checked, Product},
    servers::{self, EVERYTHING, Installed},
    table::Row,
};

/// The name of this part.
pub(crate) const PART: &str = "tasks";

/// The official package for tasks.
const PACKAGE: &str = "@modelcontextprotocol/ext-tasks";

/// A tool of the reference server that runs only as a task, and asks for what it must know.
const RESEARCH: &str = "let plain = everything::simulate_research_query(\"crates\").await?.text();\n\
                        plain.contains(\"crates\")";

/// A snippet that takes longer than an answer.
const SLOW: &str = "tokio::time::sleep(std::time::Duration::from_secs(4)).await;\n\"slept\"";

/// One row for the server, one for the client.
pub(crate) async fn run(installed: &Installed, product: &Product) -> Checked<Vec<Row>> {
    let row = |package: &str, transport, protocol: &str, checked: Checked<()>| {
        Ok::<_, String>(Row {
            peer: format!("{package}: tasks"),
            version: installed.version(package)?,
            transport,
            protocol: protocol.to_owned(),
            tools: "-".to_owned(),
            failure: checked.err(),
        })
    };
    Ok(vec![
        row(EVERYTHING, "stdio", "2025-11-25", research(installed, product).await)?,
        row(PACKAGE, "http", "2026-07-28", execution(installed, product).await)?,
    ])
}

async fn research(installed: &Installed, product: &Product) -> Checked<()> {
    let server = servers::everything(installed, installed.node_entry(EVERYTHING, &[], &json!({})))?;
    let mut entry = server.entry;
    entry["trust"] = json!(true);
    let config = json!({ "mcpServers": { server.name: entry } });
    let result = product.result(&config, RESEARCH).await?;
    if result == true { Ok(()) } else { Err(format!("the task of the tool says {result}")) }
}

async fn execution(installed: &Installed, product: &Product) -> Checked<()> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let fixture = json!({ "command": env!("CARGO_BIN_EXE_conformance-server"), "trust": true });
    let serving = Serving::of(product, folder.path(), &json!({ "mcpServers": { "fixture": fixture } }))?;
    let listening = serving.listen().await?;
    let seen = serving.run_client(installed, "tasks.mjs", &[listening.address(), SLOW]).await?;
    let value = &seen["result"]["_meta"]["io.toolsmith/outcome"]["result"];
    let polled = seen["requests"].as_array().is_some_and(|requests| requests.contains(&json!("tasks/get")));
    if *value == "slept" && polled { Ok(()) } else { Err(format!("{seen:#}")) }
}
