//! The recorded runs of a saved program, in `NAME.recorded.json` next to it: people keep both in Git.

use std::path::{Path, PathBuf};

use report::Kind;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use system::file::{self, Durability};

use crate::failure::Failure;
use crate::recording::{RECORDING_LIMIT, RecordedTools, Recording};

/// The version of the format.
const VERSION: u64 = 1;

/// Maximum number of runs in a file.
const RUNS_LIMIT: usize = 100;

/// Maximum size of the file, in bytes (64 MiB).
const LIMIT: u64 = 4 * RECORDING_LIMIT as u64;

/// The recorded runs of a program.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRuns {
    version: u64,
    /// The tools that the program was compiled against.
    pub tools: RecordedTools,
    /// The runs, each with other arguments.
    pub runs: Vec<RecordedRun>,
}

/// A recorded run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRun {
    /// Its arguments: an object.
    pub arguments: Box<RawValue>,
    /// The status of its outcome.
    pub status: String,
    /// Its result, without secrets.
    pub result: Option<Box<RawValue>>,
    /// Its requests, and their answers.
    pub recording: Recording,
}

impl Default for RecordedRuns {
    fn default() -> Self {
        RecordedRuns { version: VERSION, tools: RecordedTools::new(), runs: Vec::new() }
    }
}

impl RecordedRuns {
    /// The file for the program in `program`.
    pub fn file(program: &Path) -> PathBuf {
        program.with_extension("recorded.json")
    }

    /// Reads the runs of the program in `program`; none if there is no file.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn read(program: &Path) -> Result<Self, Failure> {
        let path = RecordedRuns::file(program);
        match file::read(&path, LIMIT) {
            Ok(None) => Ok(RecordedRuns::default()),
            Ok(Some(text)) => RecordedRuns::parse(&path, &text),
            Err(error) => Err(unreadable(&path, &error)),
        }
    }

    /// Deletes the runs of the program in `program`, if there are any.
    ///
    /// # Errors
    /// If the file can't be deleted.
    pub fn remove(program: &Path) -> Result<(), Failure> {
        let path = RecordedRuns::file(program);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let message = format!("{} can't be deleted: {error}", path.display());
                Err(Failure::command_line(message).caused_by(error))
            }
            _ => Ok(()),
        }
    }

    /// Parses runs, which are in the file `path`.
    ///
    /// # Errors
    /// If they have another form.
    pub(super) fn parse(path: &Path, text: &[u8]) -> Result<Self, Failure> {
        let runs: RecordedRuns = strict_json::from_slice(text).map_err(|error| unreadable(path, &error))?;
        if runs.version != VERSION {
            return Err(unreadable(path, &format!("its version is {}, not {VERSION}", runs.version)));
        }
        if runs.runs.len() > RUNS_LIMIT {
            return Err(unreadable(path, &format!("it has more than {RUNS_LIMIT} runs")));
        }
        Ok(runs)
    }

    /// The run with these arguments.
    pub fn find(&self, arguments: &Map<String, Value>) -> Option<&RecordedRun> {
        self.runs.iter().find(|run| run.has(arguments))
    }

    /// Adds a run with the tools that it was compiled against, in place of an earlier one with the same arguments.
    ///
    /// # Errors
    /// If there are too many runs.
    pub fn add(&mut self, run: RecordedRun, tools: RecordedTools) -> Result<(), Failure> {
        self.tools.extend(tools);
        let arguments: Map<String, Value> = serde_json::from_str(run.arguments.get()).unwrap_or_default();
        self.runs.retain(|known| !known.has(&arguments));
        if self.runs.len() >= RUNS_LIMIT {
            return Err(Failure::command_line(format!("the program has {RUNS_LIMIT} recorded runs already"))
                .hint("delete its file of recorded runs, and record fewer"));
        }
        self.runs.push(run);
        Ok(())
    }

    /// Writes the runs next to the program in `program`.
    ///
    /// # Errors
    /// If the file can't be written, or they are too large.
    pub fn write(&self, program: &Path) -> Result<(), Failure> {
        let path = RecordedRuns::file(program);
        let failed = |error: std::io::Error| {
            Failure::command_line(format!("{} can't be written: {error}", path.display())).caused_by(error)
        };
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        if text.len() as u64 > LIMIT {
            return Err(Failure::command_line(format!("the recorded runs have more than {LIMIT} bytes"))
                .hint("record runs with fewer or smaller answers"));
        }
        file::replace(&path, &text, config::access_of(&path), Durability::Synced).map_err(failed)
    }
}

fn unreadable(path: &Path, what: &dyn std::fmt::Display) -> Failure {
    let message = format!("the recorded runs {} can't be read: {what}", path.display());
    Failure::new(Kind::CommandLine, message)
        .hint("delete the file, and record the runs again: toolsmith program record NAME")
}

impl RecordedRun {
    fn has(&self, arguments: &Map<String, Value>) -> bool {
        serde_json::from_str::<Map<String, Value>>(self.arguments.get()).is_ok_and(|own| own == *arguments)
    }
}
