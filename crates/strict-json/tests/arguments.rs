//! Arguments that are shown, checked and sent are the same text, for any JSON: the fuzz target's body on its corpus, on
//! arbitrary bytes, and on JSON built from them.
//!
//! More cases: `PROPTEST_CASES=1000000 cargo test -p strict-json --release --test arguments`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[allow(unreachable_pub, missing_docs, reason = "a library, where cargo-fuzz builds it")]
#[path = "../../../tests/fuzz/src/arguments.rs"]
mod targets;

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;

/// `PROPTEST_CASES` overrides the number of cases.
fn configuration() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(20_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn arguments_have_one_form_or_none(bytes in vec(any::<u8>(), 0..120)) {
        targets::arguments(&bytes, targets::as_lines);
    }
}

#[test]
fn the_corpus_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/arguments");
    let mut count = 0;
    for file in std::fs::read_dir(corpus).unwrap() {
        let file = file.unwrap().path();
        eprintln!("{}", file.display());
        targets::arguments(&std::fs::read(file).unwrap(), targets::as_lines);
        count += 1;
    }
    assert!(count > 20, "only {count}");
}
