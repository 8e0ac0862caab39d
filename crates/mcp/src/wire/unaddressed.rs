//! Errors without an id, as the responses of the requests that wait.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use super::{
    memory_budget::MemoryBudget,
    message::{Answer, RawRequest},
    rpc_error::RpcError,
};

/// The wait for a request's own response when the error may be the response to a notification.
pub(super) const DOUBT: Duration = Duration::from_secs(1);

/// Fails the requests with this error; if that is doubtful, only those that get no response of their own meanwhile.
pub(super) fn fail(
    room: &Arc<MemoryBudget>,
    waiting: &[Arc<RawRequest>],
    mut error: RpcError,
    is_doubtful: bool,
) {
    if waiting.len() > 1 {
        let count = waiting.len();
        error.message.push_str(&format!(" (sent without an id while {count} requests were waiting)"));
    }
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) if is_doubtful => {
            let waiting = waiting.iter().map(Arc::downgrade).collect();
            runtime.spawn(fail_silent(Arc::clone(room), waiting, error));
        }
        _ => waiting.iter().for_each(|request| settle(room, request, &error)),
    }
}

async fn fail_silent(room: Arc<MemoryBudget>, waiting: Vec<Weak<RawRequest>>, error: RpcError) {
    tokio::time::sleep(DOUBT).await;
    for request in waiting.iter().filter_map(Weak::upgrade).filter(|request| request.has_no_outcome()) {
        settle(&room, &request, &error);
    }
}

fn settle(room: &Arc<MemoryBudget>, request: &RawRequest, error: &RpcError) {
    let answer = Answer::Error(error.clone());
    let held = room.hold(answer.bytes());
    request.settle(answer, held);
}
