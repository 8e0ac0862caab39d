//! `toolsmith program record`: runs a program, and keeps what it requested with the answers.

use execution::Recorded;
use execution::process::{self, Process};
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::recording::{masked, tools_of};
use gateway::saved_programs::{RecordedRun, RecordedRuns};
use runner::{Outcome, Status};
use serde_json::value::{RawValue, to_raw_value};
use snippet::ProgramFile;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::options::Given;
use super::running::{self, Job};
use super::support::Context;
use crate::arguments::{NamedProgram, RunProgramArguments};
use crate::commands::executing::{self, Finished};
use crate::commands::run::show;

/// Records runs of a program; returns the exit code of the last one that failed.
pub(super) async fn record(arguments: RunProgramArguments, cancel: CancellationToken) -> Result<u8, Failure> {
    let jobs = match jobs(arguments)? {
        Ok(jobs) => jobs,
        Err(code) => return Ok(code),
    };
    let as_json = jobs.iter().any(|job| job.options.json);
    let recorded = async |process: &Process| {
        let mut code = exit_code::OK;
        for job in &jobs {
            let of_run = record_in(process, job, &cancel).await?;
            code = if of_run == exit_code::OK { code } else { of_run };
        }
        Ok(code)
    };
    process::run(Terminal::new(false, !as_json), recorded).await
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

async fn record_in(process: &Process, job: &Job, cancel: &CancellationToken) -> Result<u8, Failure> {
    let context = Context::read(process, &job.options.place, cancel)?;
    let request = job.request(&context);
    let execution = executing::Job { recorded: Recorded::Always, ..job.execution(&context, &request)? };
    executing::run(execution, async |finished, outcome| {
        let code = show(outcome, job.options.json, false, &process.terminal)?;
        keep(job, finished, outcome, &process.terminal)?;
        Ok(code)
    })
    .await
}

/// Adds a run to the recorded ones.
fn keep(
    job: &Job,
    finished: &mut Finished<'_>,
    outcome: &Outcome,
    terminal: &Terminal,
) -> Result<(), Failure> {
    if matches!(outcome.status, Status::CompileError | Status::Denied | Status::Cancelled | Status::Busy) {
        terminal.note("nothing is recorded, because the program did not run");
        return Ok(());
    }
    let recording = finished.recording.take().ok_or_else(|| {
        Failure::command_line("nothing is recorded: the answers of the tools are too large")
            .hint("choose arguments with smaller answers")
    })?;
    let masker = finished.discovery.sessions.masker();
    let masked = |value: &RawValue| masked(value, masker);
    let run = RecordedRun {
        arguments: masked(&job.arguments),
        status: outcome.status.to_string(),
        result: outcome.result.as_deref().map(masked),
        recording,
    };
    let tools = tools_of(&outcome.manifest, finished.discovery.lists());
    let file = &job.saved.file;
    let mut runs = RecordedRuns::read(file)?;
    runs.add(run, tools)?;
    runs.write(file)?;
    let path = RecordedRuns::file(file);
    terminal.note(&format!("the run is recorded in {}", path.display()));
    Ok(())
}
