//! `toolsmith mcp observe`: infers the shape of a tool's results from calls, and writes it to the lock file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use answer::shapes;
use codegen::{Server, observe};
use config::Config;
use execution::setup;
use gateway::config_secrets;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::observed::{ObservedOutputs, is_one_text};
use gateway::permission::{Allowed, PermissionPolicy};
use gateway::pins::{Locks, Pins};
use gateway::sessions::Sessions;
use gateway::terminal_host::TerminalHost;
use gateway::terminal_prompter::{self, Questions};
use gateway::tool_list::ToolList;
use mcp::{Lock, LockedTool, Observed, Shape};
use report::Kind;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use terminal::{Masker, Terminal};

use crate::arguments::{LockArguments, ObserveArguments};
use crate::commands::mcp::lock_writer::{self, no_lock_file};
use crate::commands::mcp::support::print_json;
use crate::tool_arguments::object;

/// Runs `mcp observe` and returns the exit code.
pub(crate) async fn observe(arguments: &ObserveArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = observe_tool(arguments, &terminal).await;
    terminal.flush().await.map_err(Failure::output)?;
    done.map(|()| exit_code::OK)
}

async fn observe_tool(arguments: &ObserveArguments, terminal: &Terminal) -> Result<(), Failure> {
    let place = Place::read(&arguments.place, &arguments.tool.0)?;
    let (server, tool) = &arguments.tool;
    if arguments.forget {
        forget(&place.file, server, tool, terminal)?;
        if arguments.place.output.json {
            print_json(&json!({ "server": server, "tool": tool, "file": place.file }), terminal);
        }
        return Ok(());
    }
    let calls = arguments.args.iter().map(|text| object(text)).collect::<Result<Vec<_>, _>>()?;
    let allowed = Allowed { globs: &arguments.permission.allow, ..Allowed::default() };
    let policy = terminal_prompter::policy(&place.config, allowed, terminal, Questions::Several);
    let answered = place.answers((server, tool), calls, policy.clone(), TerminalHost::at(terminal)).await;
    policy.take_notes().iter().for_each(|note| terminal.note(note));
    let (tools, answers, failure) = answered?;
    if !answers.is_empty() {
        let raw = tools.tool(tool).unwrap_or_default();
        // Read the file again under the lock: another process may have written observations in the meantime.
        let mut writer = lock_writer::open(&place.file)?;
        let masker = config_secrets::masker(&place.config);
        learn(&mut writer.lock, (server, tool), raw, &answers, &masker)?;
        let signature = signature(&writer.lock, server, tool, &masker);
        writer.save()?;
        if arguments.place.output.json {
            let observed =
                json!({ "server": server, "tool": tool, "signature": signature, "file": place.file });
            print_json(&observed, terminal);
        } else {
            terminal.print(&signature);
        }
        terminal.note(&format!("wrote {}", place.file.display()));
    }
    failure.map_or(Ok(()), Err)
}

fn forget(file: &Path, server: &str, tool: &str, terminal: &Terminal) -> Result<(), Failure> {
    let mut writer = lock_writer::open(file)?;
    let known = writer.lock.servers.get_mut(server).and_then(|server| server.tools.get_mut(tool));
    if known.and_then(|tool| tool.observed.take()).is_none() {
        let message = format!("{server}.{tool} has no observations in {}", file.display());
        return Err(Failure::command_line(message));
    }
    writer.save()?;
    terminal.note(&format!("deleted the observations of {server}.{tool}"));
    Ok(())
}

