//! Compiles programs again with optimization, after runs that used much processor time. Later runs of the same text use
//! the optimized program.
//!
//! A long-lived process compiles behind its answers ([`Engine::optimize_next`]), with lower priority than all other
//! work and only while no snippet is being compiled. A process that ends with its answer only records a very long run
//! ([`Engine::record_long_runs`]); the next run of the text compiles the optimized program before it starts.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::sleep;

use crate::bindings;
use crate::build::{self, Built, NOTES, Program};
use crate::cache::{Bucket, Temporary};
use crate::clock::Clock;
use crate::compiler_slots::AdmissionWait;
use crate::disk_full;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::heavy::HeavyProgram;
use crate::holder::Holder;
use crate::journal::NoSink;
use crate::library::Library;
use crate::manifest;
use crate::optimized::{self, DUE, Source, UNSUITABLE};
use crate::program_compiler::{self, Attempt, Goal, PROGRAM};

/// Processor time after which even the next run gains, if it waits for the compiler: about four times what compiling
/// takes.
const LONG_RUN: Duration = Duration::from_secs(1);

/// Pause before each compilation: the answer is sent by then, and a client's next snippet comes first.
const PAUSE: Duration = Duration::from_millis(100);

/// Time limit of a compilation in the background, from the compiler's admission. The compiler gives way to all other work,
/// so on a busy machine it takes far longer than its processor time.
const BACKGROUND_TIMEOUT: Duration = Duration::from_secs(120);

/// The reason for a program that the cache does not keep, so no later run could use it.
const TOO_LARGE: &str = "it is too large for the cache";

/// The result of compiling a program again.
#[derive(Debug)]
pub enum Optimized {
    /// The next run of its text uses the optimized program.
    Compiled,
    /// The optimized program can't be used, for this reason. It is not tried again.
    Unsuitable(String),
    /// The compiler was ended for this reason, which says nothing about the program. The next long run tries again.
    Interrupted(String),
    /// Its bindings or its own entry were evicted, or another process was faster.
    Skipped,
}

impl Engine {
    /// Whether any program is to be compiled again.
    #[must_use]
    pub fn has_heavy_programs(&self) -> bool {
        self.heavy.len() > 0
    }

    /// Compiles the next program again, at low priority and while no snippet is being compiled; `None` if there is no
    /// program. Dropping the future ends the compiler, and keeps the program in the queue.
    pub async fn optimize_next(&self) -> Option<Result<Optimized>> {
        let next = self.heavy.first()?;
        let optimized = loop {
            sleep(PAUSE).await;
            self.foreground.until(false).await;
            // Stops while the compiler waits to be admitted.
            let clock = Clock::start();
            let admission = AdmissionWait { holder: &next.holder, sink: &NoSink, clock: Some(&clock) };
            tokio::select! {
                biased;
                () = self.foreground.until(true) => {}
                optimized = compile(self, &next, true, admission) => break optimized,
                () = clock.runs_out(BACKGROUND_TIMEOUT) => {
                    let seconds = BACKGROUND_TIMEOUT.as_secs();
                    break Ok(Optimized::Interrupted(format!("the compiler was stopped after {seconds} s")));
                }
            }
        };
        self.heavy.remove(&next.key);
        Some(optimized)
    }

    /// Records the programs with very long runs, and empties the queue: for a process that ends with its answer.
    ///
    /// # Errors
    /// If the cache can't be written to.
    pub fn record_long_runs(&self) -> Result<()> {
        for program in self.heavy.take() {
            let is_new = || optimized::entry(&self.cache, &program.key).is_none();
            if program.processor_time >= LONG_RUN && is_new() {
                optimized::mark(&self.cache, &program.key, DUE, "")?;
            }
        }
        Ok(())
    }
}

