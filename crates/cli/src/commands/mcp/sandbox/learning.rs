//! `toolsmith mcp sandbox NAME --learn`: watches what a server is refused in use, and proposes grants.

use std::ffi::{OsStr, OsString};

use config::{Config, Server};
use execution::setup::configure;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::terminal_prompter;
use serde_json::json;
use server_sandbox::{Confinement, Watch};
use terminal::Terminal;

use super::{grants, trial};
use crate::arguments::SandboxArguments;
use crate::commands::mcp::support::{print_json, server_of};

/// Watches a server until the user, a time or a command ends that, and offers the grants that it was refused.
pub(super) async fn learn(
    arguments: &SandboxArguments,
    config: &Config,
    server: &Server,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    if let Some(sandbox) = &server.sandbox {
        return watch(arguments, (server, sandbox), terminal).await;
    }
    if !trial::confine(config, server, terminal).await? {
        return Ok(exit_code::HOST);
    }
    let config = configure(&arguments.place.options())?;
    let server = server_of(&config, &arguments.name, None)?;
    match &server.sandbox {
        Some(sandbox) => watch(arguments, (server, sandbox), terminal).await,
        None => Ok(exit_code::HOST),
    }
}

async fn watch(
    arguments: &SandboxArguments,
    (server, sandbox): (&Server, &Confinement),
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let name = &server.connection.name;
    let watch = Watch::begin(&config::state_folder()?, name).map_err(|error| {
        Failure::command_line(format!("{name} can't be watched: {error}"))
            .hint("end the other `toolsmith mcp sandbox --learn` of this server first")
            .caused_by(error)
    })?;
    let code = wait(arguments, terminal).await?;
    let seen = watch.end().map_err(Failure::system)?;
    if seen.starts == 0 {
        let message = format!("{name} was not started meanwhile, so nothing was learned");
        return Err(Failure::command_line(message)
            .hint("use it in a client or with `toolsmith run` while it is watched"));
    }
    let proposed = grants::proposal(sandbox, &seen.refusals);
    let value = (proposed != sandbox.settings)
        .then(|| {
            grants::written(server)
                .map(|written| grants::widened(written.as_ref(), &sandbox.settings, &proposed))
        })
        .transpose()?;
    if arguments.output.json {
        let refusals: Vec<String> = seen.refusals.iter().map(ToString::to_string).collect();
        print_json(
            &json!({ "id": name, "starts": seen.starts, "refusals": refusals, "sandbox": value }),
            terminal,
        );
        return Ok(code);
    }
    terminal.note(&trial::refused(name, &seen.refusals));
    match value {
        Some(value) => grants::offer(server, value, terminal).await.map(|_| code),
        None => Ok(code),
    }
}

/// Waits until watching ends, and returns the exit code.
async fn wait(arguments: &SandboxArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let name = &arguments.name;
    if let Some((program, words)) = arguments.command.split_first() {
        return run(program, words).await;
    }
    if let Some(time) = arguments.seconds {
        terminal.note(&format!(
            "watching {name} for {} s: use it in a client or another terminal",
            time.as_secs_f64()
        ));
        tokio::time::sleep(time).await;
        return Ok(exit_code::OK);
    }
    let Some(user) = terminal_prompter::of_terminal(terminal) else {
        return Err(Failure::command_line(format!("there is no terminal to end the watching of {name}"))
            .hint(format!("watch a command: toolsmith mcp sandbox {name} --learn -- toolsmith run FILE"))
            .hint("or watch for a time: --seconds 60"));
    };
    user.confirm(&format!("Watching {name}: use it in a client or another terminal. Done?")).await;
    Ok(exit_code::OK)
}

/// Runs the command to watch, and returns its exit code. `toolsmith` is this program.
async fn run(program: &OsStr, words: &[OsString]) -> Result<u8, Failure> {
    let program = if program == "toolsmith" {
        std::env::current_exe().map_err(Failure::system)?.into_os_string()
    } else {
        program.to_owned()
    };
    let status = tokio::process::Command::new(&program).args(words).kill_on_drop(true).status().await;
    let status = status.map_err(|error| {
        Failure::command_line(format!("{} can't be started: {error}", program.display())).caused_by(error)
    })?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit_code::HOST))
}
