//! `toolsmith program rename`, `delete`, and `export` as JSON.

use std::path::Path;

use gateway::exit_code;
use gateway::failure::Failure;
use gateway::saved_programs::RecordedRuns;
use gateway::terminal_prompter;
use report::Kind;
use serde_json::json;
use terminal::Terminal;

use super::support::store;
use crate::arguments::{DeleteProgramArguments, RenameProgramArguments};

/// Renames a program and its recorded runs; returns the exit code.
pub(super) async fn rename(arguments: &RenameProgramArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let store = store(&terminal)?;
    let program = store.find(&arguments.name)?;
    let new = store.file(&arguments.new, program.scope)?;
    // A link fails if the name is taken, and a rename would replace the other program.
    std::fs::hard_link(&program.file, &new).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::command_line(format!("there is a program {} already", arguments.new))
                .hint("choose another name, or delete that program first")
        }
        _ => failed(&new, error),
    })?;
    std::fs::remove_file(&program.file).map_err(|error| failed(&program.file, error))?;
    let (recorded, renamed) = (RecordedRuns::file(&program.file), RecordedRuns::file(&new));
    if recorded.exists() {
        std::fs::rename(&recorded, &renamed).map_err(|error| failed(&recorded, error))?;
    }
    terminal.note(&format!("the program {} is {} now", arguments.name, arguments.new));
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

/// Deletes a program and its recorded runs; returns the exit code.
pub(super) async fn delete(arguments: &DeleteProgramArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let program = store(&terminal)?.find(&arguments.name)?;
    let recorded = RecordedRuns::file(&program.file);
    if !arguments.yes {
        let runs = if recorded.exists() { " and its recorded runs" } else { "" };
        confirm(&format!("Delete the program {}{runs}: {}?", program.name, program.file.display())).await?;
    }
    std::fs::remove_file(&program.file).map_err(|error| failed(&program.file, error))?;
    match std::fs::remove_file(&recorded) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(&recorded, error)),
        _ => {}
    }
    terminal.note(&format!("the program {} is deleted: {}", program.name, program.file.display()));
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

/// Asks before a program is deleted.
async fn confirm(question: &str) -> Result<(), Failure> {
    let user = terminal_prompter::of_command().ok_or_else(|| {
        Failure::command_line("there is no terminal to ask on")
            .hint("to delete the program without a question, add --yes")
    })?;
    if user.confirm(question).await {
        return Ok(());
    }
    Err(Failure::new(Kind::Cancelled, "the program is kept"))
}

/// Prints a program with its recorded runs as one JSON object.
pub(super) async fn export(name: &str) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let program = store(&terminal)?.find(name)?;
    let content = program.program()?;
    let recorded = RecordedRuns::read(&program.file)?;
    let recorded = (!recorded.runs.is_empty()).then_some(recorded);
    let exported = json!({ "name": program.name, "text": content.text(), "recorded": recorded });
    terminal.print_json(&exported.to_string());
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

fn failed(file: &Path, error: std::io::Error) -> Failure {
    Failure::command_line(format!("{} can't be changed: {error}", file.display())).caused_by(error)
}