/// Returns the entry in the queue for `program` and its manifest, unless it is optimized already.
pub(crate) fn candidate(program: &Program, manifest: &[String], holder: &Holder) -> Option<HeavyProgram> {
    (!program.optimized).then(|| HeavyProgram {
        key: program.key.clone(),
        entry: program.entry.clone(),
        manifest: manifest.to_vec(),
        // In the background, it waits as long as it takes.
        holder: Holder { longest_wait: None, ..holder.clone() },
        processor_time: Duration::ZERO,
    })
}

/// Compiles a program again if the last run of its text was so long that this pays before the next one. Returns the
/// optimized program, or `None` if the other one is to run.
pub(crate) async fn compile_if_due(
    engine: &Engine,
    program: &Program,
    manifest: &[String],
    admission: AdmissionWait<'_>,
) -> Result<Option<Program>> {
    let Some(program) = candidate(program, manifest, admission.holder) else { return Ok(None) };
    if !optimized::is_due(&engine.cache, &program.key) {
        return Ok(None);
    }
    let _foreground = engine.foreground.begin();
    engine.cache.discard(Bucket::Programs, &optimized::key_of(&program.key));
    compile(engine, &program, false, admission).await?;
    Ok(match build::optimized(engine, &program.key) {
        Some(Built::Program { program, .. }) => Some(program),
        _ => None,
    })
}

fn unsuitable(engine: &Engine, key: &str, reason: String) -> Result<Optimized> {
    optimized::mark(&engine.cache, key, UNSUITABLE, &reason)?;
    Ok(Optimized::Unsuitable(reason))
}

/// The text and the libraries that the program was compiled from; `None` if something was evicted.
fn inputs(engine: &Engine, program: &HeavyProgram) -> Option<(String, Vec<Library>)> {
    let Source { text, libraries } = Source::read(program.entry.folder())?;
    let kept = |(module, key): &(String, String)| bindings::kept(&engine.cache, module, key);
    Some((text, libraries.iter().map(kept).collect::<Option<_>>()?))
}

async fn compile(
    engine: &Engine,
    program: &HeavyProgram,
    background: bool,
    admission: AdmissionWait<'_>,
) -> Result<Optimized> {
    let key = &program.key;
    if optimized::entry(&engine.cache, key).is_some() {
        return Ok(Optimized::Skipped);
    }
    if let Some(optimized) = fetch(engine, program).await {
        return Ok(optimized);
    }
    let Some((text, libraries)) = inputs(engine, program) else { return Ok(Optimized::Skipped) };
    let goal = Goal { optimize: true, background, ..Goal::default() };
    let attempt = program_compiler::compile(engine, &libraries, &text, goal, admission).await?;
    if let Some(output) = build::no_room(&attempt) {
        return Err(disk_full::error(&engine.cache, &output));
    }
    let Attempt { status, output, .. } = attempt;
    if !status.success() {
        return failed(engine, key, status);
    }
    let file = output.path().join(PROGRAM);
    match manifest::read_file(&file).map_err(Error::cache(output.path()))? {
        Ok(manifest) if manifest == program.manifest => {}
        Ok(_) => {
            return unsuitable(engine, key, "it can call other tools than the program before".to_owned());
        }
        Err(error) => return unsuitable(engine, key, error.to_string()),
    }
    let notes = program.entry.folder().join(NOTES);
    if notes.exists() {
        fs_err::copy(notes, output.path().join(NOTES)).map_err(Error::cache(output.path()))?;
    }
    program.holder.mark(output.path()).map_err(Error::cache(output.path()))?;
    publish(engine, key, output)
}

/// The optimized program that another machine has compiled.
async fn fetch(engine: &Engine, program: &HeavyProgram) -> Option<Optimized> {
    let key = optimized::key_of(&program.key);
    let entry = engine.cache.fetch_existing(Bucket::Programs, &key).await?;
    let read = manifest::read_file(&entry.folder().join(PROGRAM)).ok().and_then(Result::ok);
    if read.as_ref() == Some(&program.manifest) {
        return Some(Optimized::Compiled);
    }
    engine.cache.discard(Bucket::Programs, &key);
    None
}

