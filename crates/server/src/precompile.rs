//! Compiles the bindings of offered tools before a snippet names them.
//!
//! One worker serves all clients. It is notified of changes, and drops the work for an outdated snapshot. The engine
//! ensures that snippets have priority.

use std::sync::Arc;

use execution::debug::COMPILERS;
use runner::PrecompileReport;

use super::snapshot::Snapshot;
use super::state::ServerState;

/// Limit on tools that one process compiles ahead in total, about 12 ms of processor time each: most servers are never
/// named, and one whose tools keep changing would keep a compiler busy forever.
const TOOL_LIMIT: usize = 512;

/// Compiles until the server stops accepting work. Dropping the future ends the running compilation.
pub(crate) async fn compile(state: Arc<ServerState>) {
    let mut offered = state.offered.subscribe();
    let mut tools = TOOL_LIMIT;
    loop {
        let now = offered.borrow_and_update().clone();
        let all = async {
            if let Some(snapshot) = &now {
                compile_all(&state, snapshot, &mut tools).await;
            }
            // Waits for the next snapshot.
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
    // Servers that have not answered yet may have fewer tools, and those come first.
    if !code_mode.enabled || !snapshot.is_whole {
        return;
    }
    // The caller that opens the engine reports errors.
    let Some(engine) = state.opened(code_mode).await else { return };
    let PrecompileReport { compiled, left, failed, gave_way } =
        engine.compile_ahead(&snapshot.catalog, tools).await;
    for (module, error) in &failed {
        tracing::debug!(target: COMPILERS, module, %error, "not compiled ahead");
    }
    if !(compiled.is_empty() && left.is_empty()) {
        let (compiled, left) = (compiled.join(" "), left.join(" "));
        tracing::debug!(target: COMPILERS, compiled, left, gave_way, "bindings are compiled ahead");
    }
}
