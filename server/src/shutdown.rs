//! How the process ends in order: nothing new is begun, what runs may finish within the grace, and what is left then is
//! cancelled and says so.

use std::pin::pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::http::session_end;
use super::state::ServerState;

/// How long cancelled executions may take to answer that they were.
const CANCELLED_TIME: Duration = Duration::from_secs(5);

/// Lets what runs finish, and ends what does not within the grace, or once its client is `gone`. With `refuse`, nothing
/// new is begun meanwhile.
pub(crate) async fn finish(state: &ServerState, refuse: bool, gone: impl Future<Output = ()>) {
    if refuse {
        state.draining.cancel();
    }
    state.answering.close();
    let grace = state.settings.borrow().config.serve.grace;
    let (running, waiting) = state.slots.load();
    if refuse && running + waiting > 0 {
        state.terminal.tell(&format!(
            "toolsmith: stopping: {running} executions run and {waiting} wait, and may finish within {} s; a second \
             signal ends them now",
            grace.as_secs_f64()
        ));
    }
    let done = async {
        state.answering.wait().await;
        state.slots.idle().await;
    };
    tokio::select! {
        _ = timeout(grace, done) => {}
        () = gone => {}
    }
    state.stop.cancel();
    let _ = timeout(CANCELLED_TIME, state.answering.wait()).await;
}

/// What ends a request, whatever it does: the end of everything, or of the session that it came in.
pub(crate) struct RequestEnd {
    stop: CancellationToken,
    session: Option<CancellationToken>,
    /// Cancels the request.
    cancel: CancellationToken,
    _answering: TaskTrackerToken,
}

impl RequestEnd {
    /// What ends this request. While it is there, the request is being answered.
    pub(crate) fn of(state: &ServerState, context: &RequestContext<RoleServer>) -> Self {
        RequestEnd {
            stop: state.stop.clone(),
            session: session_end(&context.extensions),
            cancel: context.ct.clone(),
            _answering: state.answering.token(),
        }
    }

    /// The answer to the request, which is cancelled where it is to end before.
    pub(crate) async fn or_answer<T>(self, answer: impl Future<Output = T>) -> T {
        let end = async {
            match &self.session {
                Some(session) => tokio::select! {
                    () = session.cancelled() => {}
                    () = self.stop.cancelled() => {}
                },
                None => self.stop.cancelled().await,
            }
        };
        let mut answer = pin!(answer);
        tokio::select! {
            biased;
            answer = &mut answer => answer,
            () = end => {
                self.cancel.cancel();
                answer.await
            }
        }
    }
}
