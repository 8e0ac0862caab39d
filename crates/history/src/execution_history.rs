//! The selection of this process's executions for the history, and their connection with it.
//!
//! Executions are recorded behind their answers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use database::Durability;
use parking_lot::Mutex;
use report::Report;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use terminal::{Masker, Notifier};

use crate::event::{Ending, NewExecution};
use crate::file::file;
use crate::recorder::{History, RecordedExecution};

/// The time for which the end of the process waits for the history to be written.
const FLUSH: Duration = Duration::from_secs(2);

/// The history of this process, which is started with the first execution.
#[derive(Debug)]
pub struct ExecutionHistory {
    started: Mutex<Started>,
    durability: Durability,
    notifier: Notifier,
    /// Whether executions are requested over the network.
    serves_others: AtomicBool,
}

#[derive(Debug)]
enum Started {
    NotYet,
    /// With the bounds in force: age and size.
    With(History, (Duration, u64)),
    /// The reason was reported.
    Impossible,
}

impl ExecutionHistory {
    /// No execution is recorded before the first [`begin`](Self::begin); `notifier` learns if that is impossible.
    #[must_use]
    pub fn new(durability: Durability, notifier: Notifier) -> Self {
        let (started, serves_others) = (Mutex::new(Started::NotYet), AtomicBool::new(false));
        ExecutionHistory { started, durability, notifier, serves_others }
    }

    /// From now on, executions are requested over the network: they are recorded only if the configuration says so.
    pub fn serve_others(&self) {
        self.serves_others.store(true, Ordering::Relaxed);
    }

    /// Records the begin of an execution, if executions are kept.
    pub fn begin(
        &self,
        settings: &config::History,
        masker: &Masker,
        new: impl FnOnce() -> NewExecution,
    ) -> Option<RecordedExecution> {
        let is_own = !self.serves_others.load(Ordering::Relaxed);
        if !settings.enabled.unwrap_or(is_own) {
            return None;
        }
        let history = self.history(settings)?;
        Some(history.begin(new(), settings, masker.clone()))
    }

    fn history(&self, settings: &config::History) -> Option<History> {
        let bounds = (settings.keep, settings.size);
        let mut started = self.started.lock();
        if let Started::NotYet = *started {
            *started = match file() {
                Ok(file) => Started::With(
                    History::start(file, settings, self.durability, self.notifier.clone()),
                    bounds,
                ),
                Err(error) => {
                    let why = Report::from(error).for_terminal();
                    self.notifier.warning(&format!("no history is kept: {why}"));
                    Started::Impossible
                }
            };
        }
        let Started::With(history, in_force) = &mut *started else { return None };
        if *in_force != bounds {
            history.configure(settings);
            *in_force = bounds;
        }
        Some(history.clone())
    }

    /// Waits until everything is written, at most 2 s.
    pub async fn flush(&self) {
        let history = match &*self.started.lock() {
            Started::With(history, _) => history.clone(),
            Started::NotYet | Started::Impossible => return,
        };
        history.flush(FLUSH).await;
    }
}

/// The working folder, for a list of executions.
#[must_use]
pub fn folder() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// The arguments of a request as a JSON object, if it has any: of a snippet, or of the saved program that it runs.
#[must_use]
pub fn arguments(args: &BTreeMap<String, String>, is_program: bool) -> Option<Box<RawValue>> {
    match is_program {
        true => RawValue::from_string(args.get(runner::PROGRAM_ARGUMENTS)?.clone()).ok(),
        false => (!args.is_empty()).then(|| to_raw_value(args).ok()).flatten(),
    }
}

/// Records the end of an execution that has no outcome, if it is kept: its status, the kind of its error, and the error.
pub fn end(kept: Option<&RecordedExecution>, (status, kind): (&str, Option<&str>), error: Option<&str>) {
    if let Some(kept) = kept {
        let ending = Ending::without_outcome(status, kind, error.map(str::to_owned));
        kept.end(ending, error.unwrap_or_default());
    }
}

/// The texts of an answer (MCP's `CallToolResult`) that a model reads.
#[must_use]
pub fn texts(answer: &Value) -> String {
    let parts = answer["content"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}
