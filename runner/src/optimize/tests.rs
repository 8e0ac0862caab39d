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
    engine.heavy.add(HeavyProgram { processor_time, ..candidate(program, &[], &Holder::default()).unwrap() });
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

/// Returns whether the program is tried again after a compiler that ended with this status, as wait(2) returns it.
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
