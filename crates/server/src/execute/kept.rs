//! The part of a client's execution that the history keeps.

use gateway::recording::{Recorder, Recording, ReplayableRun};
use history::{NewExecution, RecordedExecution};
use runner::{Outcome, ToolHost};
use serde_json::value::{RawValue, to_raw_value};

use super::{Arguments, Execution};
use crate::execution_history;
use crate::recorder::ExecutionRecorder;

impl Execution {
    /// Records the begin in the history, if the execution is kept.
    pub(super) fn kept(&self, recorder: &ExecutionRecorder) -> Option<RecordedExecution> {
        let Arguments { code, args, check_only, .. } = &self.arguments;
        let arguments: Option<Box<RawValue>> = match self.program {
            Some(_) => execution_history::program_arguments(args),
            None => (!args.is_empty()).then(|| to_raw_value(args).ok()).flatten(),
        };
        let new = || NewExecution {
            id: recorder.id().to_owned(),
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

    /// Returns the keeper of the program's requests, if the configuration asks for one.
    pub(super) fn keeper<'a>(
        &self,
        kept: Option<&'a RecordedExecution>,
        host: &'a dyn ToolHost,
    ) -> Option<(&'a RecordedExecution, Recorder<'a>)> {
        let settings = &self.snapshot.settings;
        let kept = kept.filter(|_| settings.config.history.recordings)?;
        Some((kept, Recorder::new(host, settings.masker.clone())))
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
