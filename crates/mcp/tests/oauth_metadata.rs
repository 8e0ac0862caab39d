//! Logins at hostile authorization servers: the body of the fuzz target `oauth`, run on its corpus, on arbitrary bytes,
//! and on damaged valid responses.
//!
//! More cases: `PROPTEST_CASES=1000000 cargo test -p mcp --release --test oauth_metadata`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

#[allow(unreachable_pub, reason = "the body of a fuzz target")]
#[path = "../../../tests/fuzz/src/oauth.rs"]
mod target;

use std::{path::Path, sync::OnceLock};

use proptest::{collection::vec, prelude::*, sample::Index};
use target::{BREAK, oauth};

/// The seeds with their names.
fn corpus() -> &'static [(String, Vec<u8>)] {
    static CORPUS: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/oauth");
        let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
        let mut seeds: Vec<_> = entries
            .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
            .collect();
        seeds.sort();
        seeds
    })
}

fn seed(name: &str) -> &'static [u8] {
    &corpus().iter().find(|(other, _)| other == name).unwrap().1
}

/// The replacements and insertions for damaged responses.
const PIECES: [&str; 20] = [
    "http://mcp.example/token",
    "https://elsewhere.example/token",
    "https://127.0.0.1/",
    "http://169.254.169.254/latest",
    "https://as.example@elsewhere.example/",
    "https://as.example\\\\@elsewhere.example/",
    "https://as.example/token#fragment",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "//elsewhere.example/token",
    "/token",
    "",
    "\\ud800",
    "\\u0000",
    "null",
    "[]",
    "{}",
    "1e999",
    "\n%%\n307 https://elsewhere.example/token\n\n%%\n",
    "\r\nX-Injected: 1",
];

#[derive(Debug, Clone)]
enum Damage {
    /// Replaces the quoted text at this position with a piece.
    Replace(Index, Index),
    /// Inserts a piece.
    Insert(Index, Index),
    /// Changes a byte.
    Byte(Index, u8),
    /// Removes everything after the position.
    Cut(Index),
    /// Swaps two parts.
    Swap(Index, Index),
    /// Repeats a part.
    Repeat(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<Index>;
    prop_oneof![
        6 => (place(), place()).prop_map(|(at, piece)| Damage::Replace(at, piece)),
        2 => (place(), place()).prop_map(|(at, piece)| Damage::Insert(at, piece)),
        2 => (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        1 => place().prop_map(Damage::Cut),
        1 => (place(), place()).prop_map(|(one, other)| Damage::Swap(one, other)),
        1 => place().prop_map(Damage::Repeat),
    ]
}

fn parts(input: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(input).into_owned();
    let line = String::from_utf8_lossy(BREAK).into_owned();
    text.split(&line).map(|part| part.as_bytes().to_vec()).collect()
}

fn apply(mut input: Vec<u8>, damage: &Damage) -> Vec<u8> {
    if input.is_empty() {
        return input;
    }
    let piece = |index: &Index| PIECES[index.index(PIECES.len())].as_bytes().to_vec();
    match damage {
        Damage::Replace(at, with) => {
            let quotes: Vec<usize> = (0..input.len()).filter(|index| input[*index] == b'"').collect();
            if let Some(pair) = quotes.chunks_exact(2).nth(at.index(quotes.len() / 2 + 1)) {
                input.splice(pair[0] + 1..pair[1], piece(with));
            }
        }
        Damage::Insert(at, with) => {
            let at = at.index(input.len());
            input.splice(at..at, piece(with));
        }
        Damage::Byte(at, byte) => {
            let at = at.index(input.len());
            input[at] = *byte;
        }
        Damage::Cut(at) => input.truncate(at.index(input.len())),
        Damage::Swap(one, other) => {
            let mut parts = parts(&input);
            let count = parts.len();
            parts.swap(one.index(count), other.index(count));
            input = parts.join(BREAK);
        }
        Damage::Repeat(at) => {
            let mut parts = parts(&input);
            let at = at.index(parts.len());
            parts.insert(at, parts[at].clone());
            input = parts.join(BREAK);
        }
    }
    input
}

fn damaged() -> impl Strategy<Value = Vec<u8>> {
    (any::<Index>(), vec(damage(), 1..4)).prop_map(|(which, damages)| {
        let (_, seed) = &corpus()[which.index(corpus().len())];
        damages.iter().fold(seed.clone(), apply)
    })
}

#[test]
fn a_correct_login_returns_a_token_and_renews_it() {
    let rehearsed = oauth(seed("login-and-renewal"));
    assert_eq!(rehearsed.error, None);
    assert_eq!(rehearsed.token.as_deref(), Some("secret-access-token-2"));
    assert_eq!(rehearsed.renewal.last().unwrap().url, "https://as.example/token");
}

#[test]
fn every_seed_passes_and_only_one_renews() {
    for (name, seed) in corpus() {
        let rehearsed = oauth(seed);
        let text = format!("{:?} {:?}", rehearsed.error, rehearsed.renewal);
        let is_sound = name == "login-and-renewal";
        let is_renewed = rehearsed.token.as_deref() == Some("secret-access-token-2");
        assert_eq!(is_sound, is_renewed, "{name}: {text}");
        let error = rehearsed.error.unwrap_or_default();
        assert!(!error.contains("secret-"), "{name}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_response_sends_a_secret_elsewhere(input in prop_oneof![4 => damaged(), 1 => vec(any::<u8>(), 0..400)]) {
        oauth(&input);
    }
}
