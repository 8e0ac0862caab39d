//! Starts the sandbox helper of the next program after each execution, while clients keep executing snippets.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use runner::Engine;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::state::ServerState;

/// Whether helpers may be started. The lock is held while one is started.
#[derive(Debug, Default)]
struct Starts {
    is_closed: Mutex<bool>,
}

impl Starts {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_closed.lock()
    }

    /// Calls `start`, unless it is closed.
    fn start(&self, start: impl FnOnce()) {
        let is_closed = self.lock();
        if !*is_closed {
            start();
        }
    }

    /// Waits until no helper is being started, prevents further starts, and calls `end`.
    fn close(&self, end: impl FnOnce()) {
        *self.lock() = true;
        end();
    }
}

/// Ends the waiting helper with the task, also one that another thread is starting then.
#[derive(Debug, Default)]
struct Waiting(Arc<Starts>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.close(Engine::end_waiting_helper);
    }
}

/// Keeps a helper waiting after the first execution, until the server ends or is idle.
pub(crate) async fn keep(state: Arc<ServerState>) {
    let waiting = Waiting::default();
    loop {
        state.executed.notified().await;
        loop {
            start(&state, &waiting.0).await;
            // The helper is an idle process of a few megabytes, so it ends like spare sessions.
            let idle_time = state.settings.borrow().config.serve.spares.idle_time;
            if timeout(idle_time, state.executed.notified()).await.is_err() {
                break;
            }
        }
        Engine::end_waiting_helper();
    }
}

/// Starts a helper for the next program, unless that program could not use it.
async fn start(state: &ServerState, starts: &Arc<Starts>) {
    let code_mode = state.settings.borrow().config.code_mode.clone();
    // A waiting helper may lack the rights to enter the scratch space of a session.
    if code_mode.grants.scratch.is_some() {
        return Engine::end_waiting_helper();
    }
    let Some(engine) = state.opened(&code_mode).await else { return };
    let starts = starts.clone();
    // If it fails, the next program starts its own helper, and its outcome has the error.
    let started = spawn_blocking(move || starts.start(|| drop(engine.start_helper_ahead())));
    let _ = started.await;
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn a_helper_that_is_being_started_at_the_end_is_ended() {
        let (events, received) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel();
        let starts = Starts::default();
        thread::scope(|scope| {
            let (starts, events) = (&starts, &events);
            scope.spawn(move || {
                starts.start(|| {
                    events.send("begun").unwrap();
                    may_go_on.recv().unwrap();
                    events.send("started").unwrap();
                });
            });
            assert_eq!(received.recv().unwrap(), "begun");
            assert!(starts.is_closed.try_lock().is_none(), "closing waits for the start");
            scope.spawn(move || starts.close(|| events.send("ended").unwrap()));
            go_on.send(()).unwrap();
        });
        starts.start(|| events.send("started again").unwrap());
        drop(events);
        assert_eq!(received.iter().collect::<Vec<_>>(), ["started", "ended"]);
    }
}
