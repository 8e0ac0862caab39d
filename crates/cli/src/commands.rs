//! Runs the command that was given, and stops it on signals. Each command has a file of its name, except `serve`
//! (crate `server`), `mcp serve`, `chat` and `ask` (crate `assistant`), and `demo-server` (`demo`).

mod adopt;
mod bundle;
mod cache;
pub(crate) mod codegen;
mod completions;
mod config;
mod conversation;
mod doctor;
mod executing;
pub(crate) mod explain;
mod exported_file;
mod history;
mod man;
pub(crate) mod mcp;
mod permission;
mod program;
mod replaying;
mod run;
mod secret;
mod setup;
mod stats;
mod token;
mod trust;
mod ui;
mod update;

use gateway::exit_code;
use gateway::failure::Failure;
use report::Kind;
use tokio_util::sync::CancellationToken;

use self::history::Again;
use crate::arguments::{Command, HistoryCommand, McpCommand, ProgramCommand, RunArguments};

/// Runs a snippet until its end or the second signal; the first one cancels it.
async fn run(arguments: RunArguments) -> Result<u8, Failure> {
    let (cancel, abandon) = (CancellationToken::new(), CancellationToken::new());
    cancel_on_signal(cancel.clone(), abandon.clone())?;
    let running = async {
        match arguments.replay.clone() {
            Some(id) => replaying::run(arguments, &id, cancel).await,
            None => run::run(arguments, cancel).await,
        }
    };
    tokio::select! {
        done = running => done,
        // Dropping the run kills what it has started.
        () = abandon.cancelled() => Ok(exit_code::CANCELLED),
    }
}

/// Does something with saved programs, until its end or the second signal; the first one cancels it.
async fn saved(command: ProgramCommand) -> Result<u8, Failure> {
    let (cancel, abandon) = (CancellationToken::new(), CancellationToken::new());
    cancel_on_signal(cancel.clone(), abandon.clone())?;
    tokio::select! {
        done = program::run(command, cancel) => done,
        () = abandon.cancelled() => Ok(exit_code::CANCELLED),
    }
}

