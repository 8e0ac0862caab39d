//! The bindings of what is offered, compiled before a snippet names them: a snippet that comes later finds them.
//!
//! One worker for all clients, told of everything that is offered anew, which ends what was begun for what was offered
//! before. That it gives way to snippets is the engine's job.

use std::sync::Arc;

use runner::PrecompileReport;

use super::snapshot::Snapshot;
use super::state::ServerState;

/// The target of what is told about it.
pub(crate) const TRACE_TARGET: &str = "toolsmith::ahead";

/// Most tools that one process compiles ahead in its life, about 12 ms of processor time each: most servers are never
/// named, and one whose tools change all the time would keep a compiler busy for ever.
const MOST_TOOLS: usize = 512;

/// Compiles until nothing new is begun any more. What is being compiled ends with the future.
pub(crate) async fn compile(state: Arc<ServerState>) {
    let mut offered = state.offered.subscribe();
    let mut tools = MOST_TOOLS;
    loop {
        let now = offered.borrow_and_update().clone();
        let all = async {
            if let Some(snapshot) = &now {
                compile_all(&state, snapshot, &mut tools).await;
            }
            // Until something else is offered, there is no more to do.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = state.draining.cancelled() => return,
            changed = offered.changed() => if changed.is_err() { return },
            () = all => {}
        }
    }
}

async fn compile_all(state: &ServerState, snapshot: &Snapshot, tools: &mut usize) {
    let code_mode = &snapshot.config().code_mode;
    // Servers that have not answered yet may have fewer tools, which come first.
    if !code_mode.enabled || !snapshot.is_whole {
        return;
    }
    // Whoever opens it tells of it.
    let Some(engine) = state.opened(code_mode).await else { return };
    let PrecompileReport { compiled, left, failed, gave_way } =
        engine.compile_ahead(&snapshot.catalog, tools).await;
    for (module, error) in &failed {
        tracing::debug!(target: TRACE_TARGET, module, %error, "not compiled ahead");
    }
    if !(compiled.is_empty() && left.is_empty()) {
        let (compiled, left) = (compiled.join(" "), left.join(" "));
        tracing::debug!(target: TRACE_TARGET, compiled, left, gave_way, "bindings are compiled ahead");
    }
}
