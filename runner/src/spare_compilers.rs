//! The spare compilers of an engine: which there are, which are missing, and which must end.
//!
//! There is at most one for each set of bindings: those that the latest snippets used, and the empty set. `program_compiler`
//! starts and uses them.

use std::collections::VecDeque;

use parking_lot::{Mutex, MutexGuard};

use crate::cache::{Bucket, Cache, Temporary};
use crate::compiler::Launch;
use crate::library::Library;
use crate::rustc_process::Compiled;
use crate::spare_compiler::{SpareCompiler, Unusable};

/// Maximum number of sets of bindings to remember: more than the sensible number of spare compilers.
const MAX_SETS: usize = 16;

/// Maximum number of events to keep; the oldest are dropped.
const MAX_EVENTS: usize = 64;

/// Minimum available memory for spare processes, in bytes (512 MiB): a compiler and a program need more. A waiting
/// compiler has about 15 MiB apart from pages of files, and more when it compiles.
pub const MIN_SPARE_MEMORY: u64 = 512 << 20;

/// An event of a spare compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpareCompilerEvent {
    /// It has compiled a text.
    Used,
    /// The text was compiled by another compiler, for this reason.
    Unusable(&'static str),
}

/// Bindings by their module names and keys. Unlike their libraries, these names hold no entries of the cache.
type BindingKeys = Vec<(String, String)>;

/// The spare compilers of an engine.
#[derive(Debug)]
pub(crate) struct SpareCompilers {
    /// The cache with the bindings.
    cache: Cache,
    pool: Mutex<Pool<SpareCompiler>>,
    /// Held while one is started.
    start: Mutex<()>,
}

/// The operations on a spare compiler that a pool needs.
trait Spare {
    /// Whether it was started for these bindings.
    fn is_for(&self, bindings: &[(String, String)]) -> bool;
    /// Whether it can be used.
    fn is_usable(&mut self) -> bool;
}

impl Spare for SpareCompiler {
    fn is_for(&self, bindings: &[(String, String)]) -> bool {
        self.is_for(bindings)
    }

    fn is_usable(&mut self) -> bool {
        self.check().is_ok()
    }
}

#[derive(Debug)]
struct Pool<S> {
    /// The sets of bindings that snippets used, the latest first.
    sets: VecDeque<BindingKeys>,
    spares: Vec<S>,
    events: VecDeque<SpareCompilerEvent>,
    is_closed: bool,
}

impl<S> Default for Pool<S> {
    fn default() -> Self {
        Pool { sets: VecDeque::new(), spares: Vec::new(), events: VecDeque::new(), is_closed: false }
    }
}

impl SpareCompilers {
    /// No spare compilers, for bindings in `cache`.
    pub(crate) fn new(cache: Cache) -> Self {
        SpareCompilers { cache, pool: Mutex::default(), start: Mutex::default() }
    }

