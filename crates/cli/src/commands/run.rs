//! `toolsmith run`: runs a snippet from a file and prints its outcome.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use config::{Config, Needs};
use execution::process::{self, Process, ProcessContext};
use gateway::audience::for_person;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::outcome_text;
use gateway::permission::Allowed;
use gateway::pins::Known;
use gateway::program_crate::ProgramCrate;
use gateway::saved_programs::functions;
use runner::limits::SNIPPET_LIMIT;
use runner::{Holder, Outcome, Request, Status};
use snippet::Code;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::executing::{self, Job, Tools, unless_cancelled};
use crate::arguments::RunArguments;
use crate::demo;

/// Runs the command and returns the exit code.
pub(crate) async fn run(arguments: RunArguments, cancel: CancellationToken) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, !arguments.json);
    process::run(terminal, async |process| run_in(process, &arguments, &cancel).await).await
}

async fn run_in(
    process: &Process,
    arguments: &RunArguments,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let terminal = &*process.terminal;
    let inputs = unless_cancelled(cancel, read_inputs(arguments, process.context.clone())).await?;
    if inputs.config.is_demo() && !arguments.place.demo {
        terminal.note(
            "no MCP servers are configured: `demo` is the built-in demo server (add one of your own with \
             `toolsmith mcp add`)",
        );
    }
    let Inputs { code, config, tools } = inputs;
    let request = request(arguments, code, &config, cancel.clone());
    let allowed = Allowed { globs: &arguments.permission.allow, ..Allowed::default() };
    let job = Job { allowed, ..Job::new(&config, terminal, tools, &request) };
    executing::run(job, async |_, outcome| show(outcome, arguments.json, arguments.check, terminal)).await
}

/// The inputs of a run.
struct Inputs {
    code: Code,
    config: Arc<Config>,
    tools: Tools,
}

/// Reads the snippet and the configuration on a separate thread, because reading a pipe may block.
async fn read_inputs(arguments: &RunArguments, process: ProcessContext) -> Result<Inputs, Failure> {
    let (place, file, folder) =
        (arguments.place.clone(), arguments.file.clone(), arguments.crate_folder.clone());
    let given = arguments.code.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let (code, program) = match (file, folder) {
            _ if given.is_some() => (given.unwrap_or_default(), None),
            (_, Some(folder)) => {
                let mut program = ProgramCrate::read(&folder, read_snippet)?;
                (std::mem::take(&mut program.code), Some(program))
            }
            (file, None) => (read_snippet(&file.unwrap_or_default())?, None),
        };
        let code = functions::snippet(code)?;
        let options = place.options_with(Needs::ServersIfAny);
        let options = if code.may_name(demo::NAME) { options.or_demo() } else { options };
        let config = Arc::new(process.configure(&options)?);
        let known = Known::of(&config)?;
        let tools = match program {
            Some(program) => Tools::Crate(program, known.pins),
            None => Tools::Servers(known),
        };
        Ok(Inputs { code, config, tools })
    });
    reading.await.map_err(Failure::system)?
}

fn request(arguments: &RunArguments, code: Code, config: &Config, cancel: CancellationToken) -> Request {
    Request {
        code,
        holder: Holder::default(),
        args: arguments.args.iter().cloned().collect::<BTreeMap<_, _>>(),
        timeout: arguments.timeout.unwrap_or(config.code_mode.timeout),
        check_only: arguments.check,
        limits: config.code_mode.limits.clone(),
        grants: config.code_mode.grants.clone(),
        cancel,
    }
}

pub(super) fn read_snippet(file: &Path) -> Result<String, Failure> {
    let limit = SNIPPET_LIMIT as u64 + 1;
    let read = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).map(|_| bytes)
    } else {
        let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
        system::file::read_named(file, SNIPPET_LIMIT as u64).and_then(|bytes| bytes.ok_or_else(missing))
    };
    let bytes = read.map_err(|error| unreadable(file, error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::command_line(format!("the snippet is not UTF-8: byte {at} is not part of a character"))
            .hint("save the file as UTF-8")
    })?;
    Ok(strict_json::without_mark(&text).to_owned())
}

fn unreadable(file: &Path, error: std::io::Error) -> Failure {
    let shown = file.display();
    let (why, advice) = match error.kind() {
        std::io::ErrorKind::NotFound => (
            format!("there is no file {shown}"),
            "check the path; `toolsmith run -` reads the snippet from standard input".to_owned(),
        ),
        std::io::ErrorKind::IsADirectory if file.join(config::LOCK).is_file() => {
            (format!("{shown} is a folder"), format!("run its program: toolsmith run --crate {shown}"))
        }
        std::io::ErrorKind::IsADirectory => {
            (format!("{shown} is a folder"), "name the file of a snippet in it".to_owned())
        }
        _ if file == Path::new("-") => (error.to_string(), "name a file instead of `-`".to_owned()),
        std::io::ErrorKind::FileTooLarge => {
            (format!("{shown}: {error}, the maximum"), "make it shorter".to_owned())
        }
        std::io::ErrorKind::Other => {
            (format!("{shown}: {error}"), "name a file, or pass the snippet to `toolsmith run -`".to_owned())
        }
        kind => (format!("{shown}: {kind}"), "check that you may read the file".to_owned()),
    };
    Failure::command_line(format!("the snippet can't be read: {why}")).hint(advice).caused_by(error)
}

/// Prints an outcome and returns the exit code.
pub(super) fn show(
    outcome: &Outcome,
    as_json: bool,
    is_check: bool,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    if as_json {
        terminal.print_json(&serde_json::to_string(outcome).map_err(Failure::system)?);
        return Ok(exit_code::of(outcome.status));
    }
    let manifest = outcome.manifest.iter().cloned();
    let flows = outcome.flows.iter().map(|flow| format!("can carry {flow}"));
    let check = manifest.chain(flows).filter(|_| is_check);
    for line in check.chain(outcome_text::content(outcome)).chain(outcome_text::result(outcome)) {
        terminal.print(&line);
    }
    for fix in &outcome.fixes {
        terminal.note(&format!("corrected line {}: {}", fix.line, fix.after.trim()));
    }
    if outcome.status == Status::Ok && !outcome.diagnostics.is_empty() {
        terminal.note(for_person(outcome_text::messages(&outcome.diagnostics).trim_end()).as_ref());
    }
    if let Some(trouble) = outcome_text::trouble(outcome) {
        terminal.eprint(&for_person(&trouble));
    }
    Ok(exit_code::of(outcome.status))
}
