//! The part of a client's execution that the history keeps.

use std::sync::Arc;

use gateway::recording::{Recorder, Recording, ReplayableRun};
use history::{NewExecution, RecordedExecution, execution_history};
use runner::Outcome;
use serde_json::value::{RawValue, to_raw_value};

use super::{Arguments, Execution};

impl Execution {
    /// Records the begin in the history, if the execution is kept.
    pub(super) fn kept(&self) -> Option<RecordedExecution> {
        let Arguments { code, args, check_only, .. } = &self.arguments;
        let arguments: Option<Box<RawValue>> = match self.program {
            Some(_) => execution_history::program_arguments(args),
            None => (!args.is_empty()).then(|| to_raw_value(args).ok()).flatten(),
        };
        let new = || NewExecution {
            id: self.id.clone(),
            requester: self.requester.in_history(),
            folder: execution_history::folder(),
            program: self.program.as_ref().map(|program| program.offered.name.clone()),
            code: code.clone(),
            arguments,
            check_only: *check_only,
        };
        let settings = &self.snapshot.settings;
        self.state.history.begin(&settings.config.history, &settings.masker, new)
    }

    /// Returns the recorder of the program's requests, if the configuration says so.
    pub(super) fn keeper(&self, kept: Option<&RecordedExecution>) -> Option<Arc<Recorder>> {
        let settings = &self.snapshot.settings;
        let is_kept = kept.is_some() && settings.config.history.recordings;
        is_kept.then(|| Arc::new(Recorder::new(settings.masker.clone())))
    }

    /// Keeps what a replay needs, behind the answer; nothing if it is too large.
    pub(super) fn keep_requests(
        &self,
        kept: &RecordedExecution,
        recording: Option<Recording>,
        outcome: &Outcome,
    ) {
        let Some(recording) = recording else { return };
        let masker = &self.snapshot.settings.masker;
        let lists = self.snapshot.tool_lists();
        let run = ReplayableRun::new(&self.arguments.args, outcome, recording, &lists, masker);
        let kept = kept.clone();
        self.state.afterwards.spawn_blocking(move || {
            run.and_then(|run| run.text()).into_iter().for_each(|text| kept.recording(text));
        });
    }
}
