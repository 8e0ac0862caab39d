//! Compiles programs again with optimization, after runs that used much processor time. Later runs of the same text use
//! the optimized program.
//!
//! A long-lived process compiles behind its answers ([`Engine::optimize_next`]), with lower priority than all other
//! work and only while no snippet is being compiled. A process that ends with its answer only records a very long run
//! ([`Engine::record_long_runs`]); the next run of the text compiles the optimized program before it starts.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::bindings;
use crate::build::{self, Built, NOTES, Program};
use crate::cache::Bucket;
use crate::compiler_slots::AdmissionWait;
use crate::disk_full;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::heavy::HeavyProgram;
use crate::library::Library;
use crate::manifest;
use crate::observer::Unobserved;
use crate::optimized::{self, DUE, Source, UNSUITABLE};
use crate::program_compiler::{self, Attempt, Goal, PROGRAM};

/// Processor time after which even the next run gains, if it waits for the compiler: about four times what compiling
/// takes.
const LONG: Duration = Duration::from_secs(1);

/// Pause before each compilation: the answer is sent by then, and a client's next snippet comes first.
const PAUSE: Duration = Duration::from_millis(100);

/// Wall time limit of a compilation in the background, which gives way to all other work.
const PATIENCE: Duration = Duration::from_secs(120);

/// The result of compiling a program again.
#[derive(Debug)]
pub enum Optimized {
    /// The next run of its text uses the optimized program.
    Compiled,
    /// The optimized program can't be used, for this reason.
    Unsuitable(String),
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
        let patience = AdmissionWait { observer: &Unobserved, clock: None };
        let optimized = loop {
            sleep(PAUSE).await;
            self.foreground.until(false).await;
            let compiled = compile(self, &next, true, patience);
            tokio::select! {
                biased;
                () = self.foreground.until(true) => {}
                optimized = timeout(PATIENCE, compiled) => break optimized,
            }
        };
        self.heavy.remove(&next.key);
        Some(optimized.unwrap_or_else(|_| {
            let reason = format!("its compilation was stopped after {} s", PATIENCE.as_secs());
            unsuitable(self, &next.key, reason)
        }))
    }

    /// Records the programs with very long runs, and empties the queue: for a process that ends with its answer.
    ///
    /// # Errors
    /// If the cache can't be written to.
    pub fn record_long_runs(&self) -> Result<()> {
        for program in self.heavy.take() {
            let is_new = || optimized::entry(&self.cache, &program.key).is_none();
            if program.processor_time >= LONG && is_new() {
                optimized::mark(&self.cache, &program.key, DUE, "")?;
            }
        }
        Ok(())
    }
}

/// What `program` and its manifest are in the queue, unless it is optimized already.
pub(crate) fn candidate(program: &Program, manifest: &[String]) -> Option<HeavyProgram> {
    (!program.optimized).then(|| HeavyProgram {
        key: program.key.clone(),
        entry: program.entry.clone(),
        manifest: manifest.to_vec(),
        processor_time: Duration::ZERO,
    })
}

