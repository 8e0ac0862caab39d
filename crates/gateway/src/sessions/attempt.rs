//! An attempt to open a session, in its own task.

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use tokio::task::AbortHandle;

use super::connection::{Opened, Unopened};

/// The session, once it is open.
pub(super) type Opening = Shared<BoxFuture<'static, Result<Opened, Unopened>>>;

/// An attempt to open a session. It ends with its owner, even if others still wait for it.
pub(super) struct Attempt {
    /// The session, as soon as a program may start.
    pub(super) opening: Opening,
    /// The session, as soon as it may be used: the same one, or another if that one does not respond.
    pub(super) usable: Opening,
    task: AbortHandle,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Attempt {
    /// Starts connecting. In a separate task: a caller that stops waiting must not end the attempt for others.
    pub(super) fn start(connecting: impl Future<Output = Result<Opened, Unopened>> + Send + 'static) -> Self {
        let task = tokio::spawn(connecting);
        let handle = task.abort_handle();
        let opening = task
            .map(|done| {
                done.unwrap_or_else(|error| {
                    Err(Unopened::new(format!("the connection attempt was cancelled: {error}")))
                })
            })
            .boxed()
            .shared();
        Attempt { opening: opening.clone(), usable: opening, task: handle }
    }

    /// Starts checking an open session, for whose server a program may start meanwhile.
    pub(super) fn start_checking(
        open: Opened,
        checking: impl Future<Output = Result<Opened, Unopened>> + Send + 'static,
    ) -> Self {
        let mut attempt = Attempt::start(checking);
        attempt.opening = std::future::ready(Ok(open)).boxed().shared();
        // Its result can be looked at only after it was polled.
        let _ = attempt.opening.clone().now_or_never();
        attempt
    }

    /// The result, if the attempt has ended: the session that may be used, or else one that is still checked.
    pub(super) fn ended(&self) -> Option<&Result<Opened, Unopened>> {
        // If nobody has waited for it, it is not read yet.
        let _ = self.usable.clone().now_or_never();
        self.usable.peek().or_else(|| self.opening.peek())
    }

    /// The session, if it is open.
    pub(super) fn opened(&self) -> Option<&Opened> {
        self.ended()?.as_ref().ok()
    }

    /// Whether its session has ended, and its owner opens another one that is as good: the server keeps nothing between
    /// requests.
    pub(super) fn is_replaceable(&self) -> bool {
        let ended = |opened: &Opened| opened.session.is_stateless() && opened.session.is_closed();
        self.opened().is_some_and(|opened| opened.is_shared && ended(opened))
    }

    /// Cancels the attempt, or closes an own session and waits until its process has ended.
    pub(super) async fn close(self) {
        self.task.abort();
        // The session may have been open already.
        if let Ok(opened) = self.usable.clone().await
            && !opened.is_shared
        {
            opened.session.close().await;
        }
    }
}
