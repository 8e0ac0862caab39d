//! `toolsmith program test`: runs programs again with their recorded answers, and compares the results.

use std::sync::Arc;

use config::Config;
use execution::process::{self, Process};
use execution::setup;
use gateway::cache;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::recording::{Mismatch, catalog, differences, value};
use gateway::saved_programs::{ProgramStore, RecordedRun, RecordedRuns, SavedProgram, functions};
use runner::{Catalog, Engine, Outcome, Request};
use serde_json::{Value, json};
use snippet::ProgramFile;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::support::{named_or_all, request, store};
use crate::arguments::TestProgramsArguments;
use crate::commands::replaying::{self, DIFFERENCES_SHOWN, Recorded};

/// The result of one replayed run, or of an example that has none.
pub(super) struct Tested {
    program: String,
    /// The arguments, as JSON.
    arguments: Value,
    /// The differences; empty if it passed.
    failures: Vec<Mismatch>,
}

/// The state for replaying programs.
pub(super) struct Tester<'a> {
    engine: Engine,
    config: Arc<Config>,
    terminal: &'a Terminal,
    cancel: &'a CancellationToken,
}

/// Tests programs and returns the exit code: 1 if one failed.
pub(super) async fn test(
    arguments: &TestProgramsArguments,
    cancel: CancellationToken,
) -> Result<u8, Failure> {
    let test = async |process: &Process| test_in(process, arguments, &cancel).await;
    process::run(Terminal::new(false, false), test).await
}

async fn test_in(
    process: &Process,
    arguments: &TestProgramsArguments,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let terminal = &*process.terminal;
    let store = store(terminal)?;
    let programs = named_or_all(&store, &arguments.names)?;
    // Servers that can't be used, and an untrusted project, do not matter here.
    let config = setup::configure(&arguments.place.options().without_untrusted())?;
    let tester = Tester::open(config, terminal, cancel).await?;
    let mut all = Vec::new();
    for program in &programs {
        // Only programs that are named must be valid, and have something to test.
        if program.content.is_err() && arguments.names.is_empty() {
            continue;
        }
        let tested = tester.test(&store, program).await?;
        if tested.is_empty() && !arguments.names.is_empty() {
            return Err(Failure::command_line(format!("the program {} has no recorded runs", program.name))
                .hint(format!("record one: toolsmith program record {}", program.name)));
        }
        all.extend(tested);
    }
    let failed = all.iter().filter(|tested| !tested.passed()).count();
    if arguments.json {
        let all: Vec<Value> = all.iter().map(Tested::as_json).collect();
        terminal.print_json(&Value::from(all).to_string());
    } else {
        all.iter().for_each(|tested| terminal.print(&tested.text()));
        terminal.print(&format!("{} passed, {failed} failed", all.len() - failed));
    }
    Ok(if failed == 0 { exit_code::OK } else { exit_code::RUNTIME })
}

impl<'a> Tester<'a> {
    /// Opens the engine of a configuration.
    pub(super) async fn open(
        config: Arc<Config>,
        terminal: &'a Terminal,
        cancel: &'a CancellationToken,
    ) -> Result<Self, Failure> {
        let cache = cache::open_shared(&config.cache, terminal.notifier())?;
        let engine = Engine::open(&config.code_mode.engine(cache), terminal).await?;
        Ok(Tester { engine, config, terminal, cancel })
    }

    /// Replays recorded runs of the program `name`.
    pub(super) async fn replays(
        &self,
        name: &str,
        program: &ProgramFile,
        runs: &RecordedRuns,
    ) -> Result<Vec<Tested>, Failure> {
        let catalog = catalog(&runs.tools, self.engine.cache(), &self.terminal.notifier());
        let mut all = Vec::new();
        for run in &runs.runs {
            let mut failures = self.replayed(program, run, &catalog).await?;
            failures.truncate(DIFFERENCES_SHOWN);
            let arguments = serde_json::from_str(run.arguments.get()).unwrap_or_default();
            all.push(Tested { program: name.to_owned(), arguments, failures });
        }
        Ok(all)
    }

    /// Replays the recorded runs of a program, and looks for those of its examples.
    async fn test(&self, store: &ProgramStore, saved: &SavedProgram) -> Result<Vec<Tested>, Failure> {
        let program = &functions::program(store, saved.program()?)?;
        let runs = RecordedRuns::read(&saved.file)?;
        let mut all = self.replays(&saved.name, program, &runs).await?;
        for example in
            program.about().examples.iter().filter(|example| runs.find(&example.arguments).is_none())
        {
            let message = format!("it is not recorded; record it: toolsmith program record {}", saved.name);
            all.push(Tested {
                program: saved.name.clone(),
                arguments: Value::Object(example.arguments.clone()),
                failures: vec![Mismatch { message, differences: Vec::new() }],
            });
        }
        Ok(all)
    }

    async fn replayed(
        &self,
        program: &ProgramFile,
        run: &RecordedRun,
        catalog: &Catalog,
    ) -> Result<Vec<Mismatch>, Failure> {
        let plain = request(program.code().clone(), &self.config, self.cancel);
        let request = Request { args: ProgramFile::request_arguments(&run.arguments), ..plain };
        let recorded =
            Recorded { status: &run.status, result: run.result.as_deref(), recording: &run.recording };
        let (outcome, mut failures) =
            replaying::replayed(&self.engine, &request, catalog, &recorded, &self.config, self.terminal)
                .await?;
        if outcome.status.to_string() == run.status {
            failures.extend(of_example(program, run, &outcome));
        }
        Ok(failures)
    }
}

/// Compares a result with that of an example with the same arguments.
fn of_example(program: &ProgramFile, run: &RecordedRun, outcome: &Outcome) -> Option<Mismatch> {
    let arguments = value(Some(&run.arguments));
    let mut examples = program.about().examples.iter();
    let example = examples.find(|example| arguments.as_object() == Some(&example.arguments))?;
    let differences = differences(example.result.as_ref()?, &value(outcome.result.as_deref()));
    let message = "its result is not that of the example".to_owned();
    (!differences.is_empty()).then_some(Mismatch { message, differences })
}

impl Tested {
    /// Whether nothing differs.
    pub(super) fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    /// A line about it, with the differences below it.
    pub(super) fn text(&self) -> String {
        let Tested { program, arguments, failures } = self;
        let mut lines =
            vec![format!("{program} {arguments}: {}", if failures.is_empty() { "passed" } else { "failed" })];
        lines.extend(replaying::lines(failures));
        printable::lines(&lines.join("\n"))
    }

    fn as_json(&self) -> Value {
        json!({
            "program": self.program, "arguments": self.arguments, "passed": self.failures.is_empty(),
            "failures": replaying::as_json(&self.failures),
        })
    }
}
