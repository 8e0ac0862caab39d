//! Property test: for any JSON arguments, the text shown to the user decodes to what is sent.
//!
//! More cases: `PROPTEST_CASES=1000000 cargo test -p gateway --lib arbitrary`.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::{Question, RequestedTool};

#[allow(unreachable_pub, dead_code, reason = "a library, where cargo-fuzz builds it")]
#[path = "../../../../../tests/fuzz/src/arguments.rs"]
mod targets;

/// The arguments in the question about a call, decoded; `None` if they are truncated.
fn shown_arguments(arguments: &RawValue) -> Option<String> {
    let (server, tool) = ("s".into(), "t".into());
    let requested =
        RequestedTool { server, tool, hash: String::new(), reached: String::new(), claims: Vec::new() };
    let text = Question::call(requested, arguments, false, Vec::new()).text();
    let (_, shown) = text.split_once('\n')?;
    let (shown, _) = shown.rsplit_once('\n')?;
    assert!(!shown.chars().any(|shown| shown.is_control() && shown != '\n'), "{shown:?}");
    (!shown.contains("THIS IS NOT ALL")).then(|| decoded(shown))
}

/// Decodes the escapes of invisible characters.
fn decoded(shown: &str) -> String {
    let (mut text, mut rest) = (String::new(), shown);
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let spelled = after.strip_prefix("u{").and_then(|spelled| spelled.split_once('}'));
        let spelled = spelled
            .and_then(|(code, rest)| Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, rest)));
        rest = match spelled {
            Some((character, rest)) => {
                text.push(character);
                rest
            }
            // A JSON escape: both of its characters.
            None => {
                let end = after.chars().next().map_or(0, char::len_utf8);
                text.push('\\');
                text.push_str(&after[..end]);
                &after[end..]
            }
        };
    }
    text + rest
}

fn configuration() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(20_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn shown_arguments_equal_sent_ones(bytes in vec(any::<u8>(), 0..120)) {
        targets::arguments(&bytes, shown_arguments);
    }
}

#[test]
fn shown_arguments_of_the_corpus_equal_sent_ones() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/arguments");
    for file in std::fs::read_dir(corpus).unwrap() {
        targets::arguments(&std::fs::read(file.unwrap().path()).unwrap(), shown_arguments);
    }
    let spelled = RawValue::from_string("{\"a\":\"\\\\u{ad}\",\"b\":\"\u{ad}\"}".to_owned()).unwrap();
    assert_eq!(shown_arguments(&spelled).unwrap().matches("\\\\u{ad}").count(), 1);
}
