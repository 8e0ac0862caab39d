//! The engine: toolchain and base layer for compiling and running snippets.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use sandbox::{Confinement, Policy, Sandbox};
use snippet::Code;
use tokio_util::sync::CancellationToken;

use crate::base_layer::BaseLayer;
use crate::bundle::Bundle;
use crate::bundled_toolchain;
use crate::cache::{Cache, Entry};
use crate::compiler_slots::Admission;
use crate::error::{Error, ErrorKind, Result};
use crate::foreground::Foreground;
use crate::heavy::HeavyQueue;
use crate::holder::Holder;
use crate::journal::Sink;
use crate::layer;
use crate::sandbox_policies::{Grants, Limits};
use crate::spare_compilers::{SpareCompilerEvent, SpareCompilers};
use crate::toolchain::{self, Stamp, Toolchain};

/// Options of an engine.
#[derive(Debug, Clone)]
pub struct Options {
    /// The cache.
    pub cache: Cache,
    /// Whether rustup may be run to add the target of snippets.
    pub install_target: bool,
    /// The confinement of compilers and programs.
    pub confinement: Confinement,
}

/// One execution.
#[derive(Debug, Clone)]
pub struct Request {
    /// The snippet.
    pub code: Code,
    /// Whom the execution is for.
    pub holder: Holder,
    /// The values for `args.get(…)`.
    pub args: BTreeMap<String, String>,
    /// Time limit from reading the snippet to the end of its program, not counting the time the user takes to answer.
    pub timeout: Duration,
    /// Only compile and link: no tool is called, and no session is opened.
    pub check_only: bool,
    /// The program's resource limits.
    pub limits: Limits,
    /// The files the program may access.
    pub grants: Grants,
    /// Cancels the execution.
    pub cancel: CancellationToken,
}

/// Compiles and runs snippets.
#[derive(Debug)]
pub struct Engine {
    pub(crate) cache: Cache,
    pub(crate) toolchain: Toolchain,
    /// The compiler's file when the engine was opened.
    stamp: Option<Stamp>,
    pub(crate) layer: BaseLayer,
    pub(crate) confinement: Confinement,
    /// Admits compilers when there is enough memory.
    pub(crate) admission: Admission,
    /// The snippets that are being compiled.
    pub(crate) foreground: Foreground,
    /// The programs to be compiled again with optimization.
    pub(crate) heavy: HeavyQueue,
    /// The compilers that are started before a snippet needs them.
    pub(crate) spare_compilers: SpareCompilers,
}

impl Engine {
    /// Finds the toolchain and builds the base layer if missing: the first use takes about a minute. If this program is
    /// part of a bundle, both are the bundle's.
    ///
    /// # Errors
    /// If the machine can't confine processes, has no suitable toolchain, or the layer does not build, or if the bundle
    /// can't be used.
    pub async fn open(options: &Options, sink: &dyn Sink) -> Result<Self> {
        if let Confinement::AtLeast(minimum) = options.confinement {
            sandbox::probe().choose(minimum).map_err(|error| {
                Error::new(ErrorKind::Sandbox, error.to_string())
                    .caused_by(error)
                    .hint("`toolsmith doctor` shows all of it")
            })?;
        }
        let (cache, toolchain, layer) = parts(options, sink).await?;
        if let Some((budget, bytes)) = layer.entry.as_ref().and_then(|entry| cache.too_small_for(entry)) {
            sink.progress(&format!(
                "the cache is limited to {} MiB (cache.size), but the crates that snippets are compiled against \
                 take {} MiB: they are kept, and little else fits",
                budget >> 20,
                bytes >> 20
            ));
        }
        let (confinement, foreground) = (options.confinement, Foreground::default());
        let (heavy, spare_compilers) = (HeavyQueue::default(), SpareCompilers::new(cache.clone()));
        let stamp = Stamp::of(&toolchain.rustc).ok();
        let admission = Admission::new(cache.folder().join("compilers"));
        Ok(Engine {
            cache,
            toolchain,
            stamp,
            layer,
            confinement,
            admission,
            foreground,
            heavy,
            spare_compilers,
        })
    }

    /// Whether the layer and the compiler are unchanged: a deleted cache removes the layer, an update replaces the
    /// compiler. If not, a new engine must be opened.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.layer.entry.as_ref().is_none_or(Entry::is_in_place)
            && self.stamp == Stamp::of(&self.toolchain.rustc).ok()
    }

    /// Starts the next program's sandbox helper ahead, so that the program starts sooner. Blocks for about a millisecond.
    ///
    /// # Errors
    /// If it can't be started; the next program then starts its own helper, and reports what is wrong.
    pub fn start_helper_ahead(&self) -> Result<()> {
        // A waiting helper may lack the rights to open a file, and a program without the base is one.
        if self.layer.base.is_err() {
            return Ok(());
        }
        let sandbox = Sandbox::new(Policy::program().confinement(self.confinement));
        sandbox.start_helper_ahead().map_err(|error| {
            Error::new(ErrorKind::Sandbox, format!("the sandbox's helper can't be started: {error}"))
                .caused_by(error)
        })
    }

    /// Returns the reason why programs are linked as a whole, which takes longer than linking them against a base;
    /// `None` if they are not.
    #[must_use]
    pub fn without_base(&self) -> Option<&str> {
        self.layer.base.as_ref().err().map(String::as_str)
    }

    /// Copies what every program begins with into memory, in the background, so that the next program need not wait for
    /// it. The copy takes about 6 MB; a second call does nothing until a program has used it.
    pub fn prepare_program(&self) {
        if let Ok(base) = &self.layer.base {
            base.prepare();
        }
    }

    /// Ends the helper that was started ahead, if no program has used it.
    pub fn end_waiting_helper() {
        sandbox::end_waiting_helper();
    }

    /// Waits until no snippet is being compiled.
    pub async fn compiles_nothing(&self) {
        self.foreground.until(false).await;
    }

    /// Takes the events of spare compilers since the last call.
    #[must_use]
    pub fn spare_compiler_events(&self) -> VecDeque<SpareCompilerEvent> {
        self.spare_compilers.take_events()
    }

    /// Ends the spare compilers. Others may be started later.
    pub fn end_spare_compilers(&self) {
        self.spare_compilers.end();
    }

    /// Ends the spare compilers, also one that is being started. No others can be started.
    pub fn close_spare_compilers(&self) {
        self.spare_compilers.close();
    }

    /// The engine's cache.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The engine's toolchain.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// Refuses grants that affect protected paths.
    pub(crate) fn check(&self, grants: &Grants) -> Result<()> {
        grants.check(self.cache.folder(), Some(&self.toolchain.sysroot))
    }
}

