//! The command line, and the only place that composes the parts. What is left to the binary is where it can run.

#![cfg(target_os = "linux")]

mod allocator;
mod arguments;
mod ask;
mod bench;
mod browser;
mod clients;
mod configure;
mod console;
mod conversations;
mod demo;
mod doctor;
mod edit;
mod host;
mod inspect;
mod lock_file;
mod locking;
mod login;
mod mcp_commands;
mod observe;
mod question;
mod run;
mod terminal_prompter;
mod tool_arguments;
mod warm;

use std::process::ExitCode;

use clap::Parser as _;
use gateway::exit;
use gateway::failure::Failure;
use tokio_util::sync::CancellationToken;

use arguments::{Arguments, CacheCommand, Command, McpCommand};

/// Runs the command line of this process to its exit code.
#[must_use]
pub fn main() -> ExitCode {
    // A confined process starts as this program: before anything else, and before any thread.
    sandbox::entry();
    mcp::entry();
    // Its memory holds the servers' secrets. A kernel that refuses this leaves the other layers between.
    let _ = sandbox::hide_from_others();
    allocator::return_large_allocations();
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal::say(format_args!("toolsmith: the event loop can't be started: {error}\n"));
            return ExitCode::from(exit::HOST);
        }
    };
    let done = runtime.block_on(async {
        let done = dispatch(arguments).await;
        logins_are_kept().await;
        done
    });
    // Whatever still waits for a terminal or a pipe must not keep the process.
    runtime.shutdown_background();
    match done {
        Ok(code) => ExitCode::from(code),
        Err(Failure { code, message }) => {
            terminal::say(format_args!("toolsmith: {message}\n"));
            ExitCode::from(code)
        }
    }
}

/// Waits until renewed logins are stored, however the command has ended: the authorization server may have taken the old
/// ones back already.
async fn logins_are_kept() {
    if mcp::exchanges_are_under_way() {
        terminal::say(format_args!("toolsmith: a login is being renewed; this ends when it is stored\n"));
        mcp::exchanges_end().await;
    }
}

async fn dispatch(arguments: Arguments) -> Result<u8, Failure> {
    match arguments.command {
        Command::Run(arguments) => {
            let (cancel, abandon) = (CancellationToken::new(), CancellationToken::new());
            cancel_on_signal(cancel.clone(), abandon.clone())?;
            tokio::select! {
                done = run::run(arguments, cancel) => done,
                // Dropping the run kills what it has started.
                () = abandon.cancelled() => Ok(exit::CANCELLED),
            }
        }
        Command::Codegen(arguments) => until_signal(inspect::inspect(arguments)).await,
        Command::Mcp(McpCommand::Observe(arguments)) => until_signal(observe::observe(&arguments)).await,
        Command::Mcp(McpCommand::Lock(arguments)) => until_signal(locking::lock(&arguments)).await,
        Command::Mcp(McpCommand::Add(arguments)) => until_signal(edit::add(&arguments)).await,
        Command::Mcp(McpCommand::Import(arguments)) => until_signal(edit::import(&arguments)).await,
        Command::Mcp(McpCommand::Remove(arguments)) => edit::remove(&arguments),
        Command::Mcp(McpCommand::Enable(arguments)) => edit::switch(&arguments, true),
        Command::Mcp(McpCommand::Disable(arguments)) => edit::switch(&arguments, false),
        Command::Config(command) => configure::run(&command).await,
        Command::Setup(arguments) => until_signal(clients::setup(&arguments)).await,
        Command::Trust(arguments) => until_signal(configure::trust(&arguments)).await,
        Command::Mcp(McpCommand::Login(arguments)) => until_signal(login::login(&arguments)).await,
        Command::Mcp(McpCommand::Logout(arguments)) => until_signal(login::logout(&arguments)).await,
        Command::Mcp(McpCommand::Look(command)) => until_signal(mcp_commands::look(&command)).await,
        Command::Conversation(command) => until_signal(conversations::run(&command)).await,
        Command::Cache(CacheCommand::Warm(arguments)) => until_signal(warm::warm(&arguments)).await,
        Command::Doctor(arguments) => doctor::doctor(&arguments).await,
        Command::Mcp(McpCommand::Serve(arguments)) => {
            let (stop, abandon) = (CancellationToken::new(), CancellationToken::new());
            cancel_on_signal(stop.clone(), abandon.clone())?;
            tokio::select! {
                done = server::subagent::serve(arguments.into(), stop) => done,
                () = abandon.cancelled() => Ok(exit::CANCELLED),
            }
        }
        Command::Serve(arguments) => {
            let (stop, abandon) = (CancellationToken::new(), CancellationToken::new());
            cancel_on_signal(stop.clone(), abandon.clone())?;
            tokio::select! {
                done = server::serve::serve(arguments.into(), stop) => done,
                () = abandon.cancelled() => Ok(exit::CANCELLED),
            }
        }
        Command::Chat(arguments) => console::chat(&arguments).await,
        Command::Ask(arguments) => {
            let (cancel, abandon) = (CancellationToken::new(), CancellationToken::new());
            cancel_on_signal(cancel.clone(), abandon.clone())?;
            tokio::select! {
                done = ask::ask(&arguments, cancel) => done,
                () = abandon.cancelled() => Ok(exit::CANCELLED),
            }
        }
        Command::DemoServer(arguments) => {
            let served = match arguments.http {
                Some(address) => demo::http::serve(address, arguments.copies).await,
                None => demo::serve_stdio(arguments.copies).await,
            };
            served.map(|()| exit::OK).map_err(Failure::host)
        }
        Command::Bench(arguments) => bench::bench(&arguments).await,
    }
}

/// Does something that starts servers or asks a person, and gives it up at the first signal: what is dropped then kills
/// the servers, and gives the terminal back as it was.
async fn until_signal(work: impl Future<Output = Result<u8, Failure>>) -> Result<u8, Failure> {
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone(), CancellationToken::new())?;
    tokio::select! {
        done = work => done,
        () = cancel.cancelled() => Ok(exit::CANCELLED),
    }
}

/// The first SIGINT, SIGTERM or SIGHUP asks the run to end in order; the second one abandons it.
fn cancel_on_signal(cancel: CancellationToken, abandon: CancellationToken) -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let signal =
        |kind| signal(kind).map_err(|error| Failure::host(format!("signals can't be handled: {error}")));
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
