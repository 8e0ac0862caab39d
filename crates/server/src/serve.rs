//! `toolsmith serve`: code mode over all configured servers, as an MCP server for any client.
//!
//! Standard output carries the protocol; messages for the user go to standard error.

use config::Config;
use execution::process::ProcessContext;
use gateway::exit_code;
use gateway::failure::Failure;
use identity::SingleToken;
use report::Report;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use crate::options::ServeOptions;
use crate::runtime::Runtime;

use crate::http;
use crate::service::{McpService, PipeService};
use crate::{pipes, precompile, programs, reload, server_log};

/// Runs the command until the client or a signal ends it; returns the exit code.
pub async fn serve(options: ServeOptions, stop: CancellationToken) -> Result<u8, Failure> {
    let token = options.token()?;
    let terminal = Terminal::new(false, false);
    let mut runtime = Runtime::start(terminal, ProcessContext::of_this_process()).await;
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
    let source = reload::Source {
        process: runtime.process.context.clone(),
        options: options.load.clone(),
        token_variable: options.token_variable.clone(),
        token: token.as_ref().map(|token| token.secret().to_owned()),
    };
    let first = runtime.read(&source)?;
    options.check_access(&first.0.config.serve)?;
    let programs = first.0.programs.clone();
    let state = runtime.serve_following(source, first, &options.allow)?;
    if let Some(questions) = &options.questions {
        // The state is new, so nothing else has set it.
        let _ = state.page.set(questions.clone());
    }
    if let Some(why) = without_servers(&state.settings.borrow().config) {
        state.terminal.notifier().warning(&why);
    }
    programs.notes.iter().for_each(|note| state.terminal.notifier().warning(note));
    runtime.spawn(server_log::follow(state.clone()));
    runtime.spawn(precompile::compile(state.clone()));
    runtime.spawn(programs::checking::follow(state.clone()));
    if let Some(listener) = http::MetricsListener::of(&state, options.http.is_some()).await? {
        runtime.spawn(listener.serve(state.clone()));
    }
    match options.http {
        Some(address) => {
            let handler = {
                let state = state.clone();
                move |session| McpService::new(state.clone(), session)
            };
            http::serve(state, handler, address, token, stop).await
        }
        None => {
            let service = |session| PipeService::new(McpService::new(state.clone(), session));
            Box::pin(pipes::serve(state.clone(), service, stop)).await
        }
    }
}

/// A message about a configuration without any server, and how to get one. A project that is not trusted yet is reported
/// by its own message.
fn without_servers(config: &Config) -> Option<String> {
    let why = config::no_server(config).filter(|_| config.untrusted.is_none())?;
    let mut report = Report::from(why).hint("servers that are added are taken up without a restart");
    // Errors in entries are warnings of their own.
    report.problems.retain(|problem| problem.place.is_none());
    Some(report.for_terminal())
}
