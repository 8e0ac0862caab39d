//! Starts the compilers of the next snippets behind each execution, and ends them when no snippet follows.
//!
//! The engine decides which ones, and uses them.

use std::sync::{Arc, Weak};

use execution::debug::COMPILERS;
use gateway::sessions::{CHECK_INTERVAL, QUIET};
use runner::{Engine, SpareCompilerEvent};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until};

use super::snapshot::Settings;
use super::state::ServerState;

/// The engine with the spare compilers. Its spare compilers end with this.
#[derive(Default)]
struct Latest(Weak<Engine>);

impl Latest {
    fn follow(&mut self, engine: &Arc<Engine>) {
        if !std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(engine)) {
            *self = Latest(Arc::downgrade(engine));
        }
    }

    async fn end(&self) {
        if let Some(engine) = self.0.upgrade() {
            let _ = spawn_blocking(move || engine.end_spare_compilers()).await;
        }
    }
}

impl Drop for Latest {
    fn drop(&mut self) {
        if let Some(engine) = self.0.upgrade() {
            engine.close_spare_compilers();
        }
    }
}

/// Keeps spare compilers while clients execute snippets, until the server ends. Dropping the future ends them.
pub(crate) async fn keep(state: Arc<ServerState>) {
    let mut latest = Latest::default();
    let mut settings = state.settings.clone();
    loop {
        state.compiled.notified().await;
        let mut used = Instant::now();
        loop {
            sleep(QUIET).await;
            refill(&state, &mut latest).await;
            let idle_time = settings.borrow_and_update().config.serve.spares.idle_time;
            tokio::select! {
                () = state.compiled.notified() => used = Instant::now(),
                // If the sender is gone, the server ends.
                Ok(()) = settings.changed() => {}
                // Ended compilers are replaced.
                () = sleep(CHECK_INTERVAL) => {}
                () = sleep_until(used + idle_time) => break,
            }
        }
        latest.end().await;
    }
}

/// The maximum number of spare compilers.
fn limit(settings: &Settings) -> usize {
    if settings.config.code_mode.enabled { settings.config.serve.spare_compilers } else { 0 }
}

/// Ends spare compilers that can't be used any more, and all of them while memory is short. Starts the missing ones one
/// after another, and only while no snippet is being compiled.
async fn refill(state: &ServerState, latest: &mut Latest) {
    let settings = state.settings.borrow().clone();
    let (code_mode, limit) = (&settings.config.code_mode, limit(&settings));
    let Some(engine) = state.opened(code_mode).await else { return latest.end().await };
    latest.follow(&engine);
    log_events(&engine);
    // The last round only ends what is too much.
    for _ in 0..=limit {
        engine.compiles_nothing().await;
        let engine = engine.clone();
        match spawn_blocking(move || engine.start_spare_compiler(limit)).await {
            Ok(Ok(true)) => tracing::debug!(target: COMPILERS, "a spare compiler is started"),
            Ok(Err(error)) => {
                return tracing::debug!(target: COMPILERS, %error, "a spare compiler is not started");
            }
            Ok(Ok(false)) | Err(_) => return,
        }
    }
}

fn log_events(engine: &Engine) {
    for event in engine.spare_compiler_events() {
        match event {
            SpareCompilerEvent::Used => {
                tracing::debug!(target: COMPILERS, "a spare compiler has compiled a snippet");
            }
            SpareCompilerEvent::Unusable(reason) => {
                tracing::debug!(target: COMPILERS, reason, "a spare compiler was not usable");
            }
        }
    }
}
