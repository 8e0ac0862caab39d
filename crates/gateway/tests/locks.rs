//! Lock files, the record of trusted projects and remembered answers, for any bytes: runs the body of the fuzz target
//! on its corpus, on arbitrary bytes, and on damaged files.
//!
//! More cases: `PROPTEST_CASES=1000000 cargo test -p gateway --release --test locks`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[allow(unreachable_pub, reason = "a library, where cargo-fuzz builds it")]
#[path = "../../../tests/fuzz/src/locks.rs"]
mod targets;

use std::path::{Path, PathBuf};

use gateway::fuzzing;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use targets::{PROJECT, TOOL, locks};

/// `PROPTEST_CASES` sets another number.
fn configuration() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(20_000), failure_persistence: None, ..ProptestConfig::default() }
}

fn corpus() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/locks");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut seeds: Vec<_> = files.map(|file| (file.clone(), std::fs::read(file).unwrap())).collect();
    seeds.sort();
    seeds
}

/// A modification of bytes.
fn change() -> impl Strategy<Value = (u8, Index, Vec<u8>)> {
    let pieces = prop_oneof![
        vec(any::<u8>(), 1..4),
        prop_oneof![
            Just("\"pinned\": true,"),
            Just("\"version\": 1,"),
            Just("\"version\": 2,"),
            Just("\"locks\": {},"),
            Just("{"),
            Just("}"),
            Just("null"),
            Just("\"\""),
            Just("1e400"),
            Just("\\ud800"),
        ]
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    (0..5_u8, any::<Index>(), pieces)
}

fn apply((how, at, piece): &(u8, Index, Vec<u8>), bytes: &mut Vec<u8>) {
    // The first byte says which file it is, and is not changed.
    let start = 1 + at.index(bytes.len());
    let end = (start + piece.len()).min(bytes.len());
    let start = start.min(end);
    match how {
        0 => drop(bytes.splice(start..start, piece.iter().copied())),
        1 => drop(bytes.splice(start..end, piece.iter().copied())),
        2 => drop(bytes.drain(start..end)),
        3 => bytes.extend_from_within(start..end),
        _ => bytes.truncate(start.max(1)),
    }
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn any_bytes_are_read_or_refused_and_grant_nothing(kind in 0..3_usize, bytes in vec(any::<u8>(), 0..200)) {
        locks(&[&[b"ltp"[kind]], bytes.as_slice()].concat());
    }

    #[test]
    fn damaged_files_are_read_or_refused(seed in any::<Index>(), changes in vec(change(), 1..5)) {
        thread_local!(static SEEDS: Vec<(PathBuf, Vec<u8>)> = corpus());
        let mut bytes = SEEDS.with(|seeds| seed.get(seeds).1.clone());
        changes.iter().for_each(|change| apply(change, &mut bytes));
        locks(&bytes);
    }
}

#[test]
fn the_corpus_passes_and_its_valid_files_are_accepted() {
    let seeds = corpus();
    assert!(seeds.len() > 15, "{}", seeds.len());
    for (file, bytes) in &seeds {
        eprintln!("{}", file.display());
        locks(bytes);
    }
    let seed = |name: &str| &seeds.iter().find(|(file, _)| file.ends_with(name)).expect(name).1[1..];
    let (path, config, lock) = PROJECT;
    assert_eq!(seed("trust"), fuzzing::record_of_trust(path, config, lock));
    assert!(fuzzing::is_trusted(seed("trust"), path, config, lock));
    assert!(fuzzing::is_trusted(seed("trust_of_the_first_form"), path, config, None));
    assert!(!fuzzing::is_trusted(seed("trust_of_the_first_form"), path, config, lock));
    let (identity, tool, hash) = TOOL;
    assert!(fuzzing::is_allowed(seed("permissions"), identity, tool, hash));
    for older in
        ["permissions_of_the_first_form", "permissions_of_a_later_form", "permissions_unknown_member"]
    {
        assert!(!fuzzing::is_allowed(seed(older), identity, tool, hash), "{older}");
    }
    for (name, is_valid) in
        [("lock", true), ("lock_observed", true), ("lock_other_hash", false), ("lock_later", false)]
    {
        let text = std::str::from_utf8(seed(name)).unwrap();
        assert_eq!(mcp::Lock::parse(text, Path::new(name)).is_ok(), is_valid, "{name}");
    }
}

/// Deeply nested files are read or refused without a stack overflow.
#[test]
fn deep_and_long_files_are_refused() {
    for open in
        ["[", "{\"a\":", "{\"servers\":", "{\"version\":1,\"servers\":{\"a\":{\"tools\":{\"b\":{\"tool\":"]
    {
        for kind in ["l", "t", "p"] {
            locks(format!("{kind}{}", open.repeat(50_000)).as_bytes());
        }
    }
    let long = format!("l{{\"version\":1,\"servers\":{{\"{}\":1}}}}", "x\\u001b".repeat(1 << 19));
    locks(long.as_bytes());
}
