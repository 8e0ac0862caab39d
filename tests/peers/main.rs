//! The product against foreign servers, and its client against the official conformance suite.
//!
//! `tests/peers/run` installs what this needs and starts it. It prints a table and fails where anything in it failed.
//! An argument chooses the lines to make: those whose peer or transport contains it.

mod conformance;
mod product;
mod remote;
mod servers;
mod table;
mod web;

use std::{io::Write as _, process::ExitCode};

use serde_json::{Value, json};

use product::{Checked, Product, nothing_left};
use remote::{Listening, WAYS};
use servers::{EVERYTHING, Example, Installed, Server};
use table::Row;

#[tokio::main]
async fn main() -> ExitCode {
    let (text, sound) = match all().await {
        Ok(rows) => (table::render(&rows), rows.iter().all(|row| row.failure.is_none())),
        Err(error) => (format!("peers: {error}\n"), false),
    };
    let written = std::io::stdout().write_all(text.as_bytes()).is_ok();
    if sound && written { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn all() -> Checked<Vec<Row>> {
    let installed = Installed::find()?;
    let product = Product::find()?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let site = web::serve().await?;
    product.warm().await?;
    let chosen = std::env::args().nth(1).unwrap_or_default();
    let is_chosen = |names: [&str; 2]| names.iter().any(|name| name.contains(&chosen));
    let mut rows = Vec::new();
    for server in servers::local(&installed, folder.path(), &site)? {
        if is_chosen([server.package, "stdio"]) {
            rows.push(local(&product, server).await);
        }
    }
    for way in WAYS.iter().filter(|way| is_chosen([EVERYTHING, way.transport])) {
        let listening = Listening::start(&installed, way).await?;
        let server = servers::everything(&installed, listening.entry())?;
        let checked = checks(&product, &server).await;
        let checked = checked.and(listening.no_session_left().await);
        rows.push(row(&server, way.transport, checked).await);
    }
    if is_chosen([conformance::SUITE, ""]) {
        rows.extend(conformance::run(&installed).await?);
    }
    Ok(rows)
}

/// A server that is a child process: nothing of it may be left.
async fn local(product: &Product, mut server: Server) -> Row {
    let marker = format!("PEERS_MARKER={}-{}", std::process::id(), server.name);
    if let Some((name, value)) = marker.split_once('=') {
        server.entry["env"][name] = json!(value);
    }
    let checked = checks(product, &server).await;
    let checked = checked.and(nothing_left(&marker).await);
    row(&server, "stdio", checked).await
}

/// Lists, calls, loops, and does the same behind a filter.
async fn checks(product: &Product, server: &Server) -> Checked<()> {
    let config = config(server, &[]);
    let tools = product.tools(&config).await?;
    if tools.len() < server.tools || !tools.iter().any(|tool| tool == server.kept) {
        return Err(format!(
            "at least {} tools, {} among them, are not in {tools:?}",
            server.tools, server.kept
        ));
    }
    expect(product, &config, &server.call).await?;
    expect(product, &config, &server.looped).await?;
    let filtered = self::config(server, &[server.kept]);
    let left = product.tools(&filtered).await?;
    if left != [server.kept] {
        return Err(format!("the filter was to leave {} and left {left:?}", server.kept));
    }
    if let Some(dropped) = &server.dropped {
        let status = product.status(&filtered, dropped).await?;
        if status != "compile_error" {
            return Err(format!("a tool behind the filter can be called: {status}\n{dropped}"));
        }
    }
    Ok(())
}

async fn expect(product: &Product, config: &Value, example: &Example) -> Checked<()> {
    let result = product.result(config, &example.code).await?;
    if result == example.result {
        Ok(())
    } else {
        Err(format!("{result} in place of {}\n{}", example.result, example.code))
    }
}

/// A configuration with one server, and only the tools of `enabled` where there are any.
fn config(server: &Server, enabled: &[&str]) -> Value {
    let mut entry = server.entry.clone();
    entry["permission"] = json!("allow");
    if !enabled.is_empty() {
        entry["enabledTools"] = json!(enabled);
    }
    json!({ "mcpServers": { server.name: entry } })
}

/// The line of a server, with what its handshake says.
async fn row(server: &Server, transport: &'static str, checked: Checked<()>) -> Row {
    let (protocol, tools, handshake) = match introduce(server).await {
        Ok((protocol, tools)) => (protocol, tools.to_string(), Ok(())),
        Err(error) => ("-".to_owned(), "-".to_owned(), Err(error)),
    };
    Row {
        peer: server.package.to_owned(),
        version: server.version.clone(),
        transport,
        protocol,
        tools,
        failure: checked.and(handshake).err(),
    }
}

/// The protocol's version and the number of tools, as a session of our own sees them.
async fn introduce(server: &Server) -> Checked<(String, usize)> {
    let config = connection(server);
    let session = mcp::Session::connect(&config).await.map_err(|error| error.to_string())?;
    let listing = session.list_tools().await.map_err(|error| error.to_string());
    let protocol = session.protocol_version().to_owned();
    session.close().await;
    Ok((protocol, listing?.tools.len()))
}

fn connection(server: &Server) -> mcp::ServerConfig {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match server.entry["type"].as_str() {
        Some("http") => mcp::ServerConfig::http(server.name, text(&server.entry["url"])),
        Some("sse") => mcp::ServerConfig::sse(server.name, text(&server.entry["url"])),
        _ => {
            let env = server.entry["env"].as_object().into_iter().flatten();
            let command = mcp::Command {
                command: text(&server.entry["command"]),
                args: server.entry["args"].as_array().into_iter().flatten().map(text).collect(),
                env: env.map(|(name, value)| (name.clone(), text(value))).collect(),
                ..mcp::Command::default()
            };
            mcp::ServerConfig::new(server.name, mcp::Transport::Stdio(command))
        }
    }
}
