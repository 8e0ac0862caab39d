//! `toolsmith mcp serve`: a model with its own prompt and tools, offered to any MCP client as one tool.
//!
//! Standard output belongs to the protocol; everything for people goes to standard error. Everything is checked before
//! the first byte of the protocol.

mod event_forwarder;
mod events;
mod host;
mod reporter;
mod result;
mod service;
mod start;
mod task;
mod tool;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::options::ServeOptions;
use crate::http::{self, Token};
use crate::pipes;
use crate::subagent_log;
use gateway::exit;
use gateway::failure::Failure;
use terminal::Terminal;

use self::service::McpService;

/// Runs the command until the client or a signal ends it; gives the exit code.
///
/// # Errors
/// What keeps the subagent from being served, and what to do.
pub async fn serve(options: ServeOptions, stop: CancellationToken) -> Result<u8, Failure> {
    let token =
        options.http.map(|address| Token::of(address, options.token_variable.as_deref()));
    let token = token.transpose()?.flatten();
    let terminal = Arc::new(Terminal::new(options.quiet, false));
    let _listener = subagent_log::listen(terminal.voice(), options.verbose).await;
    let start::PreparedSubagent { subagent, exporter, settings } =
        start::start(&options, token.as_ref(), terminal)?;
    let poster = subagent.poster.clone();
    let (workshop, recording) = (subagent.workshop.clone(), subagent.recording.clone());
    // The configuration stays what it was: runs are to be alike.
    let warming = tokio::spawn(workshop.clone().warm());
    let handler = {
        let subagent = Arc::new(subagent);
        move |session| McpService::new(subagent.clone(), session)
    };
    let served = match options.http {
        Some(address) => http::serve(workshop.clone(), handler, address, token, stop).await,
        None => pipes::serve(workshop.clone(), handler, stop).await,
    };
    warming.abort();
    drop(settings);
    workshop.stop.cancel();
    workshop.close().await;
    if let Some(poster) = poster {
        poster.flush().await;
    }
    recording.flush().await;
    if let Some(exporter) = exporter {
        exporter.end().await;
    }
    let _ = workshop.terminal.flush().await;
    served.map(|()| exit::OK)
}