/// The cache, the toolchain and the crates for snippets: the bundle's, if this program is part of one.
async fn parts(options: &Options, sink: &dyn Sink) -> Result<(Cache, Toolchain, BaseLayer)> {
    let cache = options.cache.clone();
    let Some(bundle) = Bundle::of_this_program()? else {
        let toolchain = toolchain::find(&cache, options.install_target, sink).await?;
        let layer = layer::ensure(&cache, &toolchain, options.confinement, sink).await?;
        return Ok((cache, toolchain, layer));
    };
    let cache = cache.with_store(bundle.store());
    let toolchain = bundled_toolchain::find(&bundle)?;
    let layer = layer::built(&cache, &toolchain).ok_or_else(|| Bundle::without_crates(bundle.root()))?;
    Ok((cache, toolchain, layer))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::base_layer::Crates;
    use crate::cache::{Bucket, DEFAULT_SIZE};
    use crate::catalog::Catalog;
    use crate::journal::Journal;
    use crate::no_tools::NoTools;

    /// An open engine with an unusable compiler and layer in `folder`.
    pub(crate) fn opened(folder: &Path) -> Engine {
        let cache = Cache::open(&folder.join("cache"), DEFAULT_SIZE).unwrap();
        let rustc = folder.join("rustc");
        fs_err::write(&rustc, "one").unwrap();
        let entry = cache.publish(Bucket::Layers, "layer", cache.temporary().unwrap()).unwrap();
        let layer = BaseLayer {
            key: "layer".to_owned(),
            crates: Crates { folder: entry.folder().to_owned(), files: BTreeMap::new() },
            schema: String::new(),
            entry: Some(entry),
            base: Err("a test".to_owned()),
        };
        let stamp = Stamp::of(&rustc).ok();
        let none = PathBuf::new();
        let toolchain = Toolchain {
            rustc,
            cargo: none.clone(),
            sysroot: none.clone(),
            linker: none,
            version: String::new(),
            origin: toolchain::Origin::SearchPath,
        };
        let admission = Admission::new(cache.folder().join("compilers"));
        let foreground = Foreground::default();
        let (confinement, heavy) = (Confinement::default(), HeavyQueue::default());
        let spare_compilers = SpareCompilers::new(cache.clone());
        Engine { cache, toolchain, stamp, layer, confinement, admission, foreground, heavy, spare_compilers }
    }

    #[test]
    fn an_engine_is_current_until_its_layer_or_compiler_changes() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        assert!(engine.is_current());
        let compiler = &engine.toolchain.rustc;
        let before = fs_err::metadata(compiler).unwrap().modified().unwrap();
        // Like an update: a different file of the same length replaces it.
        let newer = folder.path().join("newer");
        fs_err::write(&newer, "two").unwrap();
        let later = before + Duration::from_secs(1);
        std::fs::File::options().write(true).open(&newer).unwrap().set_modified(later).unwrap();
        fs_err::rename(&newer, compiler).unwrap();
        assert!(!engine.is_current(), "the compiler was replaced");
        fs_err::remove_file(compiler).unwrap();
        assert!(!engine.is_current(), "the compiler is gone");

        let engine = opened(folder.path());
        fs_err::rename(engine.layer.crates.folder.clone(), folder.path().join("elsewhere")).unwrap();
        assert!(!engine.is_current(), "the layer was evicted");
    }

    /// Starting one would fail, because this process can't be a helper.
    #[test]
    fn no_helper_is_started_for_programs_that_can_not_use_it() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        assert_eq!(engine.without_base(), Some("a test"));
        engine.start_helper_ahead().unwrap();
    }

    #[tokio::test]
    async fn using_an_engine_keeps_its_layer_from_being_evicted() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let long_ago = SystemTime::now() - Duration::from_secs(90_000);
        let layer = std::fs::File::open(&engine.layer.crates.folder).unwrap();
        layer.set_modified(long_ago).unwrap();
        let request = Request {
            code: Code::parse("let".to_owned()),
            holder: Holder::default(),
            args: BTreeMap::new(),
            timeout: Duration::from_secs(60),
            check_only: true,
            limits: Limits::default(),
            grants: Grants::default(),
            cancel: CancellationToken::new(),
        };
        engine.run(&request, &Catalog::default(), &NoTools, &Journal::default()).await.unwrap();
        assert!(layer.metadata().unwrap().modified().unwrap() > long_ago);
    }
}