/// Compiles a program again if the last run of its text was so long that this pays before the next one. Returns the
/// optimized program, or `None` if the other one is to run.
pub(crate) async fn compile_if_due(
    engine: &Engine,
    program: &Program,
    manifest: &[String],
    patience: AdmissionWait<'_>,
) -> Result<Option<Program>> {
    let Some(program) = candidate(program, manifest) else { return Ok(None) };
    if !optimized::is_due(&engine.cache, &program.key) {
        return Ok(None);
    }
    let _awaited = engine.foreground.begin();
    engine.cache.discard(Bucket::Programs, &optimized::key_of(&program.key));
    compile(engine, &program, false, patience).await?;
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
    patience: AdmissionWait<'_>,
) -> Result<Optimized> {
    let key = &program.key;
    if optimized::entry(&engine.cache, key).is_some() {
        return Ok(Optimized::Skipped);
    }
    let Some((text, libraries)) = inputs(engine, program) else { return Ok(Optimized::Skipped) };
    let goal = Goal { optimize: true, background };
    let attempt = program_compiler::compile(engine, &libraries, &text, goal, patience).await?;
    if let Some(output) = build::no_room(&attempt) {
        return Err(disk_full::error(&engine.cache, &output));
    }
    let Attempt { status, output, .. } = attempt;
    if !status.success() {
        return unsuitable(engine, key, format!("the compiler ended with {status}"));
    }
    let file = output.path().join(PROGRAM);
    let read = manifest::read_file(&file).map_err(Error::cache(output.path()))?;
    if read.ok().as_ref() != Some(&program.manifest) {
        return unsuitable(engine, key, "it can call other tools than the program before".to_owned());
    }
    let notes = program.entry.folder().join(NOTES);
    if notes.exists() {
        fs_err::copy(notes, output.path().join(NOTES)).map_err(Error::cache(output.path()))?;
    }
    engine.cache.publish(Bucket::Programs, &optimized::key_of(key), output)?;
    Ok(Optimized::Compiled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests::opened;
    use crate::heavy::{HEAVY, QUEUE};
    use crate::optimized::SOURCE;

    /// A program in the cache, without a source.
    fn program(engine: &Engine, key: &str) -> Program {
        let built = engine.cache.temporary().unwrap();
        fs_err::write(built.path().join(PROGRAM), key).unwrap();
        let entry = engine.cache.publish(Bucket::Programs, key, built).unwrap();
        Program { file: entry.folder().join(PROGRAM), key: key.to_owned(), optimized: false, entry }
    }

    fn add(engine: &Engine, program: &Program, processor_time: Duration) {
        engine.heavy.add(HeavyProgram { processor_time, ..candidate(program, &[]).unwrap() });
    }

    fn is_due(engine: &Engine, program: &Program) -> bool {
        optimized::is_due(&engine.cache, &program.key)
    }

    #[test]
    fn the_queue_has_each_heavy_program_once_and_a_bound() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let first = program(&engine, "first");
        add(&engine, &first, HEAVY);
        assert_eq!(engine.heavy.len(), 0, "it is not heavy");
        for _ in 0..2 {
            add(&engine, &first, HEAVY * 2);
        }
        assert_eq!(engine.heavy.len(), 1);
        for number in 0..QUEUE * 2 {
            add(&engine, &program(&engine, &format!("other {number}")), HEAVY * 2);
        }
        assert_eq!(engine.heavy.len(), QUEUE);
    }

    #[test]
    fn programs_that_are_optimized_or_gone_are_not_queued() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let optimized = Program { optimized: true, ..program(&engine, "optimized") };
        assert!(candidate(&optimized, &[]).is_none());
        let gone = program(&engine, "gone");
        engine.cache.discard(Bucket::Programs, "gone");
        add(&engine, &gone, LONG);
        assert_eq!(engine.heavy.len(), 0);
    }

    #[test]
    fn only_long_runs_are_recorded_for_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let (short, long) = (program(&engine, "short"), program(&engine, "long"));
        add(&engine, &short, LONG / 2);
        add(&engine, &long, LONG);
        engine.record_long_runs().unwrap();
        assert_eq!((is_due(&engine, &short), is_due(&engine, &long)), (false, true));
        assert_eq!(engine.heavy.len(), 0);
        assert!(build::optimized(&engine, "long").is_none(), "there is no optimized program yet");
    }

    #[test]
    fn an_unsuitable_program_is_not_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        let program = program(&engine, "program");
        unsuitable(&engine, "program", "the compiler ended with signal: 9".to_owned()).unwrap();
        add(&engine, &program, LONG);
        engine.record_long_runs().unwrap();
        assert!(!is_due(&engine, &program));
        assert!(build::optimized(&engine, "program").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_without_its_source_or_bindings_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(folder.path());
        add(&engine, &program(&engine, "program"), HEAVY * 2);
        assert!(matches!(engine.optimize_next().await, Some(Ok(Optimized::Skipped))));
        let evicted = program(&engine, "evicted");
        let source = Source { text: String::new(), libraries: vec![("demo".to_owned(), "none".to_owned())] };
        let text = serde_json::to_vec(&source).unwrap();
        fs_err::write(evicted.entry.folder().join(SOURCE), text).unwrap();
        add(&engine, &evicted, HEAVY * 2);
        assert!(matches!(engine.optimize_next().await, Some(Ok(Optimized::Skipped))));
        assert!(engine.optimize_next().await.is_none(), "the queue is empty");
    }
}
