//! Bindings that are compiled before a snippet names them, behind everything that somebody waits for.
//!
//! A compiler that is at work when a snippet is to be compiled is ended, and begins again when nobody waits any more:
//! at nice 19 it would only seldom be in the way, but memory and caches have no such order. Who decides what is worth
//! compiling ahead is left to others.

use crate::bindings;
use crate::catalog::{Catalog, ServerModule};
use crate::engine::Engine;
use crate::error::{Error, Result};

/// What came of compiling ahead.
#[derive(Debug, Default)]
pub struct PrecompileReport {
    /// Modules that were compiled just now.
    pub compiled: Vec<String>,
    /// Modules with more tools than were left to compile: of these, snippets compile what they name.
    pub left: Vec<String>,
    /// Modules whose bindings do not compile, and why.
    pub failed: Vec<(String, Error)>,
    /// How often a snippet came between.
    pub gave_way: usize,
}

impl Engine {
    /// Compiles the bindings of all servers, one after the other and out of the way of other work, so that snippets
    /// find them. What a snippet needs before that, it compiles for itself.
    ///
    /// # Errors
    /// Where bindings do not compile, or the host fails.
    pub async fn warm(&self, catalog: &Catalog) -> Result<()> {
        for module in catalog.modules().values() {
            bindings::warm(self, module).await?;
        }
        Ok(())
    }

    /// Compiles the bindings of whole servers that are not there yet, those with few tools first, one after the other
    /// and only while no snippet is compiled. `tools` is how many may be compiled, and becomes how many still may:
    /// also those are taken off that were begun when the future is dropped, which ends the compiler.
    pub async fn compile_ahead(&self, catalog: &Catalog, tools: &mut usize) -> PrecompileReport {
        let mut ahead = PrecompileReport::default();
        // What was written by hand is compiled as it stands, for who names it.
        let mut modules: Vec<&ServerModule> =
            catalog.modules().values().filter(|module| module.source.is_none()).collect();
        modules.sort_by_key(|module| module.tools().len());
        for module in modules {
            let count = module.tools().len();
            while count > 0 && !bindings::is_whole(self, module) {
                let Some(left) = tools.checked_sub(count) else {
                    ahead.left.push(module.module.clone());
                    break;
                };
                self.foreground.until(false).await;
                *tools = left;
                let compiled = tokio::select! {
                    biased;
                    () = self.foreground.until(true) => {
                        ahead.gave_way += 1;
                        *tools += count;
                        continue;
                    }
                    compiled = bindings::warm(self, module) => compiled,
                };
                match compiled {
                    Ok(()) => ahead.compiled.push(module.module.clone()),
                    Err(error) => ahead.failed.push((module.module.clone(), error)),
                }
                break;
            }
        }
        ahead
    }
}
