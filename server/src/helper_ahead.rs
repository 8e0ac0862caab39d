//! Starts the sandbox helper of the next program behind each execution, while clients keep executing snippets.

use std::sync::Arc;
use std::time::Duration;

use runner::Engine;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::state::ServerState;

/// How long a helper waits for a program before it is ended: it is an idle process of a few megabytes.
const IDLE: Duration = Duration::from_secs(300);

/// Ends the waiting helper with the task.
struct Waiting;

impl Drop for Waiting {
    fn drop(&mut self) {
        Engine::end_waiting_helper();
    }
}

/// Keeps a helper waiting after the first execution, until the server ends or is idle.
pub(crate) async fn keep(state: Arc<ServerState>) {
    let _waiting = Waiting;
    loop {
        state.executed.notified().await;
        loop {
            // If it fails, the next program starts its own helper, and its outcome has the error.
            let _ = spawn_blocking(Engine::start_helper_ahead).await;
            if timeout(IDLE, state.executed.notified()).await.is_err() {
                break;
            }
        }
        Engine::end_waiting_helper();
    }
}
