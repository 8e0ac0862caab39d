//! Remembers the shape of tools' answers in the client's session.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use runner::{Begin, Refused, Sink};
use terminal::Masker;

use crate::session::ClientSession;

/// The sink of answers' shapes.
pub(crate) struct Seen {
    pub(crate) session: Arc<ClientSession>,
    pub(crate) masker: Masker,
}

impl Sink for Seen {
    fn begin<'a>(&'a self, begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        if let Begin::Answer(answered) = begin
            && answered.call.uri.is_none()
            && let Some(answer) = answered.answered()
        {
            let (server, tool) = (answered.call.server, answered.call.tool);
            self.session.seen.note(server, tool, answer.result.get(), &self.masker);
        }
        ready(Ok(())).boxed()
    }
}