/// Adds results to the observations of a tool, whose current definition is `raw`.
///
/// # Errors
/// If a different definition of the tool was locked in the meantime, because the user's acceptance must stay. If only
/// some results are JSON.
fn learn(
    lock: &mut Lock,
    (server, tool): (&str, &str),
    raw: Value,
    answers: &[Answer],
    masker: &Masker,
) -> Result<(), Failure> {
    let known = lock.servers.entry(server.to_owned()).or_default();
    if known.pinned && known.tools.get(tool).is_none_or(|locked| !locked.is(&raw)) {
        let message =
            format!("a different definition of {server}.{tool} was locked in the meantime; try again");
        return Err(Failure::new(Kind::Denied, message));
    }
    let locked = known.tools.entry(tool.to_owned()).or_insert_with(|| LockedTool::new(raw.clone()));
    let mut seen = locked.observed.take();
    for answer in answers {
        let samples = seen.as_ref().map_or(0, |seen| seen.samples) + 1;
        let mut content = seen.as_ref().map_or_else(Vec::new, |seen| seen.content.clone());
        content.extend(answer.content.iter().cloned());
        content.sort_unstable();
        content.dedup();
        let shape = added(seen.map(|seen| seen.shape), &answer.value, masker).map_err(|mixed| {
            Failure::new(Kind::Server, format!("{server}.{tool}: {mixed}"))
                .with_code(exit_code::RUNTIME)
                .hint("do not observe a tool that returns both; --forget deletes earlier observations")
        })?;
        seen = Some(Observed { shape, content, samples });
    }
    *locked = LockedTool { observed: seen, ..LockedTool::new(raw) };
    Ok(())
}

/// Results of a tool are of two kinds.
#[derive(Debug, thiserror::Error)]
#[error("the result is {now}, and earlier ones were {before}")]
struct Mixed {
    now: &'static str,
    before: &'static str,
}

/// Merges a result into the observed shape.
fn added(seen: Option<Shape>, answer: &Answered, masker: &Masker) -> Result<Shape, Mixed> {
    match (seen, answer) {
        (None, Answered::Json(answer)) => Ok(Shape::OutputSchema(observe::infer(answer))),
        (Some(Shape::OutputSchema(schema)), Answered::Json(answer)) => {
            Ok(Shape::OutputSchema(observe::merge(&schema, &observe::infer(answer))))
        }
        (None, Answered::Text(text)) => Ok(Shape::Text(shapes::sample(text, masker))),
        (Some(Shape::Text(first)), Answered::Text(_)) => Ok(Shape::Text(first)),
        (Some(Shape::OutputSchema(_)), Answered::Text(_)) => Err(Mixed { now: "text", before: "JSON" }),
        (Some(Shape::Text(_)), Answered::Json(_)) => Err(Mixed { now: "JSON", before: "text" }),
    }
}

/// A configuration, the lock file to write, and the pins for the calls.
struct Place {
    config: Arc<Config>,
    file: PathBuf,
    pins: Pins,
}

impl Place {
    /// Reads the configuration. The lock file is the named one, or the one of the layer that defines the server.
    fn read(arguments: &LockArguments, server: &str) -> Result<Self, Failure> {
        let config = setup::configure(&arguments.place.options())?;
        let mut pins = Locks::of(&config)?.pins();
        let own = config.server(server).and_then(|server| config.lock_of(&server.layer));
        let file = match (&arguments.lock, own.or_else(|| config.locks.len().checked_sub(1))) {
            (Some(file), _) => {
                let lock = Lock::read(file)?;
                lock.iter().for_each(|lock| pins.add(file, lock));
                file.clone()
            }
            (None, Some(index)) => config.locks.get(index).map(|own| own.path.clone()).unwrap_or_default(),
            (None, None) => return Err(no_lock_file(&config)),
        };
        Ok(Place { config, file, pins })
    }

    /// Calls the tool. Returns the server's tools, the results, and the failure that stopped further calls, if any.
    async fn answers(
        &self,
        (server, tool): (&str, &str),
        calls: Vec<Box<RawValue>>,
        policy: Arc<PermissionPolicy>,
        host: Arc<TerminalHost>,
    ) -> Result<Answers, Failure> {
        let settings = self.config.server(server).ok_or_else(|| {
            let known: Vec<&str> =
                self.config.servers.iter().map(|server| server.connection.name.as_str()).collect();
            Failure::command_line(format!("there is no server {server:?}"))
                .hint(format!("available servers: {}", known.join(", ")))
        })?;
        let name = &settings.connection.name;
        if !self.config.admits(name, tool) {
            let message = format!("the configuration denies calls to {server}.{tool}");
            return Err(Failure::new(Kind::Denied, message));
        }
        let mut sessions = Sessions::new(self.config.clone(), config_secrets::masker(&self.config), host);
        sessions.hold_to(self.pins.clone());
        sessions.permit(policy);
        let answers = match sessions.start(name).await {
            Ok(opened) => ask(&sessions, &opened.tools, (server, tool), calls).await,
            Err(error) => Err(error.into()),
        };
        sessions.close().await;
        answers
    }
}

