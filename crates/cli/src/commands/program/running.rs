//! `toolsmith program run`.

use config::Config;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::saved_programs::{Approvals, ProgramStore, SavedProgram, functions};
use runner::Request;
use serde_json::value::RawValue;
use server::process_context::ProcessContext;
use server::runtime::Runtime;
use snippet::ProgramFile;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::options::Given;
use super::support::{configuration, request};
use crate::arguments::{NamedProgram, RunProgramArguments, RunProgramOptions};
use crate::commands::execution::{self, Tools};
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
    pub(super) fn request(&self, config: &Config, cancel: &CancellationToken) -> Request {
        let plain = request(self.program.code().clone(), config, cancel);
        Request {
            args: ProgramFile::request_arguments(&self.arguments),
            timeout: self.options.timeout.unwrap_or(plain.timeout),
            ..plain
        }
    }
}

/// Runs the program and returns the exit code.
pub(super) async fn run(arguments: RunProgramArguments, cancel: CancellationToken) -> Result<u8, Failure> {
    let job = match read(arguments)? {
        Ok(job) => job,
        Err(code) => return Ok(code),
    };
    let terminal = Terminal::new(false, !job.options.json);
    let runtime = Runtime::start(terminal, ProcessContext::of_this_process()).await;
    let code = run_in(&runtime, &job, &cancel).await;
    runtime.shutdown().await?;
    code
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

async fn run_in(runtime: &Runtime, job: &Job, cancel: &CancellationToken) -> Result<u8, Failure> {
    let terminal = &*runtime.terminal;
    let (config, known) = configuration(runtime, &job.options.place)?;
    let request = job.request(&config, cancel);
    let approved = Approvals::read()?.tools(job.program.hash());
    let plan = execution::Job::new(Tools::Servers(known), &request, &job.options.permission.allow);
    execution::run(
        (&config, terminal),
        execution::Job { approved, program: Some(&job.saved.name), ..plan },
        async |_, outcome| show(outcome, job.options.json, false, terminal),
    )
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
