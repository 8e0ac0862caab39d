//! Compiles bindings before a snippet needs them, with lower priority than all other work.
//!
//! A running background compiler is stopped when a snippet is to be compiled, and restarted when none is: at nice 15 it
//! would rarely be in the way of the processor, but memory and caches have no such priority. The caller decides what is
//! worth compiling ahead.

use std::path::PathBuf;

use crate::bindings;
use crate::cache::Bucket;
use crate::catalog::{Catalog, ServerModule};
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::journal::Sink;

/// The result of compiling ahead.
#[derive(Debug, Default)]
pub struct PrecompileReport {
    /// Modules that were just compiled.
    pub compiled: Vec<String>,
    /// Modules with more tools than the remaining budget: snippets compile the tools they name.
    pub left: Vec<String>,
    /// Modules whose bindings do not compile, and why.
    pub failed: Vec<(String, Error)>,
    /// The number of times that a snippet interrupted the work.
    pub gave_way: usize,
}

impl Engine {
    /// Compiles the bindings of all servers, one after another at low priority, for snippets to use. A snippet that
    /// needs bindings earlier compiles them itself.
    ///
    /// # Errors
    /// If bindings do not compile, or the host fails.
    pub async fn warm(&self, catalog: &Catalog, sink: &dyn Sink) -> Result<()> {
        let total = catalog.modules().len();
        for (done, module) in (1..).zip(catalog.modules().values()) {
            bindings::warm(self, module).await?;
            sink.step(done, total, &format!("compiled the bindings of {}", module.server));
        }
        Ok(())
    }

    /// The entries of the cache that [`Engine::open`] and [`Engine::warm`] have built: the crates for snippets, and the
    /// bindings of these servers.
    ///
    /// # Errors
    /// If the cache has no room for the bindings of all servers.
    pub fn warmed(&self, catalog: &Catalog) -> Result<Vec<(Bucket, PathBuf)>> {
        let layer = self.layer.entry.iter().map(|entry| Ok((Bucket::Layers, entry.folder().to_owned())));
        let modules = catalog.modules().values().filter(|module| !module.tools().is_empty());
        let bindings = modules.map(|module| {
            let folder = bindings::whole_entry(self, module).ok_or_else(|| {
                let message = format!("the cache has no room for the bindings of {}", module.server);
                Error::new(ErrorKind::Cache, message).hint("increase cache.size in the configuration")
            });
            Ok((Bucket::Bindings, folder?))
        });
        layer.chain(bindings).collect()
    }

    /// Offers the crates for snippets, and the bindings of these servers, to the remote cache: this machine may have built them
    /// before it had one.
    pub fn share(&self, catalog: &Catalog) {
        if let Some(entry) = &self.layer.entry {
            self.cache.share(Bucket::Layers, &self.layer.key, entry, None);
        }
        for library in catalog.modules().values().filter_map(|module| bindings::kept_whole(self, module)) {
            self.cache.share(Bucket::Bindings, &library.key(), library.entry(), None);
        }
    }

    /// Compiles missing bindings of whole servers, those with few tools first, one after another and only while no
    /// snippet is being compiled. `tools` is the number of tools to compile, and is reduced accordingly; bindings in
    /// progress count even if the future is dropped, which stops the compiler.
    pub async fn compile_ahead(&self, catalog: &Catalog, tools: &mut usize) -> PrecompileReport {
        let mut ahead = PrecompileReport::default();
        // Edited bindings are compiled as they are, when a snippet names them.
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
