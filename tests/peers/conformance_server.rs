//! Runs the official conformance suite's server scenarios against `toolsmith serve --http` in front of
//! `conformance-server`. All tools are direct, so the proxy must be transparent.
//!
//! Every scenario that a revision requires must pass, with no warning. Of the others, exactly those listed in
//! `expected-failures.yaml` must fail.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    clients::Serving,
    conformance::{self, Judged, SUITE},
    product::{Checked, Product},
    servers::Installed,
    table::Row,
};

/// Number of required server scenarios by revision (fewer means that the list was misread), and the arguments of the
/// server behind the proxy: a request to the client from the era of sessions cannot be proxied to a stateless client.
const REVISIONS: [(&str, usize, &[&str]); 2] =
    [("2025-11-25", 30, &[]), ("2026-07-28", 37, &["--stateless"])];

/// One row per revision.
pub(crate) async fn run(installed: &Installed, product: &Product) -> Checked<Vec<Row>> {
    let mut rows = Vec::new();
    for (revision, count, arguments) in REVISIONS {
        rows.push(revision_row(installed, product, revision, count, arguments).await?);
    }
    Ok(rows)
}

async fn revision_row(
    installed: &Installed,
    product: &Product,
    revision: &'static str,
    count: usize,
    arguments: &[&str],
) -> Checked<Row> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let program = env!("CARGO_BIN_EXE_conformance-server");
    let fixture = json!({ "command": program, "args": arguments, "trust": true, "codeMode": false });
    let serving = Serving::of(product, folder.path(), &json!({ "mcpServers": { "fixture": fixture } }))?;
    let listening = serving.listen().await?;
    let list = installed.read(SUITE, &format!("requirements/{revision}.yaml"))?;
    let (required, others) = conformance::scenarios(&list, "server");
    if required.len() != count {
        return Err(format!("{revision} requires {} server scenarios, expected {count}", required.len()));
    }
    let results = folder.path().join("results");
    let mut command = Command::new(installed.node());
    command.arg(installed.script(SUITE)).args([
        "server",
        "--url",
        listening.address(),
        "--requirements",
        revision,
    ]);
    command.arg("-o").arg(&results);
    conformance::finish(command, revision).await?;
    let judge = |scenario: &String| (scenario.clone(), verdict(&results, scenario));
    let judged: Vec<Judged> = required.iter().chain(&others).map(judge).collect();
    let failures = conformance::failures(judged, &required, &conformance::expected_failures("server")?);
    Ok(Row {
        peer: format!("{SUITE} (server): {} required scenarios, {} others", required.len(), others.len()),
        version: installed.version(SUITE)?,
        transport: "http",
        protocol: revision.to_owned(),
        tools: "-".to_owned(),
        failure: (!failures.is_empty()).then(|| failures.join("\n")),
    })
}

/// Checks a scenario's results; the error lists the failed checks.
fn verdict(results: &Path, scenario: &str) -> Result<(), String> {
    let prefix = format!("server-{scenario}-20");
    let folders = fs::read_dir(results).into_iter().flatten().flatten();
    let folder = folders
        .map(|folder| folder.path())
        .find(|folder| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)));
    let folder = folder.ok_or("the suite did not run it")?;
    let text = fs::read_to_string(folder.join("checks.json")).map_err(|error| error.to_string())?;
    let checks: Vec<Value> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let bad = checks.iter().filter(|check| matches!(check["status"].as_str(), Some("FAILURE" | "WARNING")));
    let failures: Vec<_> = bad.map(|check| format!("  {}: {}", check["id"], check["errorMessage"])).collect();
    // A scenario with no checks would also pass.
    match (checks.iter().any(|check| check["status"] == "SUCCESS"), failures.is_empty()) {
        (_, false) => Err(failures.join("\n")),
        (false, true) => Err("no check passed".to_owned()),
        (true, true) => Ok(()),
    }
}
