//! The command line, and the only place that composes the parts. What is left to the binary is where it can run.

#![cfg(target_os = "linux")]

mod allocator;
mod arguments;
mod browser;
mod commands;
mod console;
mod demo;
mod file_lock;
mod terminal_host;
mod terminal_prompter;
mod tool_arguments;

use std::process::ExitCode;

use clap::Parser as _;
use gateway::exit_code;
use gateway::failure::Failure;

use arguments::Arguments;

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
            return ExitCode::from(exit_code::HOST);
        }
    };
    let done = runtime.block_on(async {
        let done = commands::dispatch(arguments).await;
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
