//! Compiles the programs of long runs again with optimization, after the answers.
//!
//! One worker serves all clients. The engine ensures that snippets have priority.

use std::sync::Arc;

use execution::debug::COMPILERS;
use runner::{Engine, Optimized};

use super::state::ServerState;

/// Compiles until the server stops accepting work. Dropping the future ends the running compilation.
pub(crate) async fn compile(state: Arc<ServerState>) {
    let all = async {
        loop {
            state.heavy.notified().await;
            let code_mode = state.settings.borrow().config.code_mode.clone();
            // A new engine has no programs to compile.
            if let Some(engine) = state.opened(&code_mode).await {
                compile_all(&engine).await;
            }
        }
    };
    tokio::select! {
        () = state.draining.cancelled() => {}
        () = all => {}
    }
}

async fn compile_all(engine: &Engine) {
    while let Some(optimized) = engine.optimize_next().await {
        match optimized {
            Ok(Optimized::Compiled) => {
                tracing::debug!(target: COMPILERS, "a program is compiled with optimization");
            }
            Ok(Optimized::Unsuitable(reason)) => {
                tracing::debug!(target: COMPILERS, reason, "a program stays without optimization");
            }
            Ok(Optimized::Interrupted(reason)) => {
                tracing::debug!(target: COMPILERS, reason, "the optimization of a program was interrupted");
            }
            Ok(Optimized::Skipped) => {
                tracing::debug!(target: COMPILERS, "a program is not compiled again");
            }
            Err(error) => tracing::debug!(target: COMPILERS, %error, "a program is not compiled again"),
        }
    }
}
