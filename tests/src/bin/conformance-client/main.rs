//! `conformance-client ADDRESS`: the client of `mcp`, as the official conformance suite wants to be shown it.
//!
//! The suite names the scenario and what belongs to it in variables. What a scenario demands on the wire is the
//! client's affair; here stands only what a person or a program would ask of it.

mod plan;

use std::process::ExitCode;

use mcp::{ServerConfig, Session};
use serde_json::{Value, json};

use plan::Plan;

/// What goes wrong ends the driver with a text; the suite decides whether that was to be expected.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance-client: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Outcome<()> {
    let address = std::env::args().next_back().ok_or("the address of the server is missing")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
    let context = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str(&context)?,
        Err(_) => Value::Null,
    };
    let plan = Plan::of(&scenario, &context);
    let config = ServerConfig::http("conformance", address);
    let session = Session::connect(&config).await?;
    let listing = session.list_tools().await?;
    let offered: Vec<_> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
    for (tool, arguments) in plan.calls(&offered) {
        session.call(&tool, serde_json::value::to_raw_value(&arguments)?).await?;
    }
    if let Some(tool) = listing.tools.iter().find(|tool| plan.echoes(&tool.name)) {
        let arguments = json!({ "schema": tool.input_schema });
        session.call("json_schema_echo", serde_json::value::to_raw_value(&arguments)?).await?;
    }
    session.close().await;
    Ok(())
}
