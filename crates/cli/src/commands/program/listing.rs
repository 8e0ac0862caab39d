//! `toolsmith program list` and `show`.

use gateway::exit_code;
use gateway::failure::Failure;
use gateway::saved_programs::SavedProgram;
use serde_json::{Value, json};
use snippet::{Argument, ArgumentKind, ProgramFile};
use terminal::Terminal;
use terminal::table::show_table;
use tokio_util::sync::CancellationToken;

use super::checking;
use super::support::{store, title};
use crate::arguments::{ListProgramsArguments, ShowProgramArguments};

/// Prints all programs.
pub(super) async fn list(arguments: &ListProgramsArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let mut programs = store(&terminal)?.all()?;
    if let Some(tag) = &arguments.tag {
        programs.retain(|program| {
            program.content.as_ref().is_ok_and(|content| content.about().tags.contains(tag))
        });
    }
    if arguments.json {
        let all: Vec<Value> = programs.iter().map(described).collect();
        terminal.print_json(&Value::from(all).to_string());
    } else if programs.is_empty() {
        terminal.note("there are no programs");
    } else {
        let row =
            |program: &SavedProgram| vec![program.name.clone(), program.scope.to_string(), title(program)];
        show_table(&terminal, &["program", "scope", "description"], programs.iter().map(row));
    }
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

/// Prints one program.
pub(super) async fn show(arguments: &ShowProgramArguments, cancel: CancellationToken) -> Result<u8, Failure> {
    if arguments.json {
        return checking::show(arguments, described, cancel).await;
    }
    let terminal = Terminal::new(false, false);
    let program = store(&terminal)?.find(&arguments.name)?;
    let content = program.program()?;
    terminal.print(&printable::lines(&summary(&program, content)));
    terminal.flush().await.map_err(Failure::output)?;
    Ok(exit_code::OK)
}

fn summary(program: &SavedProgram, content: &ProgramFile) -> String {
    let mut parts = vec![format!("{} ({}): {}", program.name, program.scope, program.file.display())];
    let about = content.about();
    if !about.description.is_empty() {
        parts.push(about.description.clone());
    }
    if !about.tags.is_empty() {
        parts.push(format!("Tags: {}", about.tags.join(", ")));
    }
    let lines: Vec<String> = content.arguments().iter().map(argument_line).collect();
    if !lines.is_empty() {
        parts.push(format!("Arguments:\n{}", lines.join("\n")));
    }
    parts.push(content.text().trim_end().to_owned());
    parts.join("\n\n")
}

fn argument_line(argument: &Argument) -> String {
    let required = if argument.is_required { "required" } else { "optional" };
    let about = argument.about.lines().next().unwrap_or_default();
    format!("  {}: {}, {required}  {about}", argument.name, kind(&argument.kind)).trim_end().to_owned()
}

fn kind(kind: &ArgumentKind) -> String {
    match kind {
        ArgumentKind::Text => "text".to_owned(),
        ArgumentKind::Choice(values) => values.join("|"),
        ArgumentKind::Integer => "integer".to_owned(),
        ArgumentKind::Number => "number".to_owned(),
        ArgumentKind::Flag => "true|false".to_owned(),
        ArgumentKind::List(inner) => format!("list of {}", self::kind(inner)),
        ArgumentKind::Json => "JSON".to_owned(),
    }
}

/// A program as JSON, without what only the compiler knows.
fn described(program: &SavedProgram) -> Value {
    let mut described =
        json!({ "name": program.name, "scope": program.scope.to_string(), "file": program.file });
    let members = match &program.content {
        Ok(content) => json!({
            "description": content.about().description,
            "tags": content.about().tags,
            "examples": content.about().examples.iter().map(|example| &example.text).collect::<Vec<_>>(),
            "hash": content.hash(),
        }),
        Err(report) => json!({ "error": report.for_model() }),
    };
    if let (Some(described), Value::Object(members)) = (described.as_object_mut(), members) {
        described.extend(members);
    }
    described
}
