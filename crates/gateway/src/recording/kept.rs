//! The part of an execution that the history keeps so that its text can be run again with the same answers.

use std::collections::BTreeMap;

use report::Kind;
use runner::{Outcome, Status};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use terminal::Masker;

use super::{RECORDING_LIMIT, RecordedTools, Recording, masked, tools_of};
use crate::catalog::ToolLists;
use crate::failure::Failure;

/// The version of the format.
const VERSION: u64 = 1;

/// An execution that can be replayed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayableRun {
    version: u64,
    /// The arguments of its request, without secrets.
    pub arguments: BTreeMap<String, String>,
    /// The tools that it was compiled against.
    pub tools: RecordedTools,
    /// The status of its outcome.
    pub status: String,
    /// Its result, without secrets.
    pub result: Option<Box<RawValue>>,
    /// Its requests, and their answers.
    pub recording: Recording,
}

impl ReplayableRun {
    /// Returns the part of an execution to keep; `None` if its program did not run.
    pub fn new(
        arguments: &BTreeMap<String, String>,
        outcome: &Outcome,
        recording: Recording,
        lists: &ToolLists,
        masker: &Masker,
    ) -> Option<Self> {
        let has_run = !matches!(
            outcome.status,
            Status::CompileError | Status::Denied | Status::Cancelled | Status::Busy
        );
        has_run.then(|| ReplayableRun {
            version: VERSION,
            arguments: arguments
                .iter()
                .map(|(name, text)| (masker.mask(name).into_owned(), masker.mask(text).into_owned()))
                .collect(),
            tools: tools_of(&outcome.manifest, lists),
            status: outcome.status.to_string(),
            result: outcome.result.as_deref().map(|result| masked(result, masker)),
            recording,
        })
    }

    /// It as JSON; `None` if it is larger than [`RECORDING_LIMIT`].
    pub fn text(&self) -> Option<String> {
        serde_json::to_string(self).ok().filter(|text| text.len() <= RECORDING_LIMIT)
    }

    /// Reads what was kept of the execution `id`.
    ///
    /// # Errors
    /// If it has another form.
    pub fn read(id: &str, text: &str) -> Result<Self, Failure> {
        let wrong = |what: String| {
            Failure::new(Kind::History, format!("the recording of {id} can't be read: {what}"))
                .hint("it was written by another version of Toolsmith: replay it with that version")
        };
        let run: ReplayableRun = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if run.version != VERSION {
            return Err(wrong(format!("its version is {}, not {VERSION}", run.version)));
        }
        Ok(run)
    }
}
