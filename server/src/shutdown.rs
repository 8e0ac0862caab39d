//! How the process ends in order: nothing new is begun, what runs may finish within the grace, and what is left then is
//! cancelled and says so.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::time::timeout;

use super::http::session_end;
use super::state::ServerState;

/// How long cancelled executions may take to answer that they were.
const CANCELLED_TIME: Duration = Duration::from_secs(5);

/// Lets what runs finish, and ends what does not within the grace, or once its client is `gone`. With `refuse`, nothing
/// new is begun meanwhile.
pub(crate) async fn finish(workshop: &ServerState, refuse: bool, gone: impl Future<Output = ()>) {
    if refuse {
        workshop.draining.cancel();
    }
    workshop.answering.close();
    let grace = workshop.settings.borrow().config.serve.grace;
    let (running, waiting) = workshop.slots.load();
    if refuse && running + waiting > 0 {
        workshop.terminal.tell(&format!(
            "toolsmith: stopping: {running} executions run and {waiting} wait, and may finish within {} s; a second \
             signal ends them now",
            grace.as_secs_f64()
        ));
    }
    let done = async {
        workshop.answering.wait().await;
        workshop.slots.idle().await;
    };
    tokio::select! {
        _ = timeout(grace, done) => {}
        () = gone => {}
    }
    workshop.stop.cancel();
    let _ = timeout(CANCELLED_TIME, workshop.answering.wait()).await;
}

/// Waits until a request is to end, whatever it does: with all others, or with the session that it came in.
pub(crate) fn of_request(
    workshop: &ServerState,
    context: &RequestContext<RoleServer>,
) -> impl Future<Output = ()> + use<> {
    let (stop, session) = (workshop.stop.clone(), session_end(&context.extensions));
    async move {
        match session {
            Some(session) => tokio::select! {
                () = session.cancelled() => {}
                () = stop.cancelled() => {}
            },
            None => stop.cancelled().await,
        }
    }
}
