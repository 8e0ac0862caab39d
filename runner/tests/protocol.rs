//! The broker's protocol with any bytes: the bodies of the fuzz targets, run on their corpus, on arbitrary bytes, and
//! on valid conversations with random damage.
//!
//! More cases: `PROPTEST_CASES=1000000 cargo test -p runner --release --test protocol`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[allow(unreachable_pub, reason = "a library, where cargo-fuzz builds it")]
#[path = "../../tests/fuzz/src/lib.rs"]
mod targets;

use std::path::Path;

use bridge::wire::{ErrorReport, FRAME_LIMIT, Finish, Question, ToHost, ToolReport, Warning};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::value::RawValue;
use targets::{framed, greeting, hear};

/// `PROPTEST_CASES` overrides the number of cases.
fn configuration() -> ProptestConfig {
    ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// A message that a well-behaved program may send between hello and finish.
fn message() -> impl Strategy<Value = ToHost> {
    let arguments = prop_oneof![Just("{}"), Just("{\"message\": \"ä\"}"), Just("{\"a\":[1,{\"b\":null}]}")];
    prop_oneof![
        4 => (0..1_000_u64, ".{0,40}", arguments)
            .prop_map(|(id, tool, arguments)| ToHost::Call { id, tool, arguments: raw(arguments) }),
        1 => (0..1_000_u64, ".{0,20}", any::<Option<u32>>()).prop_map(|(id, query, limit)| {
            ToHost::Ask { id, question: Question::Search { query, server: None, limit } }
        }),
        1 => (0..1_000_u64, vec(".{0,20}", 0..3))
            .prop_map(|(id, tools)| ToHost::Ask { id, question: Question::Describe { tools } }),
        1 => (0..1_000_u64, ".{0,20}", any::<bool>()).prop_map(|(id, text, reads)| {
            let question = match reads {
                true => Question::Resource { uri: text, server: None },
                false => Question::Resources { server: Some(text), query: None },
            };
            ToHost::Ask { id, question }
        }),
        1 => ".{0,20}".prop_map(|text| {
            ToHost::Emit { content: raw(&serde_json::json!({ "type": "text", "text": text }).to_string()) }
        }),
        1 => (any::<u32>(), ".{0,20}")
            .prop_map(|(done, message)| ToHost::Progress { done: done.into(), total: 1.5, message }),
        1 => (".{0,20}", any::<Option<u32>>())
            .prop_map(|(message, line)| ToHost::Warn(Warning { message, line, column: Some(1) })),
    ]
}

fn finish() -> impl Strategy<Value = ToHost> {
    let tool = ToolReport { kind: "denied".to_owned(), server: "demo".to_owned(), tool: "echo".to_owned() };
    prop_oneof![
        any::<f32>().prop_map(|value| {
            ToHost::Finish(Finish::Ok {
                result: Some(raw(&serde_json::json!([value]).to_string())),
                unmade: Vec::new(),
            })
        }),
        ".{0,20}".prop_map(move |message| {
            ToHost::Finish(Finish::Error(ErrorReport {
                message,
                tool: Some(tool.clone()),
                line: Some(1),
                column: None,
            }))
        }),
    ]
}

/// Any message, whether or not it is in order.
fn any_message() -> impl Strategy<Value = ToHost> {
    prop_oneof![
        4 => message().prop_map(|message| match message {
            ToHost::Call { id, tool, arguments } => ToHost::Call { id: id % 12, tool, arguments },
            ToHost::Ask { id, question } => ToHost::Ask { id: id % 12, question },
            other => other,
        }),
        2 => (0..12_u64).prop_map(|id| ToHost::Cancel { id }),
        1 => finish(),
        1 => (1..4_u32).prop_map(|version| ToHost::Hello { version, token: targets::TOKEN.to_owned() }),
    ]
}

/// A whole conversation after the hello as bytes, and its number of messages.
fn conversation() -> impl Strategy<Value = (Vec<u8>, usize)> {
    (vec(message(), 0..8), finish()).prop_map(|(mut messages, finish)| {
        let mut next = 0;
        for message in &mut messages {
            if let ToHost::Call { id, .. } | ToHost::Ask { id, .. } = message {
                // Numbers may be skipped.
                *id = next + *id % 3;
                next = *id + 1;
            }
        }
        if next > 0 {
            messages.push(ToHost::Cancel { id: next - 1 });
        }
        messages.push(finish);
        (messages.iter().flat_map(framed).collect(), messages.len())
    })
}

/// A random change of some bytes.
#[derive(Debug, Clone)]
enum Change {
    Set(Index, u8),
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let range = |bytes: &[u8], at: &Index, length: usize| {
            let start = at.index(bytes.len() + 1);
            start..(start + length).min(bytes.len())
        };
        match self {
            _ if bytes.is_empty() => {}
            Change::Set(at, byte) => *at.get_mut(bytes) = *byte,
            Change::Flip(at, bit) => *at.get_mut(bytes) ^= 1 << bit,
            Change::Insert(at, new) => drop(bytes.splice(range(bytes, at, 0), new.iter().copied())),
            Change::Remove(at, length) => drop(bytes.drain(range(bytes, at, *length))),
            Change::Repeat(at, length) => bytes.extend_from_within(range(bytes, at, *length)),
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (at(), vec(any::<u8>(), 1..6)).prop_map(|(at, new)| Change::Insert(at, new)),
        (at(), 1..60_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (at(), 1..200_usize).prop_map(|(at, length)| Change::Repeat(at, length)),
    ]
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn any_bytes_are_accepted_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        targets::frames(&bytes);
        targets::hello(&bytes);
    }

    #[test]
    fn a_valid_conversation_is_accepted(split in any::<u8>(), (bytes, messages) in conversation()) {
        targets::frames(&[&[split], bytes.as_slice()].concat());
        let heard = hear([greeting().as_slice(), bytes.as_slice()]);
        prop_assert_eq!(&heard.breach, &None);
        prop_assert_eq!(heard.messages.len(), 1 + messages);
    }

    #[test]
    fn messages_may_come_in_any_order(split in any::<u8>(), messages in vec(any_message(), 0..6)) {
        let bytes: Vec<u8> = messages.iter().flat_map(framed).collect();
        targets::frames(&[&[split], bytes.as_slice()].concat());
    }

    #[test]
    fn a_conversation_may_be_damaged_anywhere(
        split in any::<u8>(),
        (mut bytes, _) in conversation(),
        changes in vec(change(), 1..4),
    ) {
        for change in &changes {
            change.apply(&mut bytes);
        }
        targets::frames(&[&[split], bytes.as_slice()].concat());
    }

    #[test]
    fn a_hello_may_be_damaged_anywhere(changes in vec(change(), 0..3)) {
        let mut bytes = greeting().split_off(4);
        for change in &changes {
            change.apply(&mut bytes);
        }
        targets::hello(&bytes);
    }
}

#[test]
fn the_corpus_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus");
    for (name, target) in [("frames", targets::frames as fn(&[u8])), ("hello", targets::hello)] {
        let mut count = 0;
        for file in std::fs::read_dir(corpus.join(name)).unwrap() {
            let file = file.unwrap().path();
            eprintln!("{}", file.display());
            target(&std::fs::read(file).unwrap());
            count += 1;
        }
        assert!(count > 10, "{name} has only {count}");
    }
}

