//! `toolsmith program check`, and what `show --json` adds: the program is compiled, but does not run.

use std::sync::Arc;

use config::Config;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::outcome_text;
use gateway::permission::RequestedTool;
use gateway::pins::Known;
use gateway::saved_programs::approvals::requested;
use gateway::saved_programs::check::{Broken, Fit, ProgramCheck, with_schemas};
use gateway::saved_programs::{KeptCheck, SavedProgram, functions};
use runner::Request;
use serde_json::{Value, json};
use server::process_context::ProcessContext;
use server::runtime::Runtime;
use snippet::{Fix, ProgramFile};
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::support::{configuration, named_or_all, request, store};
use crate::arguments::{CheckProgramsArguments, ShowProgramArguments};
use crate::commands::execution::{self, Job, Tools};

/// Checks programs and returns the exit code: 3 if one is broken.
pub(super) async fn check(
    arguments: &CheckProgramsArguments,
    cancel: CancellationToken,
) -> Result<u8, Failure> {
    let runtime = Runtime::start(Terminal::new(false, false), ProcessContext::of_this_process()).await;
    let code = check_in(&runtime, arguments, &cancel).await;
    runtime.shutdown().await?;
    code
}

async fn check_in(
    runtime: &Runtime,
    arguments: &CheckProgramsArguments,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let terminal = &*runtime.terminal;
    let store = store(terminal)?;
    let programs = named_or_all(&store, &arguments.names)?;
    let (config, known) = configuration(runtime, &arguments.place)?;
    let (mut results, mut is_any_broken) = (Vec::new(), false);
    for program in &programs {
        let checked = match &program.content {
            Ok(content) => {
                let content = functions::program(&store, content)?;
                Some(checked(&content, (&config, terminal), known.clone(), cancel).await?)
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
    let runtime = Runtime::start(Terminal::new(false, false), ProcessContext::of_this_process()).await;
    let shown = async {
        let terminal = &*runtime.terminal;
        let store = store(terminal)?;
        let program = store.find(&arguments.name)?;
        let content = &functions::program(&store, program.program()?)?;
        let (config, known) = configuration(&runtime, &arguments.place)?;
        let checked = checked(content, (&config, terminal), known, &cancel).await?;
        let (mut shown, checked) = (described(&program), as_json(&program, Some(&checked)));
        shown["text"] = json!(content.text());
        shown["hash"] = json!(content.hash());
        if let (Some(shown), Value::Object(checked)) = (shown.as_object_mut(), checked) {
            shown.extend(checked);
        }
        terminal.print_json(&shown.to_string());
        Ok(exit_code::OK)
    };
    let code = shown.await;
    runtime.shutdown().await?;
    code
}

/// Compiles a program against the current tools of the servers that it names.
async fn checked(
    program: &ProgramFile,
    place: (&Arc<Config>, &Terminal),
    known: Known,
    cancel: &CancellationToken,
) -> Result<ProgramCheck, Failure> {
    Ok(with_tools(program, place, known, cancel).await?.0)
}

/// Like [`checked`], with the tools that the program can call, as an approval covers them.
pub(super) async fn with_tools(
    program: &ProgramFile,
    (config, terminal): (&Arc<Config>, &Terminal),
    known: Known,
    cancel: &CancellationToken,
) -> Result<(ProgramCheck, Vec<RequestedTool>), Failure> {
    let request = Request { check_only: true, ..request(program.code().clone(), config, cancel) };
    let mut result = None;
    let check = async |execution: &mut execution::Execution<'_>, outcome: &runner::Outcome| {
        let catalog = execution.discovery.catalog();
        let (engine, terminal) = (&execution.engine, execution.terminal);
        let checked = with_schemas(engine, program, &request, &catalog, &terminal.journal(), outcome).await?;
        let lists = execution.discovery.lists();
        let tools = requested(&checked.manifest, config, lists);
        // Without the kept result, the page says that the program was not checked.
        let _ = KeptCheck::new(&checked, &lists.all()).keep(engine.cache(), program.hash());
        result = Some((checked, tools));
        Ok(exit_code::OK)
    };
    let job = Job { is_kept: false, ..Job::new(Tools::Servers(known), &request, &[]) };
    execution::run((config, terminal), job, check).await?;
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
