//! The place of an execution in the history, in programs without it: there is none.

use std::marker::PhantomData;

use runner::Sink;

use crate::text::Text;

/// No execution has a place.
pub enum Kept<'a> {
    /// Never made.
    #[doc(hidden)]
    Never(RecordedExecution, PhantomData<&'a ()>),
}

/// No execution is recorded.
#[derive(Debug, Clone)]
pub enum RecordedExecution {}

impl Kept<'_> {
    pub(crate) fn keeps_requests(&self) -> bool {
        false
    }

    pub(crate) fn begin(self, _: Text<'_>) -> Option<RecordedExecution> {
        let Kept::Never(recorded, _) = self;
        Some(recorded)
    }
}

impl Sink for RecordedExecution {}
