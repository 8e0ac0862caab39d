//! `toolsmith completions`: prints the script that lets a shell ask this program for completions.

use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};
use gateway::exit_code;
use gateway::failure::Failure;
use terminal::Terminal;

use crate::arguments::{CompletionsArguments, Shell};
use crate::completion::VARIABLE;

/// Runs the command and returns the exit code.
pub(crate) async fn completions(arguments: &CompletionsArguments) -> Result<u8, Failure> {
    let shell: &dyn EnvCompleter = match arguments.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let mut script = Vec::new();
    // The shell finds the program by its name, so the script outlives an update.
    shell
        .write_registration(VARIABLE, "toolsmith", "toolsmith", "toolsmith", &mut script)
        .map_err(Failure::output)?;
    let terminal = Terminal::new(false, false);
    terminal.print(String::from_utf8_lossy(&script).trim_end());
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}
