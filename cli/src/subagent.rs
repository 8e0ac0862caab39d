//! `toolsmith mcp serve`: a model with its own prompt and tools, offered to any MCP client as one tool.
//!
//! Standard output belongs to the protocol; everything for people goes to standard error. Everything is checked before
//! the first byte of the protocol.

mod events;
mod face;
mod forward;
mod host;
mod result;
mod start;
mod task;
mod teller;
mod tool;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::arguments::SubagentArguments;
use crate::exit;
use crate::failure::Failure;
use crate::forwarding;
use crate::serve::http::{self, Token};
use crate::serve::pipes;
use crate::terminal::Terminal;

use self::face::Handler;

/// Runs the command until the client or a signal ends it; gives the exit code.
///
/// # Errors
/// What keeps the subagent from being served, and what to do.
pub(crate) async fn serve(arguments: SubagentArguments, stop: CancellationToken) -> Result<u8, Failure> {
    let token =
        arguments.listening.http.map(|address| Token::of(address, arguments.listening.token_env.as_deref()));
    let token = token.transpose()?.flatten();
    let terminal = Arc::new(Terminal::new(arguments.manner.quiet, false));
    let _listener = forwarding::listen(terminal.voice(), arguments.manner.verbose).await;
    let start::Started { subagent, exporter, settings } = start::start(&arguments, token.as_ref(), terminal)?;
    let poster = subagent.poster.clone();
    let (workshop, recording) = (subagent.workshop.clone(), subagent.recording.clone());
    // The configuration stays what it was: runs are to be alike.
    let warming = tokio::spawn(workshop.clone().warm());
    let handler = {
        let subagent = Arc::new(subagent);
        move |session| Handler::new(subagent.clone(), session)
    };
    let served = match arguments.listening.http {
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
