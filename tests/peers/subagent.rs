//! Drives a subagent process with a client of the official TypeScript SDK: list, call, structured result, error,
//! cancellation, log messages. Its model is scripted behind a real API.

use serde_json::{Value, json};

use end_to_end::models::ModelServer;

use crate::{
    clients::{self, Serving},
    product::{Checked, LOOK, Product},
    servers::Installed,
    table::Row,
};

/// The name that selects this part.
pub(crate) const PART: &str = "subagent";

/// Time limit for a cancelled run to end.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

const NAME: &str = "judge";

/// The number of requests that the model answers: one of each call.
const ANSWERED: usize = 4;

/// The row of the table.
pub(crate) async fn run(installed: &Installed, product: &Product) -> Checked<Row> {
    let (package, checked) = match drive(installed, product).await {
        Ok(package) => (package, None),
        Err(error) => ("", Some(error)),
    };
    Ok(Row {
        peer: format!("{PART} for {package}"),
        version: "-".to_owned(),
        transport: "stdio",
        protocol: "2025-11-25".to_owned(),
        tools: "1".to_owned(),
        failure: checked,
    })
}

fn script() -> Value {
    let call = |name: &str, arguments: Value| json!([{ "name": name, "arguments": arguments }]);
    json!({ "rules": [
        { "when": { "first_user": "broken" }, "answers": [{ "status": 400, "message": "no such model" }] },
        { "when": { "first_user": "slow", "turn": 1 }, "answers": [{ "text": "late", "delay": 600_000 }] },
        { "when": { "first_user": "slow" }, "answers": [{ "calls": call("nothing", json!({})) }] },
        { "answers": [{ "thinking": "hm", "calls": call("final_answer", json!({ "about": "{{first_user}}", "points": 7 })) }] },
    ] })
}

async fn drive(installed: &Installed, product: &Product) -> Checked<&'static str> {
    let failure = |error: std::io::Error| error.to_string();
    let folder = tempfile::tempdir().map_err(failure)?;
    let schema = json!({
        "type": "object",
        "properties": { "about": { "type": "string" }, "points": { "type": "integer" } },
        "required": ["about", "points"],
    });
    std::fs::write(folder.path().join("schema.json"), schema.to_string()).map_err(failure)?;
    let model = ModelServer::start(env!("CARGO_BIN_EXE_model-server"), &script());
    let config = json!({
        "models": [{ "ref": "scripted", "id": "scripted", "type": "anthropic", "base_url": model.base_url() }],
        "subagent": { "name": NAME, "description": "Judges.", "outputSchemaPath": "schema.json" },
        "codeMode": { "enabled": false },
        "agent": { "conversations": "conversations.db" },
    });
    let serving = Serving::of(product, folder.path(), &config)?;
    let ask = |prompt: &str| json!({ "tool": NAME, "arguments": { "prompt": prompt } });
    let mut slow = ask("slow");
    slow["cancel"] = json!("turns: 1");
    let plan = json!([ask("a book"), ask("broken"), slow, ask("a song")]);
    let (package, seen) = clients::carry_out_by(installed, &serving, &serving.subagent(), &plan).await?;
    let must = clients::must;
    must(seen["tools"] == json!([NAME]), "expected one tool", &seen["tools"])?;
    must(seen["definitions"][0]["outputSchema"] == schema, "unexpected schema", &seen["definitions"])?;
    let answered = |index: usize, about: &str| {
        let report = &seen["calls"][index];
        let is_right =
            report["isError"] == false && report["structured"] == json!({ "about": about, "points": 7 });
        must(is_right, "expected an answer that matches the schema", report)
    };
    answered(0, "a book")?;
    let failed = &seen["calls"][1];
    let says = failed["text"].as_str().is_some_and(|text| text.contains("no such model"));
    must(failed["isError"] == true && says, "expected a tool error", failed)?;
    let cancelled = &seen["calls"][2];
    must(cancelled["error"].is_string(), "expected a cancelled call", cancelled)?;
    // If the cancellation arrives between two turns, the second request of the cancelled run is never sent.
    let gone = async {
        while model.gone() + ANSWERED < model.requests().len() {
            tokio::time::sleep(LOOK).await;
        }
    };
    let gone = tokio::time::timeout(PATIENCE, gone).await;
    gone.map_err(|_| "the cancelled run is still waiting for its model".to_owned())?;
    answered(3, "a song")?;
    let logs = seen["logs"].as_array().map_or(&[][..], Vec::as_slice);
    for event in ["start", "thought", "tool_call", "message_saved", "end"] {
        let is_it =
            |log: &&Value| log["logger"] == format!("subagent.{NAME}") && log["data"]["event"] == event;
        must(logs.iter().any(|log| is_it(&log)), &format!("expected {event} in the log"), &seen["logs"])?;
    }
    Ok(package)
}
