//! Runs the product against foreign servers and clients, and its client against the official conformance suite.
//!
//! `tests/peers/run` installs the peers and starts this. It prints a table and fails if any row failed. An argument
//! selects the rows whose peer or transport contains it. For the argument `take`, see `first_try`.

mod agents;
mod apps;
mod clients;
mod confined;
mod conformance;
mod conformance_server;
mod first_hour;
mod first_try;
mod kubernetes;
mod modes;
mod openapi;
mod page;
mod product;
mod reductions;
mod remote;
mod servers;
mod subagent;
mod table;
mod tasks;
mod tokens;
mod web;

use std::{io::Write as _, process::ExitCode};

use futures::stream::{self, StreamExt as _};
use serde_json::{Value, json};

use product::{Checked, Product, nothing_left};
use remote::{Listening, WAYS};
use servers::{Call, EVERYTHING, Installed, KUBERNETES, Server};
use table::Row;

/// The number of servers that are checked concurrently.
const AT_ONCE: usize = 3;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let Some(("take", names)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return match first_try::take(names).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "take: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let (text, sound) = match all().await {
        Ok((rows, notes)) => (table::render(&rows) + &notes, rows.iter().all(|row| row.failure.is_none())),
        Err(error) => (format!("peers: {error}\n"), false),
    };
    let written = std::io::stdout().write_all(text.as_bytes()).is_ok();
    if sound && written { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The rows of the table, and the text printed below it.
async fn all() -> Checked<(Vec<Row>, String)> {
    let installed = Installed::find()?;
    let product = Product::find()?;
    product.warm().await?;
    let chosen = std::env::args().nth(1).unwrap_or_default();
    if chosen == agents::LONG {
        return agents::run_long(&installed, &product).await;
    }
    if chosen == openapi::PART {
        return Ok((openapi::run(&installed, &product).await, String::new()));
    }
    let is_chosen = |names: [&str; 2]| names.iter().any(|name| name.contains(&chosen));
    // One snippet after the other, so that half of the processors are idle.
    let tried = async {
        if is_chosen([first_try::PART, "stdio"]) {
            first_try::run(&installed, &product).await
        } else {
            Ok(Vec::new())
        }
    };
    let (answered, tried) = tokio::join!(answered(&installed, &product, &is_chosen), tried);
    let (mut rows, mut notes) = answered?;
    rows.extend(tried?);
    if is_chosen([first_hour::PART, "stdio"]) {
        rows.push(first_hour::run(&installed, &product)?);
    }
    if is_chosen([conformance::SUITE, ""]) {
        rows.extend(conformance::run(&installed).await?);
        rows.extend(conformance_server::run(&installed, &product).await?);
    }
    if is_chosen([modes::PART, "both"]) {
        let (row, table) = modes::run(&installed).await?;
        rows.push(row);
        notes += &table;
    }
    if is_chosen([tokens::PART, "stdio"]) {
        let (row, figures) = tokens::run(&installed, &product).await?;
        rows.push(row);
        notes += &figures;
    }
    Ok((rows, notes))
}

/// The rows of the parts that wait for answers, and not for time limits.
async fn answered(
    installed: &Installed,
    product: &Product,
    is_chosen: &impl Fn([&str; 2]) -> bool,
) -> Checked<(Vec<Row>, String)> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let site = web::serve().await?;
    let mut rows = Vec::new();
    let locals = servers::local(installed, folder.path(), &site)?.into_iter();
    let locals = locals.filter(|server| is_chosen([server.package, "stdio"]));
    let checked = stream::iter(locals).map(|server| local(product, server)).buffered(AT_ONCE);
    rows.extend(checked.collect::<Vec<_>>().await);
    for way in WAYS.iter().filter(|way| is_chosen([EVERYTHING, way.transport])) {
        let listening = Listening::start(installed, way).await?;
        let server = servers::everything(installed, listening.entry())?;
        let checked = checks(product, &server).await;
        let ended = listening.no_session_left().await;
        rows.push(row(&server, way.transport, checked.and_then(|info| ended.map(|()| info))));
    }
    if is_chosen([KUBERNETES, "http"]) {
        let (server, _process) = kubernetes::listen(installed, &folder.path().join("cluster")).await?;
        rows.push(row(&server, "http", checks(product, &server).await));
    }
    if is_chosen([confined::PART, "stdio"]) {
        let folder = folder.path().join("confined");
        rows.extend(confined::run(installed, product, &folder, &site).await?);
    }
    let (of_agents, mut notes) = agents::run(installed, product, is_chosen).await?;
    rows.extend(of_agents);
    rows.extend(clients::run(installed, product, is_chosen).await?);
    if is_chosen([subagent::PART, "stdio"]) {
        rows.push(subagent::run(installed, product).await?);
    }
    if is_chosen([tasks::PART, ""]) {
        rows.extend(tasks::run(installed, product).await?);
    }
    if is_chosen([apps::PART, "http"]) {
        rows.push(apps::run(installed, product).await?);
    }
    if is_chosen([openapi::PART, "http"]) {
        rows.extend(openapi::run(installed, product).await);
    }
    if is_chosen([reductions::PART, "stdio"]) {
        let (row, table) = reductions::run(product).await;
        rows.push(row);
        notes += &table;
    }
    Ok((rows, notes))
}

