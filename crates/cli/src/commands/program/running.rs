//! `toolsmith program run`.

use execution::process::{self, Process};
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::permission::Allowed;
use gateway::saved_programs::{Approvals, ProgramStore, SavedProgram, functions};
use runner::Request;
use serde_json::value::RawValue;
use snippet::ProgramFile;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::options::Given;
use super::support::{Context, request};
use crate::arguments::{NamedProgram, RunProgramArguments, RunProgramOptions};
use crate::commands::executing;
use crate::commands::run::show;

/// A program, and how it is run.
pub(super) struct Job {
    pub(super) saved: SavedProgram,
    pub(super) program: ProgramFile,
    pub(super) options: RunProgramOptions,
    pub(super) arguments: Box<RawValue>,
}

impl Job {
    /// The request that runs the program.
    pub(super) fn request(&self, context: &Context<'_>) -> Request {
        let plain = request(self.program.code().clone(), &context.config, context.cancel);
        Request {
            args: ProgramFile::request_arguments(&self.arguments),
            timeout: self.options.timeout.unwrap_or(plain.timeout),
            ..plain
        }
    }

    /// The execution of this request, with the approval of the program.
    pub(super) fn execution<'a>(
        &'a self,
        context: &'a Context<'_>,
        request: &'a Request,
    ) -> Result<executing::Job<'a>, Failure> {
        let approved = Approvals::read()?.tools(self.program.hash());
        let allowed = Allowed { globs: &self.options.permission.allow, approved };
        Ok(executing::Job { allowed, program: Some(&self.saved.name), ..context.job(request) })
    }
}

/// Runs the program and returns the exit code.
pub(super) async fn run(arguments: RunProgramArguments, cancel: CancellationToken) -> Result<u8, Failure> {
    let job = match read(arguments)? {
        Ok(job) => job,
        Err(code) => return Ok(code),
    };
    let terminal = Terminal::new(false, !job.options.json);
    process::run(terminal, async |process| run_in(process, &job, &cancel).await).await
}

/// Reads a command line with a program's own words; an exit code after help was printed.
pub(super) fn read(arguments: RunProgramArguments) -> Result<Result<Job, u8>, Failure> {
    let RunProgramArguments { options, program: NamedProgram::Words(words) } = arguments;
    let Some((name, words)) = words.split_first() else {
        return Err(Failure::command_line("the name of a program is missing"));
    };
    let store = ProgramStore::of_working_folder()?;
    let saved = store.find(name)?;
    let program = functions::program(&store, saved.program()?)?;
    // The program's command line has to know whether its arguments are given as JSON.
    let before = options.args.iter().flat_map(|args| ["--args".to_owned(), args.clone()]);
    let words: Vec<String> = before.chain(words.iter().cloned()).collect();
    let given = match Given::read(name, &program, &words) {
        Ok(given) => given,
        Err(error) => return usage(&error).map(Err),
    };
    let arguments = given.arguments(&program)?;
    let options = RunProgramOptions { args: None, ..options }.and(given.options);
    Ok(Ok(Job { saved, program, options, arguments }))
}

async fn run_in(process: &Process, job: &Job, cancel: &CancellationToken) -> Result<u8, Failure> {
    let context = Context::read(process, &job.options.place, cancel)?;
    let request = job.request(&context);
    let execution = job.execution(&context, &request)?;
    executing::run(execution, async |_, outcome| show(outcome, job.options.json, false, context.terminal))
        .await
}

/// Prints help, or what is wrong with the words after the program's name.
fn usage(error: &clap::Error) -> Result<u8, Failure> {
    if error.use_stderr() {
        let text = error.render().to_string();
        let text = text.trim();
        return Err(Failure::command_line(text.strip_prefix("error: ").unwrap_or(text)));
    }
    // If help can't be printed, nothing is left to report on.
    let _ = error.print();
    Ok(exit_code::OK)
}
