//! `toolsmith serve`: code mode over all configured servers, as an MCP server for any client.
//!
//! Standard output belongs to the protocol; everything for people goes to standard error.

mod answer;
mod approval;
pub(crate) mod caller;
mod definitions;
mod ending;
mod execute;
mod face;
mod held;
mod host;
mod http;
pub(crate) mod inside;
mod kept;
pub(crate) mod level;
pub(crate) mod library;
mod live;
mod passing;
mod pipes;
pub(crate) mod random;
pub(crate) mod reload;
mod scribe;
pub(crate) mod session;
mod slots;
pub(crate) mod snapshot;
mod typed;
mod upstreams;
mod watcher;
pub(crate) mod workshop;

use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::arguments::ServeArguments;
use crate::exit;
use crate::failure::Failure;
use crate::terminal::Terminal;

use self::http::Token;
use self::workshop::Workshop;

/// Runs the command until the client or a signal ends it; gives the exit code.
pub(crate) async fn serve(arguments: ServeArguments, stop: CancellationToken) -> Result<u8, Failure> {
    let terminal = Arc::new(Terminal::new(arguments.quiet, false));
    let token = arguments.http.map(|address| Token::of(address, arguments.token_env.as_deref()));
    let token = token.transpose()?.flatten();
    let source = reload::Source {
        place: arguments.place.clone(),
        token_variable: arguments.token_env.clone(),
        token: token.as_ref().map(|token| token.secret().to_owned()),
    };
    // What changes while it is read is read again.
    let stamps = source.stamps();
    let (first, exporter) = source.read_first()?;
    let (sender, settings) = watch::channel(first);
    let workshop = Workshop::new(settings, arguments.allow.clone(), terminal.clone())?;
    let beside = [
        tokio::spawn(workshop.clone().warm()),
        tokio::spawn(reload::follow(source, stamps, sender, workshop.clone())),
    ];
    let served = match arguments.http {
        Some(address) => http::serve(workshop.clone(), address, token, stop).await,
        None => pipes::serve(workshop.clone(), stop).await,
    };
    beside.iter().for_each(tokio::task::JoinHandle::abort);
    workshop.stop.cancel();
    workshop.close().await;
    if let Some(exporter) = exporter {
        exporter.end().await;
    }
    let _ = terminal.flush().await;
    served.map(|()| exit::OK)
}