/// Draws the conclusion from a compiler that has failed. A signal other than those of its own limits came from
/// elsewhere, for example because the machine ran out of memory.
fn failed(engine: &Engine, key: &str, status: ExitStatus) -> Result<Optimized> {
    let reason = format!("the compiler ended with {status}");
    let limits = [Signal::XCPU, Signal::XFSZ].map(Signal::as_raw);
    match status.signal() {
        Some(signal) if !limits.contains(&signal) => Ok(Optimized::Interrupted(reason)),
        _ => unsuitable(engine, key, reason),
    }
}

/// Moves the optimized program in `output` into the cache.
fn publish(engine: &Engine, key: &str, output: Temporary) -> Result<Optimized> {
    let optimized = optimized::key_of(key);
    let entry = engine.cache.publish(Bucket::Programs, &optimized, output)?;
    engine.cache.share(Bucket::Programs, &optimized, &entry, None);
    if entry.is_kept() { Ok(Optimized::Compiled) } else { unsuitable(engine, key, TOO_LARGE.to_owned()) }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;
    use crate::cache::LARGEST_KEPT_PROGRAM;
    use crate::engine::tests::opened;
    use crate::heavy::{MAX_QUEUED, OPTIMIZE_AFTER};
    use crate::optimized::SOURCE;

    /// A folder with a program of `bytes` bytes.
    fn built(engine: &Engine, bytes: u64) -> Temporary {
        let built = engine.cache.temporary().unwrap();
        std::fs::File::create(built.path().join(PROGRAM)).unwrap().set_len(bytes).unwrap();
        built
    }

    fn published(engine: &Engine, key: &str, built: Temporary) -> Program {
        let entry = engine.cache.publish(Bucket::Programs, key, built).unwrap();
        Program { file: entry.folder().join(PROGRAM), key: key.to_owned(), optimized: false, entry }
    }

    /// A program in the cache, without a source.
    fn program(engine: &Engine, key: &str) -> Program {
        published(engine, key, built(engine, 1))
    }

    /// A program in the cache, with a source that uses these libraries.
    fn program_with_source(engine: &Engine, key: &str, libraries: &[(&str, &str)]) -> Program {
        let built = built(engine, 1);
        let libraries = libraries.iter().map(|(module, key)| (module.to_string(), key.to_string())).collect();
        let source = Source { text: String::new(), libraries };
        fs_err::write(built.path().join(SOURCE), serde_json::to_vec(&source).unwrap()).unwrap();
        published(engine, key, built)
    }

    fn add(engine: &Engine, program: &Program, processor_time: Duration) {
        engine
            .heavy
            .add(HeavyProgram { processor_time, ..candidate(program, &[], &Holder::default()).unwrap() });
    }

    fn is_due(engine: &Engine, program: &Program) -> bool {
        optimized::is_due(&engine.cache, &program.key)
    }

    #[test]
    fn the_queue_has_each_heavy_program_once_and_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let first = program(&engine, "first");
        add(&engine, &first, OPTIMIZE_AFTER);
        assert_eq!(engine.heavy.len(), 0, "it is not heavy");
        for _ in 0..2 {
            add(&engine, &first, OPTIMIZE_AFTER * 2);
        }
        assert_eq!(engine.heavy.len(), 1);
        for number in 0..MAX_QUEUED * 2 {
            add(&engine, &program(&engine, &format!("other {number}")), OPTIMIZE_AFTER * 2);
        }
        assert_eq!(engine.heavy.len(), MAX_QUEUED);
    }

    #[test]
    fn programs_that_are_optimized_or_gone_are_not_queued() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let optimized = Program { optimized: true, ..program(&engine, "optimized") };
        assert!(candidate(&optimized, &[], &Holder::default()).is_none());
        let gone = program(&engine, "gone");
        engine.cache.discard(Bucket::Programs, "gone");
        add(&engine, &gone, LONG_RUN);
        assert_eq!(engine.heavy.len(), 0);
    }

    #[test]
    fn a_program_that_is_too_large_for_the_cache_is_not_queued() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        for (bytes, queued) in [(LARGEST_KEPT_PROGRAM, 0), (LARGEST_KEPT_PROGRAM / 2, 1)] {
            add(&engine, &published(&engine, "program", built(&engine, bytes)), LONG_RUN);
            assert_eq!(engine.heavy.len(), queued, "{bytes}");
        }
    }

    #[test]
    fn an_optimized_program_that_is_too_large_for_the_cache_is_not_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let program = program(&engine, "program");
        let published = publish(&engine, "program", built(&engine, LARGEST_KEPT_PROGRAM)).unwrap();
        assert!(matches!(published, Optimized::Unsuitable(reason) if reason == TOO_LARGE));
        add(&engine, &program, LONG_RUN);
        engine.record_long_runs().unwrap();
        assert!(!is_due(&engine, &program));
        assert!(build::optimized(&engine, "program").is_none());
    }

    #[test]
    fn only_long_runs_are_recorded_for_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let (short, long) = (program(&engine, "short"), program(&engine, "long"));
        add(&engine, &short, LONG_RUN / 2);
        add(&engine, &long, LONG_RUN);
        engine.record_long_runs().unwrap();
        assert_eq!((is_due(&engine, &short), is_due(&engine, &long)), (false, true));
        assert_eq!(engine.heavy.len(), 0);
        assert!(build::optimized(&engine, "long").is_none(), "there is no optimized program yet");
    }

    /// Returns whether the next long run tries the program again after a compiler that ended with this status, as wait(2)
    /// returns it.
    fn is_tried_again_after(status: i32) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let program = program(&engine, "program");
        failed(&engine, "program", ExitStatus::from_raw(status)).unwrap();
        assert!(build::optimized(&engine, "program").is_none());
        add(&engine, &program, LONG_RUN);
        engine.record_long_runs().unwrap();
        is_due(&engine, &program)
    }

    #[test]
    fn a_program_that_its_compiler_refuses_is_not_tried_again() {
        for status in [1 << 8, 101 << 8, Signal::XCPU.as_raw(), Signal::XFSZ.as_raw()] {
            assert!(!is_tried_again_after(status), "{status}");
        }
    }

    #[test]
    fn a_program_whose_compiler_was_killed_is_tried_again() {
        for signal in [Signal::KILL, Signal::TERM, Signal::ABORT] {
            assert!(is_tried_again_after(signal.as_raw()), "{signal:?}");
        }
    }

    /// Another process counts compilers for as long as the door is locked.
    #[tokio::test(start_paused = true)]
    async fn waiting_for_other_compilers_is_not_the_time_of_a_compilation() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let program = program_with_source(&engine, "program", &[]);
        add(&engine, &program, LONG_RUN);
        let compilers = engine.cache.folder().join("compilers");
        fs_err::create_dir_all(&compilers).unwrap();
        let door = std::fs::File::create(compilers.join("door")).unwrap();
        door.lock().unwrap();
        let optimized = timeout(BACKGROUND_TIMEOUT * 2, engine.optimize_next()).await;
        assert!(optimized.is_err(), "it still waits: {optimized:?}");
        assert_eq!(engine.heavy.len(), 1);
        assert!(optimized::entry(&engine.cache, "program").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_without_its_source_or_bindings_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        add(&engine, &program(&engine, "program"), OPTIMIZE_AFTER * 2);
        assert!(matches!(engine.optimize_next().await, Some(Ok(Optimized::Skipped))));
        let evicted = program_with_source(&engine, "evicted", &[("demo", "none")]);
        add(&engine, &evicted, OPTIMIZE_AFTER * 2);
        assert!(matches!(engine.optimize_next().await, Some(Ok(Optimized::Skipped))));
        assert!(engine.optimize_next().await.is_none(), "the queue is empty");
    }
}