/// The seeds of the corpus that must be refused, and why.
#[test]
fn out_of_order_frames_are_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus/frames");
    for (seed, messages, says) in [
        ("two_ends", 2, "a second end"),
        ("call_after_the_end", 2, "after its end"),
        ("second_hello", 1, "a second hello"),
        ("number_again", 2, "call 0 where 1 was next"),
        ("last_number", 1, "where 0 was next"),
        ("cancel_of_nothing", 1, "cancellation of call 0"),
        ("empty_frame", 1, "not a message"),
        ("four_gigabytes", 1, "a frame of 4 GiB, over the limit"),
        ("one_over_the_limit", 1, "a frame of 32.1 MiB, over the limit of 32 MiB"),
        ("not_unicode", 1, "not a message"),
        ("deep_frame", 1, "not a message"),
        ("unknown_message", 1, "not a message"),
        ("two_messages", 1, "not a message"),
        ("unknown_member", 1, "not a message"),
    ] {
        let bytes = std::fs::read(corpus.join(seed)).unwrap();
        let heard = hear([greeting().as_slice(), &bytes[1..]]);
        let breach = heard.breach.unwrap_or_default();
        assert!(breach.contains(says), "{seed}: {breach}");
        assert_eq!(heard.messages.len(), messages, "{seed}");
    }
    // The valid hello of this protocol version: a change that raises the version must update the corpus.
    let right = std::fs::read(corpus.join("../hello/right")).unwrap();
    assert_eq!(right, greeting()[4..]);
    for seed in
        ["conversation", "questions", "claims_the_limit", "part_of_a_length", "lone_surrogate", "deep"]
    {
        let bytes = std::fs::read(corpus.join(seed)).unwrap();
        let heard = hear([greeting().as_slice(), &bytes[1..]]);
        assert_eq!(heard.breach, None, "{seed}");
    }
}

#[test]
fn a_frame_may_be_as_large_as_the_limit() {
    let content = format!("{{\"text\":\"{}\"}}", "x".repeat(FRAME_LIMIT - 32));
    let frame = framed(&ToHost::Emit { content: raw(&content) });
    assert!(frame.len() > FRAME_LIMIT - 16);
    let heard = hear([greeting().as_slice(), frame.as_slice()]);
    assert_eq!((heard.messages.len(), heard.breach), (2, None));
}

/// The program's own text is shown, but not all 4 MiB of it.
#[test]
fn a_breach_is_reported_briefly() {
    let word = format!("{{\"{}\":1}}", "x\\u001b".repeat(1 << 19));
    let frame = [u32::try_from(word.len()).unwrap().to_be_bytes().as_slice(), word.as_bytes()].concat();
    let breach = hear([greeting().as_slice(), frame.as_slice()]).breach.unwrap();
    assert!(breach.len() < 1_000 && !breach.contains('\u{1b}'), "{breach}");
}
