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

use tokio_util::sync::CancellationToken;

use crate::arguments::ServeArguments;
use crate::process_context::ProcessContext;
use crate::runtime::Runtime;
use gateway::exit;
use gateway::failure::Failure;
use terminal::Terminal;

use self::http::Token;
use self::service::{McpService, PipeService};

/// Runs the command until the client or a signal ends it; gives the exit code.
pub(crate) async fn serve(arguments: ServeArguments, stop: CancellationToken) -> Result<u8, Failure> {
    let token =
        arguments.listening.http.map(|address| Token::of(address, arguments.listening.token_env.as_deref()));
    let token = token.transpose()?.flatten();
    let terminal = Terminal::new(arguments.manner.quiet, false);
    let mut runtime = Runtime::start(terminal, arguments.manner.verbose, ProcessContext::new()).await;
    let served = serve_in(&mut runtime, &arguments, token, stop).await;
    runtime.shutdown().await?;
    served.map(|()| exit::OK)
}

async fn serve_in(
    runtime: &mut Runtime,
    arguments: &ServeArguments,
    token: Option<Token>,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let source = reload::Source {
        process: runtime.process.clone(),
        options: arguments.place.options(),
        token_variable: arguments.listening.token_env.clone(),
        token: token.as_ref().map(|token| token.secret().to_owned()),
        lenient: true,
    };
    let first = runtime.read(&source)?;
    let workshop = runtime.serve_following(source, first, &arguments.manner.allow)?;
    runtime.spawn(precompile::compile(workshop.clone()));
    match arguments.listening.http {
        Some(address) => {
            let handler = {
                let workshop = workshop.clone();
                move |session| McpService::new(workshop.clone(), session)
            };
            http::serve(workshop, handler, address, token, stop).await
        }
        None => {
            let face = |session| PipeService::new(McpService::new(workshop.clone(), session));
            pipes::serve(workshop.clone(), face, stop).await
        }
    }
}
