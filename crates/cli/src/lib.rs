//! The command line, which composes the other crates. The binary adds only the check of the platform.

#![cfg(target_os = "linux")]

#[allow(unsafe_code, reason = "sets a parameter of the C library")]
mod allocator;
mod arguments;
mod command_line;
mod commands;
mod completion;
mod demo;
mod download;
#[cfg(test)]
mod tests;
mod tool_arguments;
mod tool_usage;
mod usage_hints;

use std::io;
use std::process::ExitCode;

use gateway::exit_code;
use gateway::failure::Failure;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::Command;

/// Limit on threads for work that blocks. The loop needs one of them to move, so they must not run out, and the limit is
/// far above their number: four for requests of clients (`system::event_loop`), and a few for each execution
/// (`serve.maxExecutions`). A thread ends after 10 s without work.
const MAX_THREADS: usize = 512;

/// The stack of these threads, in bytes (8 MiB): that of a process's first thread by default, on which other commands run.
/// Only what is used of it takes memory.
const STACK: usize = 8 << 20;

/// Runs the command line of this process to its exit code.
#[must_use]
pub fn main() -> ExitCode {
    // Confined processes are started as this program, and must take over before any thread exists.
    sandbox::entry();
    sandbox::use_helper("toolsmith-sandbox");
    mcp::entry();
    // This process holds the servers' secrets. If the kernel refuses, the sandbox's other layers still protect them.
    let _ = sandbox::hide_from_others();
    allocator::return_large_allocations();
    completion::answer();
    let (command, as_json) = match command_line::read() {
        Ok(read) => read,
        Err(code) => return code,
    };
    let runtime = match event_loop(&command) {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal::say(format_args!("toolsmith: the event loop can't be started: {error}\n"));
            return ExitCode::from(exit_code::HOST);
        }
    };
    let done = runtime.block_on(async {
        // With a handler, writing beyond a limit (`ulimit -f`) is an error, which is reported, and not the end
        // (setrlimit(2)). Without it, only the message is missing.
        let _handled = signal(SignalKind::from_raw(libc::SIGXFSZ));
        let done = commands::dispatch(command).await;
        finish_logins().await;
        done
    });
    // A task that still waits for a terminal or a pipe must not keep the process alive.
    runtime.shutdown_background();
    match done {
        Ok(code) => ExitCode::from(code),
        Err(Failure { code, report }) => {
            command_line::report(&report, as_json);
            ExitCode::from(code)
        }
    }
}

/// The event loop of a command. If the command serves many clients, it can move to another thread while a long text is read
/// (`system::event_loop`); for one client or user, a loop that stays on this thread is faster.
fn event_loop(command: &Command) -> io::Result<Runtime> {
    let mut builder = if command.serves_http() {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).max_blocking_threads(MAX_THREADS).thread_stack_size(STACK);
        builder
    } else {
        Builder::new_current_thread()
    };
    builder.enable_all().build()
}

/// Waits until renewed logins are stored, however the command ended: the authorization server may have revoked the old
/// tokens already.
async fn finish_logins() {
    if mcp::exchanges_are_under_way() {
        terminal::say(format_args!("toolsmith: a login is being renewed; waiting until it is stored\n"));
        mcp::exchanges_end().await;
    }
}
