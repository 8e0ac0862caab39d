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

use agent::EventPoster;
use tokio_util::sync::CancellationToken;

use crate::arguments::SubagentArguments;
use crate::exit;
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::serve::http::{self, Token};
use crate::serve::pipes;
use crate::subagent_log;
use crate::terminal::Terminal;

use self::service::McpService;

/// Runs the command until the client or a signal ends it; gives the exit code.
///
/// # Errors
/// What keeps the subagent from being served, and what to do.
pub(crate) async fn serve(arguments: SubagentArguments, stop: CancellationToken) -> Result<u8, Failure> {
    let token =
        arguments.listening.http.map(|address| Token::of(address, arguments.listening.token_env.as_deref()));
    let token = token.transpose()?.flatten();
    let terminal = Arc::new(Terminal::new(arguments.manner.quiet, false));
    let listener = subagent_log::listen(terminal.voice(), arguments.manner.verbose).await;
    let start::PreparedSubagent { subagent, exporter, settings } = start::start(
        &arguments,
        ProcessContext::new().with_listener(listener.as_ref()).of_agent(),
        token.as_ref(),
        terminal,
    )?;
    let poster = subagent.poster.clone();
    let (workshop, recording) = (subagent.workshop.clone(), subagent.recording.clone());
    // The configuration stays what it was: runs are to be alike.
    let warming = tokio::spawn(workshop.clone().warm());
    let handler = {
        let subagent = Arc::new(subagent);
        move |session| McpService::new(subagent.clone(), session)
    };
    let served = match arguments.listening.http {
        Some(address) => http::serve(workshop.clone(), handler, address, token, stop).await,
        None => pipes::serve(workshop.clone(), handler, stop).await,
    };
    warming.abort();
    drop(settings);
    workshop.stop.cancel();
    // Side by side: clients do not wait long for the end.
    tokio::join!(workshop.close(), deliver(poster, &workshop.terminal));
    recording.flush().await;
    if let Some(exporter) = exporter {
        exporter.end().await;
    }
    let _ = workshop.terminal.flush().await;
    served.map(|()| exit::OK)
}

/// Posts what is not posted yet, and says what is lost.
async fn deliver(poster: Option<Arc<EventPoster>>, terminal: &Terminal) {
    let Some(poster) = poster else { return };
    let lost = poster.flush().await;
    if lost > 0 {
        terminal.tell(&format!(
            "toolsmith: events of this subagent that are lost: {lost}; the process that shows them did not take them in time"
        ));
    }
}
