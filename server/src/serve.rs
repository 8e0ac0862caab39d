//! `toolsmith serve`: code mode over all configured servers, as an MCP server for any client.
//!
//! Standard output belongs to the protocol; everything for people goes to standard error.


use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::http;
use crate::options::ServeOptions;
use crate::{pipes, precompile, reload};
use crate::subagent_log;
use gateway::exit;
use gateway::failure::Failure;
use terminal::Terminal;

use crate::http::Token;
use crate::service::{McpService, PipeService};
use crate::state::ServerState;

/// Runs the command until the client or a signal ends it; gives the exit code.
pub async fn serve(options: ServeOptions, stop: CancellationToken) -> Result<u8, Failure> {
    let terminal = Arc::new(Terminal::new(options.quiet, false));
    let token =
        options.http.map(|address| Token::of(address, options.token_variable.as_deref()));
    let token = token.transpose()?.flatten();
    let _listener = subagent_log::listen(terminal.voice(), options.verbose).await;
    let source = reload::Source {
        options: options.load.clone(),
        token_variable: options.token_variable.clone(),
        token: token.as_ref().map(|token| token.secret().to_owned()),
        lenient: true,
    };
    // What changes while it is read is read again.
    let stamps = source.stamps();
    let (first, exporter) = source.read_first()?;
    let (sender, settings) = watch::channel(first);
    let workshop = ServerState::new(settings, options.allow.clone(), terminal.clone())?;
    let beside = [
        tokio::spawn(workshop.clone().warm()),
        tokio::spawn(reload::follow(source, stamps, sender, workshop.clone())),
    ];
    let compiling = tokio::spawn(precompile::compile(workshop.clone()));
    let served = match options.http {
        Some(address) => {
            let handler = {
                let workshop = workshop.clone();
                move |session| McpService::new(workshop.clone(), session)
            };
            http::serve(workshop.clone(), handler, address, token, stop).await
        }
        None => {
            let face = |session| PipeService::new(McpService::new(workshop.clone(), session));
            pipes::serve(workshop.clone(), face, stop).await
        }
    };
    beside.iter().for_each(tokio::task::JoinHandle::abort);
    // Its compiler has ended when it has.
    compiling.abort();
    let _ = compiling.await;
    workshop.stop.cancel();
    workshop.close().await;
    if let Some(exporter) = exporter {
        exporter.end().await;
    }
    let _ = terminal.flush().await;
    served.map(|()| exit::OK)
}
