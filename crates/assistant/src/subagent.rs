//! `toolsmith mcp serve`: a model with its own prompt and tools, offered to any MCP client as one tool.
//!
//! Standard output carries the protocol; messages for the user go to standard error. All checks are made before the
//! first byte of the protocol.

mod calling_client;
mod event_forwarder;
mod events;
mod reporter;
mod result;
mod service;
mod start;
mod task;
mod tool;

use std::sync::Arc;

use execution::process::ProcessContext;
use gateway::exit_code;
use gateway::failure::Failure;
use identity::SingleToken;
use server::http;
use server::options::ServeOptions;
use server::pipes;
use server::runtime::Runtime;
use server::server_log;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

pub(crate) use self::start::read_output_schema;

use self::service::McpService;

/// Runs the command until the client or a signal ends it; returns the exit code.
///
/// # Errors
/// If the subagent can't be served; the text says what to do.
pub async fn serve(options: ServeOptions, stop: CancellationToken) -> Result<u8, Failure> {
    let token = options.token()?;
    let terminal = Terminal::new(false, false);
    let process = ProcessContext::of_this_process().of_agent();
    let mut runtime = Runtime::start(terminal, process).await;
    let served = serve_in(&mut runtime, &options, token, stop).await;
    runtime.shutdown().await?;
    served.map(|()| exit_code::OK)
}

async fn serve_in(
    runtime: &mut Runtime,
    options: &ServeOptions,
    token: Option<SingleToken>,
    stop: CancellationToken,
) -> Result<(), Failure> {
    // The configuration is not read again, so that runs are alike.
    let start::PreparedSubagent { subagent, settings: _settings } =
        start::start(options, runtime, token.as_ref())?;
    let state = subagent.state.clone();
    runtime.spawn(server_log::follow(state.clone()));
    let handler = {
        let subagent = Arc::new(subagent);
        move |session| McpService::new(subagent.clone(), session)
    };
    match options.http {
        Some(address) => http::serve(state, handler, address, token, stop).await,
        None => pipes::serve(state, handler, stop).await,
    }
}