/// Runs the command and returns the exit code.
pub(crate) async fn dispatch(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Run(arguments) => run(arguments).await,
        Command::History(HistoryCommand::Rerun(arguments)) => match history::again(arguments)? {
            Again::Snippet(arguments) => run(arguments).await,
            Again::Program(arguments) => saved(ProgramCommand::Run(arguments)).await,
        },
        Command::History(command) => until_signal(history::run(&command)).await,
        Command::Program(command) => saved(command).await,
        Command::Codegen(arguments) => until_signal(codegen::inspect(arguments)).await,
        Command::Mcp(McpCommand::Observe(arguments)) => until_signal(mcp::observe::observe(&arguments)).await,
        Command::Mcp(McpCommand::Lock(arguments)) => until_signal(mcp::lock::lock(&arguments)).await,
        Command::Mcp(McpCommand::Add(arguments)) => until_signal(mcp::add(&arguments)).await,
        Command::Mcp(McpCommand::Import(arguments)) => until_signal(mcp::edit::import(&arguments)).await,
        Command::Mcp(McpCommand::Remove(arguments)) => mcp::edit::remove(&arguments),
        Command::Mcp(McpCommand::Enable(arguments)) => mcp::edit::switch(&arguments, true),
        Command::Mcp(McpCommand::Disable(arguments)) => mcp::edit::switch(&arguments, false),
        Command::Mcp(McpCommand::Sandbox(arguments)) => until_signal(mcp::sandbox::sandbox(&arguments)).await,
        Command::Config(command) => config::run(&command).await,
        Command::Setup(arguments) => until_signal(setup::setup(&arguments)).await,
        Command::Secret(command) => until_signal(secret::run(&command)).await,
        Command::Permission(command) => until_signal(permission::run(&command)).await,
        Command::Token(command) => until_signal(token::run(&command)).await,
        Command::Adopt(arguments) => until_signal(adopt::adopt(&arguments)).await,
        Command::Trust(arguments) => until_signal(trust::trust(&arguments)).await,
        Command::Mcp(McpCommand::Login(arguments)) => until_signal(mcp::login::login(&arguments)).await,
        Command::Mcp(McpCommand::Logout(arguments)) => until_signal(mcp::login::logout(&arguments)).await,
        Command::Mcp(McpCommand::ClientMetadata(arguments)) => {
            until_signal(mcp::login::client_metadata(&arguments)).await
        }
        Command::Mcp(McpCommand::Inspect(command)) => until_signal(mcp::inspect(&command)).await,
        Command::Conversation(command) => until_signal(conversation::run(&command)).await,
        Command::Cache(command) => until_signal(cache::run(&command)).await,
        Command::Stats(arguments) => until_signal(stats::stats(&arguments)).await,
        Command::Explain(arguments) => explain::explain(&arguments).await,
        Command::Completions(arguments) => completions::completions(&arguments).await,
        Command::Man(arguments) => man::man(&arguments),
        Command::Bundle(arguments) => until_signal(bundle::bundle(&arguments)).await,
        Command::Update(arguments) => until_signal(update::update(&arguments)).await,
        Command::Doctor(arguments) => until_signal(doctor::doctor(&arguments)).await,
        Command::Mcp(McpCommand::Serve(arguments)) => {
            terminal::set_log_format(arguments.listening.log_format.into());
            let (stop, abandon) = (CancellationToken::new(), CancellationToken::new());
            cancel_on_signal(stop.clone(), abandon.clone())?;
            tokio::select! {
                done = assistant::serve(arguments.into(), stop) => done,
                () = abandon.cancelled() => Ok(exit_code::CANCELLED),
            }
        }
        Command::Serve(arguments) => {
            terminal::set_log_format(arguments.listening.log_format.into());
            let (stop, abandon) = (CancellationToken::new(), CancellationToken::new());
            cancel_on_signal(stop.clone(), abandon.clone())?;
            tokio::select! {
                done = ui::serve(arguments, stop) => done,
                () = abandon.cancelled() => Ok(exit_code::CANCELLED),
            }
        }
        Command::Ui(arguments) => {
            let (stop, abandon) = (CancellationToken::new(), CancellationToken::new());
            cancel_on_signal(stop.clone(), abandon.clone())?;
            tokio::select! {
                done = ui::ui(&arguments, stop) => done,
                () = abandon.cancelled() => Ok(exit_code::CANCELLED),
            }
        }
        Command::Chat(arguments) => assistant::chat(&arguments.talk.into()).await,
        Command::Ask(arguments) => {
            let options = arguments.into();
            let (cancel, abandon) = (CancellationToken::new(), CancellationToken::new());
            cancel_on_signal(cancel.clone(), abandon.clone())?;
            tokio::select! {
                done = assistant::ask(&options, cancel) => done,
                () = abandon.cancelled() => Ok(exit_code::CANCELLED),
            }
        }
        Command::DemoServer(arguments) => {
            let served = match arguments.http {
                Some(address) => crate::demo::http::serve(address, arguments.copies).await,
                None => crate::demo::serve_stdio(arguments.copies).await,
            };
            served.map(|()| exit_code::OK).map_err(|error| {
                let hint = error.hint();
                hint.into_iter().fold(Failure::system(error), Failure::hint)
            })
        }
    }
}

/// Runs work that starts servers or asks the user, and cancels it at the first signal. Dropping the work kills the
/// servers and restores the terminal.
async fn until_signal(work: impl Future<Output = Result<u8, Failure>>) -> Result<u8, Failure> {
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone(), CancellationToken::new())?;
    tokio::select! {
        done = Box::pin(work) => done,
        () = cancel.cancelled() => Ok(exit_code::CANCELLED),
    }
}

/// Handles SIGINT, SIGTERM and SIGHUP: the first one cancels the run in order, the second one abandons it.
fn cancel_on_signal(cancel: CancellationToken, abandon: CancellationToken) -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let signal = |kind| {
        signal(kind).map_err(|error| Failure::new(Kind::System, format!("signals can't be handled: {error}")))
    };
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        for token in [cancel, abandon] {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hang_up.recv() => {}
            }
            token.cancel();
        }
    });
    Ok(())
}
