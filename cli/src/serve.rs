//! `toolsmith serve`: code mode over all configured servers, as an MCP server for any client.
//!
//! Standard output belongs to the protocol; everything for people goes to standard error.

mod answer;
mod approval;
mod caller;
mod definitions;
mod execute;
mod face;
mod held;
mod host;
mod http;
mod kept;
mod level;
mod library;
mod live;
mod passing;
mod random;
mod scribe;
mod session;
mod slots;
mod snapshot;
mod typed;
mod upstreams;
mod watcher;
mod workshop;

use std::net::SocketAddr;
use std::sync::Arc;

use rmcp::ServiceExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::arguments::ServeArguments;
use crate::exit;
use crate::failure::Failure;
use crate::pins::Known;
use crate::setup;
use crate::terminal::Terminal;

use self::face::{Face, Handler};
use self::http::Token;
use self::session::{ClientSession, Transport};
use self::snapshot::Settings;
use self::workshop::Workshop;

/// Runs the command until the client or a signal ends it; gives the exit code.
pub(crate) async fn serve(arguments: ServeArguments, stop: CancellationToken) -> Result<u8, Failure> {
    let terminal = Arc::new(Terminal::new(arguments.quiet, false));
    let (config, exporter) = setup::load_to_serve(&arguments.place)?;
    let known = Known::read(config.lock_file().as_deref())?;
    let token = arguments.http.map(|address| token(address, arguments.token_env.as_deref())).transpose()?;
    let (_settings, watched) = watch::channel(Settings::new(config, known)?);
    let workshop = Workshop::new(watched, arguments.allow.clone(), terminal.clone())?;
    let served = match arguments.http {
        Some(address) => http::serve(workshop.clone(), address, token.flatten(), stop).await,
        None => serve_pipes(workshop.clone(), stop).await,
    };
    workshop.stop.cancel();
    workshop.close().await;
    if let Some(exporter) = exporter {
        exporter.end().await;
    }
    let _ = terminal.flush().await;
    served.map(|()| exit::OK)
}

/// The token that clients must show. Without one, only this machine may be served.
fn token(address: SocketAddr, variable: Option<&str>) -> Result<Option<Token>, Failure> {
    let Some(variable) = variable else {
        if address.ip().is_loopback() {
            return Ok(None);
        }
        return Err(Failure::configuration(format!(
            "{address} can be reached from elsewhere, and whoever reaches it could run code\n\
             help: name a variable with a token: --token-env VARIABLE"
        )));
    };
    match std::env::var(variable) {
        Ok(token) if token.trim().len() >= SHORTEST_TOKEN => Ok(Some(Token::new(token.trim()))),
        Ok(_) => Err(Failure::configuration(format!(
            "the variable {variable} has fewer than {SHORTEST_TOKEN} characters, which can be guessed\n\
             help: take a longer token, such as that of: openssl rand -hex 32"
        ))),
        Err(_) => Err(Failure::configuration(format!(
            "the variable {variable}, which --token-env names, is not set\nhelp: set it to a token"
        ))),
    }
}

/// Least characters of a token.
const SHORTEST_TOKEN: usize = 16;

/// Serves the one client at standard input and output.
async fn serve_pipes(workshop: Arc<Workshop>, stop: CancellationToken) -> Result<(), Failure> {
    let session =
        ClientSession::new(random::name().map_err(Failure::host)?, Transport::Stdio, workshop.clone());
    let face = Face::new(Handler::new(workshop, session));
    let serving = face.serve_with_ct(rmcp::transport::stdio(), stop);
    match serving.await {
        Ok(running) => running.waiting().await.map(drop).map_err(Failure::host),
        // A client that goes before it says anything has not failed.
        Err(
            rmcp::service::ServerInitializeError::ConnectionClosed(_)
            | rmcp::service::ServerInitializeError::Cancelled,
        ) => Ok(()),
        Err(error) => Err(Failure::host(error)),
    }
}
