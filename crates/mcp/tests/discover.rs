//! `server/discover` responses, for any bytes: the body of the fuzz target `discover`, run on its corpus and on damaged
//! responses.
//!
//! More cases: `PROPTEST_CASES=1000000 cargo test -p mcp --release --test discover`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[allow(unreachable_pub, reason = "cargo-fuzz builds it as a library")]
#[path = "../../../tests/fuzz/src/discover.rs"]
mod discover;

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// `PROPTEST_CASES` overrides the number of cases.
fn configuration() -> ProptestConfig {
    ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() }
}

thread_local! {
    static RUNTIME: tokio::runtime::Runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
}

fn introduction(data: &[u8]) {
    RUNTIME.with(|runtime| runtime.block_on(discover::introduction(data)));
}

fn version() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => select(vec!["2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05", "2099-01-01", "", "draft"])
            .prop_map(|version| json!(version)),
        1 => any::<i64>().prop_map(|number| json!(number)),
        1 => Just(Value::Null),
    ]
}

/// Any JSON value, as a faulty server might send it.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|value| json!(value)),
        any::<f64>().prop_map(|value| json!(value)),
        ".{0,20}".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(|values| json!(values)),
            vec((".{0,6}", inner), 0..3).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A result of either era, possibly with missing or malformed members.
fn result() -> impl Strategy<Value = String> {
    let odd = (any::<Index>(), anything(), 0..4_u8);
    (version(), vec(version(), 0..4), vec(odd, 0..3)).prop_map(|(version, versions, odd)| {
        let mut result = json!({
            "resultType": "complete", "protocolVersion": version, "supportedVersions": versions,
            "capabilities": { "tools": { "listChanged": true } }, "instructions": "Ask.",
            "serverInfo": { "name": "any", "version": "1" }, "ttlMs": 0, "cacheScope": "private",
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "any", "version": "1" } },
        });
        for (at, value, how) in odd {
            let members = result.as_object_mut().unwrap();
            let Some(name) =
                (!members.is_empty()).then(|| members.keys().nth(at.index(members.len()))).flatten()
            else {
                continue;
            };
            let name = name.clone();
            match how {
                0 => drop(members.remove(&name)),
                _ => drop(members.insert(name, value)),
            }
        }
        result.to_string()
    })
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn every_response_is_accepted_by_the_rules_or_rejected(how in 0..8_u8, result in result()) {
        introduction(&[&[how], result.as_bytes()].concat());
    }

    #[test]
    fn damaged_responses_are_handled(
        how in 0..8_u8,
        result in result(),
        changes in vec((any::<Index>(), any::<u8>(), 0..3_u8), 0..4),
    ) {
        let mut bytes = result.into_bytes();
        for (at, byte, change) in changes {
            let at = at.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        introduction(&[&[how], bytes.as_slice()].concat());
    }
}

#[test]
fn the_corpus_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/discover");
    let mut count = 0;
    for file in std::fs::read_dir(corpus).unwrap() {
        introduction(&std::fs::read(file.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 10, "only {count}");
}
