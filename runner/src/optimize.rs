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
            if program.processor_time >= LONG_RUN && optimized::entry(&self.cache, &program.key).is_none() {
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
mod tests;
