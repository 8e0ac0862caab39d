//! Ends the process in order: no new work is accepted, running work may finish within the grace period, and the rest is
//! cancelled and reported.

use std::pin::pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::execution_slots::counts_in_words;
use super::http::sessions::session_end;
use super::state::ServerState;

/// The time that cancelled executions may take to report the cancellation.
const CANCELLED_TIME: Duration = Duration::from_secs(5);

/// Reports that the server is not ready, and lets load balancers notice (`serve.drainDelay`). Requests are accepted
/// meanwhile.
pub(crate) async fn leave(state: &ServerState) {
    state.leaving.cancel();
    let delay = state.settings.borrow().config.serve.drain_delay;
    if delay > 0 {
        let message = format!("info: stopping: accepting requests for {delay} more s (serve.drainDelay)");
        state.terminal.notifier().log(&message);
        tokio::time::sleep(Duration::from_secs(delay)).await;
    }
}

/// Lets running work finish, and ends the rest after the grace period, or once its client is `gone`. With `refuse`, new
/// work is refused.
pub(crate) async fn finish(state: &ServerState, refuse: bool, gone: impl Future<Output = ()>) {
    if refuse {
        state.draining.cancel();
    }
    state.answering.close();
    let grace = state.settings.borrow().config.serve.grace;
    let (name, slots) = match state.tasks.get() {
        Some(tasks) => ("task", tasks),
        None => ("execution", &state.slots),
    };
    let (running, waiting) = slots.load();
    if refuse && running + waiting > 0 {
        // Also if quiet: without it the process seems to hang.
        state.terminal.notifier().log(&format!(
            "info: stopping: {}, and may finish within {} s; a second signal ends them now",
            counts_in_words(name, running, waiting),
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

/// Ends a request when the process or its session ends.
pub struct RequestEnd {
    stop: CancellationToken,
    session: Option<CancellationToken>,
    /// Cancels the request.
    cancel: CancellationToken,
    _answering: TaskTrackerToken,
}

impl RequestEnd {
    /// Tracks this request until it is dropped.
    pub fn of(state: &ServerState, context: &RequestContext<RoleServer>) -> Self {
        RequestEnd {
            stop: state.stop.clone(),
            session: session_end(&context.extensions),
            cancel: context.ct.clone(),
            _answering: state.answering.token(),
        }
    }

    /// Awaits the answer; cancels the request if the process or session ends first.
    pub async fn or_answer<T>(self, answer: impl Future<Output = T>) -> T {
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