/// Checks a server that is a child process: no process may be left.
async fn local(product: &Product, mut server: Server) -> Row {
    let marker = format!("PEERS_MARKER={}-{}", std::process::id(), server.name);
    if let Some((name, value)) = marker.split_once('=') {
        server.entry["env"][name] = json!(value);
    }
    let checked = checks(product, &server).await;
    let ended = nothing_left(&marker).await;
    row(&server, "stdio", checked.and_then(|info| ended.map(|()| info)))
}

/// Lists tools, calls one, runs a loop, and repeats this with a filter. Returns the product's report on the server.
async fn checks(product: &Product, server: &Server) -> Checked<Value> {
    let config = config(server, &[]);
    let info = product.info(&config, server.name).await?;
    let tools = product.tools(&config).await?;
    if tools.len() < server.tools || !tools.iter().any(|tool| tool == server.kept) {
        return Err(format!(
            "expected at least {} tools, among them {}, in {tools:?}",
            server.tools, server.kept
        ));
    }
    let Call { tool, arguments, says } = &server.call;
    let answer = product.call(&config, server.name, tool, arguments).await?;
    if answer["success"] != true || !answer["output"].as_str().is_some_and(|output| output.contains(says)) {
        return Err(format!("{tool}: expected {says:?} in {answer}"));
    }
    let result = product.result(&config, &server.looped.code).await?;
    if result != server.looped.result {
        return Err(format!("{result}, expected {}\n{}", server.looped.result, server.looped.code));
    }
    filtered(product, server).await?;
    Ok(info)
}

async fn filtered(product: &Product, server: &Server) -> Checked<()> {
    let config = config(server, &[server.kept]);
    let left = product.tools(&config).await?;
    if left != [server.kept] {
        return Err(format!("the filter should leave {}, left {left:?}", server.kept));
    }
    let Some((tool, code)) = &server.dropped else { return Ok(()) };
    let answer = product.call(&config, server.name, tool, &json!({})).await?;
    if answer["success"] != false {
        return Err(format!("{tool} can be called despite the filter: {answer}"));
    }
    let status = product.status(&config, code).await?;
    if status != "compile_error" {
        return Err(format!("a snippet with {tool}, which is filtered out, is {status}\n{code}"));
    }
    Ok(())
}

/// A configuration with one server, restricted to the tools in `enabled` unless that is empty.
fn config(server: &Server, enabled: &[&str]) -> Value {
    let mut entry = server.entry.clone();
    entry["trust"] = json!(true);
    if !enabled.is_empty() {
        entry["enabledTools"] = json!(enabled);
    }
    json!({ "mcpServers": { server.name: entry } })
}

/// A server's row.
fn row(server: &Server, transport: &'static str, checked: Checked<Value>) -> Row {
    let info = checked.as_ref().unwrap_or(&Value::Null);
    Row {
        peer: server.package.to_owned(),
        version: server.version.clone(),
        transport,
        protocol: info["protocolVersion"].as_str().unwrap_or("-").to_owned(),
        tools: info["tools"].as_u64().map_or_else(|| "-".to_owned(), |count| count.to_string()),
        failure: checked.err(),
    }
}
