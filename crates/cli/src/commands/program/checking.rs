//! `toolsmith program check`, and what `show --json` adds: the program is compiled, but does not run.

use execution::process::{self, Process};
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::outcome_text;
use gateway::permission::RequestedTool;
use gateway::saved_programs::approvals::requested;
use gateway::saved_programs::check::{Broken, Fit, ProgramCheck, with_schemas};
use gateway::saved_programs::{KeptCheck, SavedProgram, functions};
use runner::{Outcome, Request};
use serde_json::{Value, json};
use snippet::{Fix, ProgramFile};
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::support::{Context, named_or_all, request, store};
use crate::arguments::{CheckProgramsArguments, ShowProgramArguments};
use crate::commands::executing::{self, Finished, Job};

/// Checks programs and returns the exit code: 3 if one is broken.
pub(super) async fn check(
    arguments: &CheckProgramsArguments,
    cancel: CancellationToken,
) -> Result<u8, Failure> {
    let check = async |process: &Process| check_in(process, arguments, &cancel).await;
    process::run(Terminal::new(false, false), check).await
}

async fn check_in(
    process: &Process,
    arguments: &CheckProgramsArguments,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let terminal = &*process.terminal;
    let store = store(terminal)?;
    let programs = named_or_all(&store, &arguments.names)?;
    let context = Context::read(process, &arguments.place, cancel)?;
    let (mut results, mut is_any_broken) = (Vec::new(), false);
    for program in &programs {
        let checked = match &program.content {
            Ok(content) => {
                let content = functions::program(&store, content)?;
                Some(checked(&content, &context).await?.0)
            }
            Err(_) => None,
        };
        is_any_broken |= checked.as_ref().is_none_or(|checked| matches!(checked.fit, Fit::Broken(_)));
        if arguments.json {
            results.push(as_json(program, checked.as_ref()));
        } else {
            print(program, checked.as_ref(), terminal);
        }
    }
    if arguments.json {
        terminal.print_json(&Value::from(results).to_string());
    } else if programs.is_empty() {
        terminal.note("there are no programs");
    }
    Ok(if is_any_broken { exit_code::COMPILE } else { exit_code::OK })
}

/// Prints a program as JSON, with what the compiler knows of it.
pub(super) async fn show(
    arguments: &ShowProgramArguments,
    described: impl Fn(&SavedProgram) -> Value,
    cancel: CancellationToken,
) -> Result<u8, Failure> {
    process::run(Terminal::new(false, false), async |process| {
        let store = store(&process.terminal)?;
        let program = store.find(&arguments.name)?;
        let content = &functions::program(&store, program.program()?)?;
        let context = Context::read(process, &arguments.place, &cancel)?;
        let (checked, _) = checked(content, &context).await?;
        let (mut shown, checked) = (described(&program), as_json(&program, Some(&checked)));
        shown["text"] = json!(content.text());
        shown["hash"] = json!(content.hash());
        if let (Some(shown), Value::Object(checked)) = (shown.as_object_mut(), checked) {
            shown.extend(checked);
        }
        process.terminal.print_json(&shown.to_string());
        Ok(exit_code::OK)
    })
    .await
}

/// Compiles a program against the current tools of the servers that it names; returns also the tools that it can call,
/// as an approval covers them.
pub(super) async fn checked(
    program: &ProgramFile,
    context: &Context<'_>,
) -> Result<(ProgramCheck, Vec<RequestedTool>), Failure> {
    let request = request(program.code().clone(), &context.config, context.cancel);
    let request = Request { check_only: true, ..request };
    let mut result = None;
    let check = async |finished: &mut Finished<'_>, outcome: &Outcome| {
        let Finished { engine, discovery, .. } = finished;
        let (catalog, journal) = (discovery.catalog(), context.terminal.journal());
        let checked = with_schemas(engine, program, &request, &catalog, &journal, outcome).await?;
        let lists = discovery.lists();
        let tools = requested(&checked.manifest, &context.config, lists);
        // Without the kept result, the page says that the program was not checked.
        let _ = KeptCheck::new(&checked, &lists.all()).keep(engine.cache(), program.hash());
        result = Some((checked, tools));
        Ok(exit_code::OK)
    };
    executing::run(Job { is_kept: false, ..context.job(&request) }, check).await?;
    result.ok_or_else(|| Failure::command_line("the program was not compiled"))
}

fn print(program: &SavedProgram, checked: Option<&ProgramCheck>, terminal: &Terminal) {
    let name = &program.name;
    let Some(checked) = checked else {
        let why = program.content.as_ref().err().map(report::Report::for_terminal).unwrap_or_default();
        terminal.print(&format!("{name}: broken\n{why}"));
        return;
    };
    match &checked.fit {
        Fit::Fits => terminal.print(&format!("{name}: fits")),
        Fit::Corrected(fixes) => {
            let lines: Vec<String> = fixes.iter().map(fix_lines).collect();
            terminal
                .print(&printable::lines(&format!("{name}: fits with corrections\n{}", lines.join("\n"))));
        }
        Fit::Broken(broken) => {
            terminal.print(&format!("{name}: broken: {}", broken_text(broken)));
        }
    }
    let without = checked.schemas.as_ref().and_then(|schemas| schemas.without_result.as_ref());
    if let Some(why) = without {
        terminal.note(&format!("{name}: its result has no JSON Schema: {why}"));
    }
}

/// Describes the faults of a broken program, with the compiler's messages.
pub(super) fn broken_text(broken: &Broken) -> String {
    let text = format!("{}\n{}", broken.message, outcome_text::messages(&broken.diagnostics));
    printable::lines(text.trim_end())
}

fn fix_lines(fix: &Fix) -> String {
    format!("  line {}:\n  - {}\n  + {}", fix.line, fix.before.trim(), fix.after.trim())
}

fn as_json(program: &SavedProgram, checked: Option<&ProgramCheck>) -> Value {
    let Some(ProgramCheck { fit, manifest, schemas }) = checked else {
        let why = program.content.as_ref().err().map(report::Report::for_model);
        return json!({ "name": program.name, "state": "broken", "error": why });
    };
    let mut result = json!({ "name": program.name, "state": fit.word(), "manifest": manifest });
    match fit {
        Fit::Fits => {}
        Fit::Corrected(fixes) => result["fixes"] = json!(fixes),
        Fit::Broken(broken) => {
            result["error"] = json!(broken.message);
            result["diagnostics"] = json!(broken.diagnostics);
        }
    }
    if let Some(schemas) = schemas {
        result["arguments"] = schemas.arguments.clone();
        result["result"] = json!(schemas.result);
        result["without_result"] = json!(schemas.without_result);
    }
    result
}
