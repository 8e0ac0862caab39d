//! `toolsmith mcp call`: calls a tool, under the same policy as calls of programs.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;

use execution::process::{self, Process};
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::permission::Allowed;
use gateway::pins::Known;
use gateway::sessions::{Opened, Sessions};
use gateway::terminal_prompter::{self, Questions};
use gateway::tool_list::ToolList;
use gateway::unmatched;
use report::Kind;
use runner::{Answer, FailureKind};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use server::tool_result_files::{RESULT_LIMIT, Results, text};
use terminal::Terminal;

use super::support::{note_difference, print_json, remember, server_of, sessions};
use crate::arguments::CallArguments;
use crate::tool_arguments::object;
use crate::tool_usage;
use mcp::tool_members::Members;

/// Maximum length of arguments from standard input, in bytes (32 MiB): a server gets no longer message.
const STANDARD_INPUT_LIMIT: u64 = 32 << 20;

/// Runs the command and returns the exit code. The tool may be a subagent: its events are shown.
pub(super) async fn call(arguments: &CallArguments) -> Result<u8, Failure> {
    process::run(Terminal::new(false, false), async |process| call_in(process, arguments).await).await
}

async fn call_in(process: &Process, arguments: &CallArguments) -> Result<u8, Failure> {
    let terminal = &*process.terminal;
    match result(arguments, process).await {
        Ok(result) => Ok(show(&result, arguments.output.json, terminal)),
        // With --json, failures of every kind are printed as JSON.
        Err(failure) if arguments.output.json => {
            let Failure { code, report } = failure;
            let error = report.for_model();
            let failed = json!({ "success": false, "output": "", "data": null, "error": error, "content": [], "report": report });
            print_json(&failed, terminal);
            Ok(code)
        }
        Err(failure) => Err(failure),
    }
}

/// Calls the tool and returns its result, shortened to the limit for display; a longer result is saved in full.
async fn result(arguments: &CallArguments, process: &Process) -> Result<Value, Failure> {
    let terminal = &*process.terminal;
    let given = given(arguments)?;
    let (server_name, tool) = arguments.tool();
    let config = Arc::new(process.context.configure(&arguments.place.options())?);
    let name = &server_of(&config, server_name, None)?.connection.name;
    let known = Known::of(&config)?;
    let cache = config::cache_folder()?;
    let allow = &arguments.permission.allow[..];
    let allowed = Allowed { globs: allow, ..Allowed::default() };
    let policy = terminal_prompter::policy(&config, allowed, terminal, Questions::One);
    let mut sessions = sessions(&config, known.pins.clone(), terminal);
    sessions.permit(policy.clone());
    let opens = |opened: &Opened| {
        remember(&config, name, opened, sessions.masker());
        note_difference(&config, &known.pins, name, &opened.tools, terminal);
        let lists = BTreeMap::from([(name.clone(), opened.tools.clone())]);
        unmatched::of_allowed(&config, &lists, allow).iter().for_each(|note| terminal.note(note));
    };
    let answer = answer(&sessions, (name, tool), given, opens).await;
    let unchecked = sessions.unchecked();
    unchecked.iter().for_each(|warning| terminal.note(&format!("warning: {warning}")));
    policy.take_notes().iter().for_each(|note| terminal.note(note));
    sessions.close().await;
    let answer = answer?;
    for repair in answer.repairs() {
        terminal.note(&format!("warning: the answer of {name}.{tool} was not in MCP's form: {repair}"));
    }
    let bounded =
        Results::new(&cache, config.cache.size).bound(&answer.result, RESULT_LIMIT).map_err(|error| {
            let message = format!(
                "the result is too long to print, and can't be saved in {}: {error}",
                cache.display()
            );
            Failure::new(Kind::Cache, message).caused_by(error)
        })?;
    if let Some(file) = &bounded.file {
        terminal.note(&format!("the full result is in {}", file.display()));
    }
    Ok(bounded.result)
}

