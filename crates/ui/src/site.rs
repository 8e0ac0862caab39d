//! The state that all pages share.

use std::fmt;
use std::sync::Arc;

use config::LoadOptions;
use history::{Reader, Summary};
use server::open_questions::OpenQuestions;

use crate::access::Access;
use crate::command::Commands;
use crate::error::PageError;
use crate::store::Store;

/// The state that all pages share.
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
    /// The number of open questions: of this process if it serves clients, and otherwise of all executions in the
    /// history. A history that can't be read has none; the page about it has the error.
    pub(crate) async fn open_questions(&self) -> usize {
        match &self.questions {
            Some(questions) => questions.list().len(),
            None => {
                self.store.read(|reader| Ok(executions_that_wait(reader)?.len())).await.unwrap_or_default()
            }
        }
    }

    /// A text that differs after each change of what pages show.
    pub(crate) fn version(&self) -> String {
        let questions = self.questions.as_ref().map_or(0, |questions| questions.version());
        format!("{}.{questions}", self.store.version())
    }
}

/// The executions in a history that wait for an answer, the latest first.
///
/// # Errors
/// If the history can't be read.
pub(crate) fn executions_that_wait(reader: Option<&Reader>) -> Result<Vec<Summary>, PageError> {
    Ok(reader.map(Reader::waiting).transpose()?.unwrap_or_default())
}
