//! What all pages share.

use std::fmt;
use std::sync::Arc;

use config::LoadOptions;
use server::open_questions::OpenQuestions;

use crate::access::Access;
use crate::command::Commands;
use crate::store::Store;

/// What all pages share.
pub(crate) struct Site {
    pub(crate) access: Access,
    pub(crate) store: Store,
    /// The open questions, if this page is of a process that serves clients.
    pub(crate) questions: Option<Arc<OpenQuestions>>,
    /// This program's own commands.
    pub(crate) commands: Commands,
    /// Called with each new ticket.
    pub(crate) announce: Box<dyn Fn(&str) + Send + Sync>,
    /// The configuration whose servers are shown.
    pub(crate) configuration: LoadOptions,
}

impl fmt::Debug for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Site").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Site {
    /// A text that differs after each change of what pages show.
    pub(crate) fn version(&self) -> String {
        let questions = self.questions.as_ref().map_or(0, |questions| questions.version());
        format!("{}.{questions}", self.store.version())
    }
}