/// The arguments of the call, and whether their names must be known: they were typed one by one.
fn given(arguments: &CallArguments) -> Result<(Box<RawValue>, bool), Failure> {
    match (&arguments.args, &arguments.arguments[..]) {
        (Some(json), _) => Ok((object(json)?, false)),
        (None, [only]) if only == "-" => {
            let text =
                std::io::read_to_string(std::io::stdin().take(STANDARD_INPUT_LIMIT)).map_err(|error| {
                    Failure::command_line(format!("standard input can't be read: {error}")).caused_by(error)
                })?;
            Ok((object(&text)?, false))
        }
        (None, items) => {
            let read = tool_usage::read(items).map_err(|error| Failure::command_line(error.to_string()))?;
            Ok((object(&Value::Object(read).to_string())?, true))
        }
    }
}

async fn answer(
    sessions: &Sessions,
    (server, tool): (&str, &str),
    (arguments, by_name): (Box<RawValue>, bool),
    opens: impl Fn(&Opened),
) -> Result<Answer, Failure> {
    let opened = sessions.start(server).await?;
    opens(&opened);
    let Some(described) = opened.tools.tool(tool) else {
        if !opened.is_whole {
            return Err(Failure::new(
                Kind::Server,
                format!("the server {server}: {}", opened.warnings.join("; ")),
            ));
        }
        return Err(unknown_tool(server, tool, &opened.tools));
    };
    if by_name {
        check_names(server, tool, &described["inputSchema"], &arguments)?;
    }
    sessions.call_directly(server, tool, arguments).await.map_err(|failure| {
        let is_of_arguments = failure.kind == FailureKind::InvalidParams;
        let failure = Failure::call(failure);
        match is_of_arguments {
            true => failure.hint(usage(server, tool, &described["inputSchema"])),
            false => failure,
        }
    })
}

fn unknown_tool(server: &str, tool: &str, tools: &ToolList) -> Failure {
    let names: Vec<&str> = tools.names().collect();
    let failure = Failure::command_line(format!("the server {server} has no tool {tool:?}"));
    if let Some(near) = snippet::nearest(tool, names.iter().copied()).first() {
        return failure
            .hint(format!("did you mean `{server}.{}`?", printable::name(near)))
            .hint(format!("`toolsmith mcp tools {server}` lists all tools"));
    }
    let shown: Vec<String> = names.into_iter().take(20).map(printable::name).collect();
    let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    failure.hint(format!("available tools: {shown}"))
}

fn usage(server: &str, tool: &str, schema: &Value) -> String {
    format!("usage: toolsmith mcp call {}", tool_usage::usage(server, tool, &Members::of(schema)))
}

/// Refuses an argument with a name that the tool's schema does not have.
fn check_names(server: &str, tool: &str, schema: &Value, arguments: &RawValue) -> Result<(), Failure> {
    let given: Map<String, Value> = serde_json::from_str(arguments.get()).unwrap_or_default();
    let Some((name, near)) = tool_usage::unknown(&given, &Members::of(schema)) else { return Ok(()) };
    let failure = Failure::command_line(format!("{server}.{tool} has no argument {name:?}"));
    let failure = match near.first() {
        Some(near) => failure.hint(format!("did you mean `{}`?", printable::name(near))),
        None => failure,
    };
    Err(failure.hint(usage(server, tool, schema)))
}

/// Prints a result and returns the exit code.
fn show(result: &Value, as_json: bool, terminal: &Terminal) -> u8 {
    let is_error = result["isError"] == true;
    let output = text(result);
    if as_json {
        let error = if is_error { Value::from(output.as_str()) } else { Value::Null };
        let data = result.get("structuredContent").cloned().unwrap_or_default();
        let content = result.get("content").cloned().unwrap_or_else(|| json!([]));
        let shown = json!({ "success": !is_error, "output": output, "data": data, "error": error, "content": content });
        print_json(&shown, terminal);
    } else if is_error {
        terminal.eprint(&format!("the tool failed: {output}"));
    } else {
        terminal.print(&output);
    }
    if is_error { exit_code::RUNTIME } else { exit_code::OK }
}
