//! `conformance-server [--stateless] [--http ADDRESS]`: an MCP server with everything that the official conformance
//! suite requires.
//!
//! With `--stateless` it rejects the session handshake. It serves over standard input and output, or over HTTP at
//! `/mcp`; then its first line on standard output is JSON with the full `address`, and it ends when its input ends. It
//! also has what a proxy must forward and the suite does not check: annotations, structured content, metadata, a call
//! that waits to be cancelled.

mod content;
mod prompts;
mod questions;
mod resources;
mod server;
mod state;
mod tasks;
mod tools;

use std::{error::Error, io, io::Write as _, process::ExitCode, sync::Arc};

use axum::Router;
use rmcp::{
    ServiceExt,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde_json::json;
use tokio::{io::AsyncReadExt, net::TcpListener};

use server::Fixture;
use state::ServerState;

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args().skip(1).collect();
    let all = arguments.len();
    arguments.retain(|argument| argument != "--stateless");
    let stateless = arguments.len() < all;
    let done = match arguments.as_slice() {
        [] => over_stdio(stateless).await,
        [option, address] if option == "--http" => over_http(address, stateless).await,
        _ => Err("the arguments are --stateless and --http ADDRESS, or none".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn over_stdio(stateless: bool) -> Result<(), Box<dyn Error>> {
    let running = Fixture::new(Arc::new(ServerState::new()), stateless).serve(stdio()).await?;
    running.waiting().await?;
    Ok(())
}

async fn over_http(address: &str, stateless: bool) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(address).await?;
    let here = listener.local_addr()?;
    let origins = [format!("http://{here}"), format!("http://localhost:{}", here.port())];
    let world = Arc::new(ServerState::new());
    let service = StreamableHttpService::new(
        move || Ok(Fixture::new(world.clone(), stateless)),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_allowed_origins(origins).enforce_origin_validation(),
    );
    print_address(&format!("http://{here}/mcp"))?;
    let router = Router::new().route_service("/mcp", service);
    let (mut stdin, mut input) = (tokio::io::stdin(), Vec::new());
    tokio::select! {
        served = axum::serve(listener, router) => served?,
        read = stdin.read_to_end(&mut input) => drop(read?),
    }
    Ok(())
}

fn print_address(address: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{}", json!({ "address": address }))?;
    output.flush()
}
