//! The place of an execution in the history.

pub(crate) use history::RecordedExecution;
use history::Requester;
use history::execution_history::{self, ExecutionHistory};

use crate::text::Text;

/// The place of an execution in the history.
pub struct Kept<'a> {
    /// The history, which may keep nothing.
    pub history: &'a ExecutionHistory,
    /// The configuration of the history.
    pub settings: &'a config::History,
    /// Its id, as in the audit log.
    pub id: String,
    /// The requester.
    pub requester: Requester,
    /// The name of the saved program that is run, if it is one.
    pub program: Option<&'a str>,
}

impl Kept<'_> {
    /// Whether requests are kept as well.
    pub(crate) fn keeps_requests(&self) -> bool {
        self.settings.recordings
    }

    pub(crate) fn begin(self, text: Text<'_>) -> Option<RecordedExecution> {
        let Kept { history, settings, id, requester, program } = self;
        history.begin(settings, text.masker, || history::NewExecution {
            id,
            requester,
            folder: execution_history::folder(),
            program: program.map(str::to_owned),
            code: text.code.to_owned(),
            arguments: execution_history::arguments(text.args, program.is_some()),
            check_only: text.check_only,
        })
    }
}