async fn ask(
    sessions: &Sessions,
    tools: &Arc<ToolList>,
    (server, tool): (&str, &str),
    calls: Vec<Box<RawValue>>,
) -> Result<Answers, Failure> {
    let Some(known) = tools.tool(tool) else {
        let names = tools.names().take(20).collect::<Vec<_>>();
        return Err(Failure::command_line(format!("the server has no tool {tool:?}"))
            .hint(format!("available tools: {}", names.join(", "))));
    };
    let declared = known.get("outputSchema");
    let (mut answers, mut failure) = (Vec::new(), None);
    for arguments in calls {
        let result = sessions.call_directly(server, tool, arguments).await.map_err(Failure::call);
        match result.and_then(|result| answer(tool, declared, (result.is_error, &result.result))) {
            Ok(answer) => answers.push(answer),
            // Earlier results are kept.
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    Ok((tools.clone(), answers, failure))
}

type Answers = (Arc<ToolList>, Vec<Answer>, Option<Failure>);

/// A tool's result.
struct Answer {
    value: Answered,
    /// The types of its content blocks besides those that say the value.
    content: Vec<String>,
}

/// The value of a result.
enum Answered {
    Json(Value),
    /// Text that is not JSON.
    Text(String),
}

/// Reads a result: its structured content, or else its text, parsed as JSON if possible. The single text that a declared
/// schema may consist of is not parsed.
fn answer(
    tool: &str,
    declared: Option<&Value>,
    (is_error, raw): (bool, &RawValue),
) -> Result<Answer, Failure> {
    let failed = |reason: String| {
        Failure::new(Kind::Server, format!("{tool}: {reason}")).with_code(exit_code::RUNTIME)
    };
    let result: Value = serde_json::from_str(raw.get()).map_err(|error| failed(error.to_string()))?;
    let parts = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    let text = texts.join("\n");
    if is_error {
        let shown: String = text.chars().take(400).collect();
        return Err(failed(format!("the tool failed, so nothing was observed: {shown}")));
    }
    let kinds = parts.iter().filter_map(|part| part["type"].as_str()).filter(|kind| *kind != "text");
    let mut content: Vec<String> = kinds.map(ToOwned::to_owned).collect();
    let structured = result.get("structuredContent").filter(|structured| !structured.is_null());
    let Some(structured) = structured else {
        if text.trim().is_empty() {
            return Err(failed("the result has no text, so there is nothing to observe".to_owned()));
        }
        let value = said(&texts).map_or(Answered::Text(text), Answered::Json);
        return Ok(Answer { value, content });
    };
    if declared.is_some_and(is_one_text)
        && let Some(text) = shapes::only_text(structured)
    {
        return Ok(Answer { value: Answered::Text(text.to_owned()), content });
    }
    let is_said =
        said(&texts).is_some_and(|said| said == *structured || Some(&said) == structured.get("result"));
    if !text.trim().is_empty() && !is_said {
        content.push("text".to_owned());
    }
    Ok(Answer { value: Answered::Json(structured.clone()), content })
}

/// The JSON that texts say: together, or each an item of a list.
fn said(texts: &[&str]) -> Option<Value> {
    let whole = serde_json::from_str(strict_json::without_mark(&texts.join("\n"))).ok();
    whole.or_else(|| texts.iter().map(|text| serde_json::from_str::<Value>(text).ok()).collect())
}

/// The tool's new signature, with the shape of its results if the signature does not show it.
fn signature(lock: &Lock, server: &str, tool: &str, masker: &Masker) -> String {
    let observed = ObservedOutputs::of(lock);
    let locked = lock.servers.get(server).and_then(|server| server.tools.get(tool));
    let typed = locked.and_then(|locked| observed.tool(server, &locked.tool));
    let described = Server { name: server.to_owned(), tools: typed.into_iter().collect() };
    let bindings = codegen::generate(&described, &described.name);
    let signatures = bindings.tools.into_iter().map(|tool| tool.signature);
    let shape = observed.text(server, tool).map(|text| shapes::shape_of_text(text, masker));
    let shape = shape.map(|shape| shapes::comment(server, tool, &shape));
    signatures.chain(shape).collect::<Vec<_>>().join("\n")
}