    fn pool(&self) -> MutexGuard<'_, Pool<SpareCompiler>> {
        self.pool.lock()
    }

    /// Records that a snippet uses these bindings.
    pub(crate) fn note_use(&self, libraries: &[Library]) {
        let bindings = libraries.iter().map(|library| (library.module.clone(), library.key()));
        self.pool().note_use(bindings.collect());
    }

    /// Records what became of a spare compiler.
    pub(crate) fn note_result(&self, result: &Result<(Compiled, Temporary), Unusable>) {
        let event = match result {
            Ok(_) => SpareCompilerEvent::Used,
            Err(reason) => SpareCompilerEvent::Unusable(reason),
        };
        let events = &mut self.pool().events;
        events.push_back(event);
        if events.len() > MAX_EVENTS {
            events.pop_front();
        }
    }

    /// Takes a spare compiler that was started with `key`.
    pub(crate) fn take(&self, key: &Launch) -> Option<SpareCompiler> {
        let spares = &mut self.pool().spares;
        let at = spares.iter().position(|spare| spare.fits(key))?;
        Some(spares.swap_remove(at))
    }

    /// Waits until no spare compiler is being started, and prevents that until the result is dropped.
    pub(crate) fn begin(&self) -> MutexGuard<'_, ()> {
        self.start.lock()
    }

    /// Ends spare compilers that must not exist with this `limit`. Returns the bindings of a missing one.
    pub(crate) fn prune(&self, limit: usize) -> Option<Vec<Library>> {
        // If the available memory is unknown, it is no reason to refuse.
        let is_short = sandbox::available_memory().is_some_and(|available| available < MIN_SPARE_MEMORY);
        self.prune_to(if is_short { 0 } else { limit })
    }

    /// The same for any amount of memory.
    fn prune_to(&self, limit: usize) -> Option<Vec<Library>> {
        loop {
            let (removed, missing) = self.pool().prune(limit);
            drop(removed);
            let missing = missing?;
            if let Some(libraries) = self.open(&missing) {
                return Some(libraries);
            }
            // They were evicted. The next snippet that uses them compiles them again.
            self.pool().forget(&missing);
        }
    }

    /// The libraries of these bindings; `None` if one of them was evicted.
    fn open(&self, bindings: &[(String, String)]) -> Option<Vec<Library>> {
        bindings
            .iter()
            .map(|(module, key)| Some(Library::new(module, self.cache.entry(Bucket::Bindings, key)?)))
            .collect()
    }

    /// Adds a spare compiler, or ends it if the pool is closed.
    pub(crate) fn add(&self, spare: SpareCompiler) {
        let unwanted = self.pool().add(spare);
        drop(unwanted);
    }

    /// Ends all spare compilers.
    pub(crate) fn end(&self) {
        let ended = std::mem::take(&mut self.pool().spares);
        drop(ended);
    }

    /// Ends all spare compilers, also one that is being started. There will be no further ones.
    pub(crate) fn close(&self) {
        self.pool().is_closed = true;
        let _started = self.begin();
        self.end();
    }

    /// Takes the events of spare compilers since the last call.
    pub(crate) fn take_events(&self) -> VecDeque<SpareCompilerEvent> {
        std::mem::take(&mut self.pool().events)
    }
}

impl<S: Spare> Pool<S> {
    fn note_use(&mut self, bindings: BindingKeys) {
        self.forget(&bindings);
        self.sets.push_front(bindings);
        self.sets.truncate(MAX_SETS);
    }

    fn forget(&mut self, bindings: &[(String, String)]) {
        self.sets.retain(|set| set != bindings);
    }

    /// The sets of bindings that have a spare compiler: the latest, and the empty one if there is room.
    fn wanted(&self, limit: usize) -> Vec<&[(String, String)]> {
        let mut wanted: Vec<&[(String, String)]> = self.sets.iter().map(Vec::as_slice).take(limit).collect();
        // Before the first snippet, there is no reason for any.
        if !wanted.is_empty() && wanted.len() < limit && !wanted.contains(&[].as_slice()) {
            wanted.push(&[]);
        }
        wanted
    }

    /// Removes the spare compilers that must not exist. Returns them, and the bindings of the first that is missing.
    fn prune(&mut self, limit: usize) -> (Vec<S>, Option<BindingKeys>) {
        if self.is_closed {
            return (Vec::new(), None);
        }
        let mut spares = std::mem::take(&mut self.spares);
        let wanted = self.wanted(limit);
        let removed = spares.extract_if(.., |spare| {
            !spare.is_usable() || !wanted.iter().any(|bindings| spare.is_for(bindings))
        });
        let removed = removed.collect();
        let missing = wanted
            .iter()
            .find(|bindings| !spares.iter().any(|spare| spare.is_for(bindings)))
            .map(|bindings| bindings.to_vec());
        self.spares = spares;
        (removed, missing)
    }

    /// Adds a spare compiler; returns it if the pool is closed.
    fn add(&mut self, spare: S) -> Option<S> {
        if self.is_closed {
            return Some(spare);
        }
        self.spares.push(spare);
        None
    }
}

#[cfg(test)]
mod tests;
