//! A call as the observer of its execution sees it: it begins, and it ends, whatever becomes of it.

use std::mem;
use std::time::Instant;

use serde_json::value::RawValue;

use super::milliseconds;
use crate::observer::{CallBegun, Observer};
use crate::outcome::CallRecord;

/// A call that has been told to have begun. Dropping it tells that it was given up.
pub(super) struct Watched<'a> {
    observer: &'a dyn Observer,
    number: u64,
    server: String,
    tool: String,
    began: Instant,
    has_ended: bool,
}

impl<'a> Watched<'a> {
    /// Tells that a call of a server's tool has begun; without arguments where it can't be sent with any.
    pub(super) fn begin(
        observer: &'a dyn Observer,
        number: u64,
        (server, tool): (String, String),
        arguments: Option<&RawValue>,
    ) -> Self {
        let arguments = arguments.unwrap_or(RawValue::NULL);
        observer.call_began(&CallBegun { number, server: &server, tool: &tool, arguments });
        Watched { observer, number, server, tool, began: Instant::now(), has_ended: false }
    }

    /// Tells what came of it.
    pub(super) fn end(mut self, record: &CallRecord) {
        self.has_ended = true;
        self.observer.call_ended(self.number, record);
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            let (server, tool) = (mem::take(&mut self.server), mem::take(&mut self.tool));
            let record = CallRecord { server, tool, ok: false, ms: milliseconds(self.began), bytes: 0 };
            self.observer.call_ended(self.number, &record);
        }
    }
}
