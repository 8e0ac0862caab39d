//! `toolsmith serve`: code mode over all configured servers, as an MCP server for any client.
//!
//! Standard output belongs to the protocol; everything for people goes to standard error.

pub(crate) mod answer;
pub(crate) mod answer_forms;
mod approval;
pub(crate) mod caller;
pub(crate) mod catalog_watcher;
pub(crate) mod definitions;
mod execute;
pub(crate) mod host;
pub(crate) mod http;
pub(crate) mod in_process;
pub(crate) mod level;
pub(crate) mod library;
mod line_transport;
mod message;
pub(crate) mod multi_round_trip;
mod output_store;
mod pending;
pub(crate) mod pipes;
pub(crate) mod precompile;
pub(crate) mod protocol_types;
mod proxy;
mod quota;
mod recorder;
pub(crate) mod reload;
pub(crate) mod service;
pub(crate) mod session;
mod settings_in_force;
pub(crate) mod shutdown;
pub(crate) mod slots;
pub(crate) mod snapshot;
pub(crate) mod state;
pub(crate) mod upstreams;
mod watcher;

use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::arguments::ServeArguments;
use crate::exit;
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::subagent_log;
use crate::terminal::Terminal;

use self::http::Token;
use self::service::{McpService, PipeService};
use self::state::ServerState;

/// Runs the command until the client or a signal ends it; gives the exit code.
pub(crate) async fn serve(arguments: ServeArguments, stop: CancellationToken) -> Result<u8, Failure> {
    let terminal = Arc::new(Terminal::new(arguments.manner.quiet, false));
    let token =
        arguments.listening.http.map(|address| Token::of(address, arguments.listening.token_env.as_deref()));
    let token = token.transpose()?.flatten();
    let listener = subagent_log::listen(terminal.voice(), arguments.manner.verbose).await;
    let source = reload::Source {
        process: ProcessContext::new().with_listener(listener.as_ref()),
        options: arguments.place.options(),
        token_variable: arguments.listening.token_env.clone(),
        token: token.as_ref().map(|token| token.secret().to_owned()),
        lenient: true,
    };
    // What changes while it is read is read again.
    let stamps = source.stamps();
    let (first, exporter) = source.read_first()?;
    let (sender, settings) = watch::channel(first);
    let workshop = ServerState::new(settings, arguments.manner.allow.clone(), terminal.clone())?;
    let beside = [
        tokio::spawn(workshop.clone().warm()),
        tokio::spawn(reload::follow(source, stamps, sender, workshop.clone())),
    ];
    let compiling = tokio::spawn(precompile::compile(workshop.clone()));
    let served = match arguments.listening.http {
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
