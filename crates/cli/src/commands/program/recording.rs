//! `toolsmith program record`: runs a program, and keeps what it requested with the answers.

use gateway::exit_code;
use gateway::failure::Failure;
use gateway::recording::{masked, tools_of};
use gateway::saved_programs::{Approvals, RecordedRun, RecordedRuns};
use runner::{Outcome, Status};
use serde_json::value::{RawValue, to_raw_value};
use server::process_context::ProcessContext;
use server::runtime::Runtime;
use snippet::ProgramFile;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::options::Given;
use super::running::{self, Job};
use super::support::configuration;
use crate::arguments::{NamedProgram, RunProgramArguments};
use crate::commands::execution::{self, Execution, Tools};
use crate::commands::run::show;

/// Records runs of a program; returns the exit code of the last one that failed.
pub(super) async fn record(arguments: RunProgramArguments, cancel: CancellationToken) -> Result<u8, Failure> {
    let jobs = match jobs(arguments)? {
        Ok(jobs) => jobs,
        Err(code) => return Ok(code),
    };
    let as_json = jobs.iter().any(|job| job.options.json);
    let runtime = Runtime::start(Terminal::new(false, !as_json), ProcessContext::of_this_process()).await;
    let recorded = async {
        let mut code = exit_code::OK;
        for job in &jobs {
            let of_run = record_in(&runtime, job, &cancel).await?;
            code = if of_run == exit_code::OK { code } else { of_run };
        }
        Ok(code)
    };
    let code = recorded.await;
    runtime.shutdown().await?;
    code
}

/// The runs to record: the one on the command line, or those of the program's examples.
fn jobs(arguments: RunProgramArguments) -> Result<Result<Vec<Job>, u8>, Failure> {
    let RunProgramArguments { options, program: NamedProgram::Words(words) } = &arguments;
    let name = words.first().cloned().unwrap_or_default();
    let program = gateway::saved_programs::ProgramStore::of_working_folder()?.find(&name)?;
    let content = program.program()?;
    let examples = &content.about().examples;
    if options.args.is_some() || examples.is_empty() || has_arguments(&name, content, words) {
        return Ok(running::read(arguments)?.map(|job| vec![job]));
    }
    let mut jobs = Vec::new();
    for example in examples {
        let args = to_raw_value(&example.arguments).map_err(Failure::system)?;
        let own = ["--args".to_owned(), args.get().to_owned()];
        let words = [&words[..], &own].concat();
        let again = RunProgramArguments { options: options.clone(), program: NamedProgram::Words(words) };
        match running::read(again)? {
            Ok(job) => jobs.push(job),
            Err(code) => return Ok(Err(code)),
        }
    }
    Ok(Ok(jobs))
}

/// Whether the words after a program's name give it arguments. Wrong words do as well: they are reported.
fn has_arguments(name: &str, program: &ProgramFile, words: &[String]) -> bool {
    let none = ["--args".to_owned(), "{}".to_owned()];
    let words: Vec<String> = words.iter().skip(1).cloned().chain(none).collect();
    Given::read(name, program, &words).map_or(true, |given| given.has_arguments())
}

async fn record_in(runtime: &Runtime, job: &Job, cancel: &CancellationToken) -> Result<u8, Failure> {
    let terminal = &*runtime.terminal;
    let (config, known) = configuration(runtime, &job.options.place)?;
    let request = job.request(&config, cancel);
    let approved = Approvals::read()?.tools(job.program.hash());
    let plan = execution::Job::new(Tools::Servers(known), &request, &job.options.permission.allow);
    let plan = execution::Job { approved, program: Some(&job.saved.name), is_recorded: true, ..plan };
    execution::run((&config, terminal), plan, async |execution, outcome| {
        let code = show(outcome, job.options.json, false, terminal)?;
        keep(job, execution, outcome)?;
        Ok(code)
    })
    .await
}

/// Adds a run to the recorded ones.
fn keep(job: &Job, execution: &mut Execution<'_>, outcome: &Outcome) -> Result<(), Failure> {
    if matches!(outcome.status, Status::CompileError | Status::Denied | Status::Cancelled | Status::Busy) {
        execution.terminal.note("nothing is recorded, because the program did not run");
        return Ok(());
    }
    let recording = execution.recording.take().ok_or_else(|| {
        Failure::command_line("nothing is recorded: the answers of the tools are too large")
            .hint("choose arguments with smaller answers")
    })?;
    let masker = execution.discovery.sessions.masker();
    let masked = |value: &RawValue| masked(value, masker);
    let run = RecordedRun {
        arguments: masked(&job.arguments),
        status: outcome.status.to_string(),
        result: outcome.result.as_deref().map(masked),
        recording,
    };
    let tools = tools_of(&outcome.manifest, execution.discovery.lists());
    let file = &job.saved.file;
    let mut runs = RecordedRuns::read(file)?;
    runs.add(run, tools)?;
    runs.write(file)?;
    let path = RecordedRuns::file(file);
    execution.terminal.note(&format!("the run is recorded in {}", path.display()));
    Ok(())
}
