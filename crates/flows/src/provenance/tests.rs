//! Tests of the memory and of the comparison, also against a naive one.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn after(answers: &[(&str, Value)]) -> Answers {
    let mut after = Answers::default();
    answers.iter().for_each(|(tool, answer)| after.add(tool, &answer.to_string()));
    after
}

fn lines(answers: &Answers, arguments: &Value) -> Vec<String> {
    answers.marks(&arguments.to_string()).lines()
}

/// A text of this many characters in which no part is repeated.
fn prose(topic: &str, length: usize) -> String {
    let words = (0..).flat_map(|number| format!("{topic}{number} ").chars().collect::<Vec<_>>());
    words.take(length).collect()
}

#[test]
fn arguments_are_marked_with_the_answers_that_have_their_text() {
    let (mail, other) = (prose("mail", 1204), prose("note", 100));
    let answers = after(&[
        ("mail.read_message", json!({ "content": [{ "type": "text", "text": "short" }] })),
        ("mail.read_message", json!({ "content": [{ "type": "text", "text": format!("Hi\n{mail}") }] })),
        ("notes.read", json!({ "structuredContent": { "notes": [{ "text": other }] } })),
    ]);
    let body = format!("{}{mail}{}", prose("own", 100), "-".repeat(84));
    let arguments =
        json!({ "to": "somebody", "body": body, "items": ["", { "text": format!("{other}{mail}") }] });
    assert_eq!(
        lines(&answers, &arguments),
        [
            "`items[1].text`: 1 304 of 1 304 characters from mail.read_message #2, notes.read #1",
            "`body`: 1 204 of 1 388 characters from mail.read_message #2",
        ]
    );
}

#[test]
fn runs_are_found_from_24_characters_on() {
    let text = prose("ä😀", 60);
    let run = |length: usize| text.chars().skip(7).take(length).collect::<String>();
    let answers = after(&[("a.b", json!({ "text": text }))]);
    assert_eq!(lines(&answers, &json!([run(23)])), ["no 24 consecutive characters of earlier answers"]);
    assert_eq!(lines(&answers, &json!([run(24)])), ["`[0]`: 24 of 24 characters from a.b #1"]);
    let twice = format!("{}|{}", run(24), run(30));
    assert_eq!(lines(&answers, &json!([twice])), ["`[0]`: 54 of 55 characters from a.b #1"]);
}

#[test]
fn json_in_strings_is_unescaped_on_both_sides() {
    // Line feeds every ten characters: escaped, no run is long enough.
    let text = (0..20).map(|number| format!("line {number:04}\n")).collect::<String>();
    let nested = json!({ "inner": text }).to_string();
    let answers = after(&[("a.text", json!({ "content": [{ "type": "text", "text": nested }] }))]);
    assert_eq!(lines(&answers, &json!({ "body": text })), ["`body`: 200 of 200 characters from a.text #1"]);
    let answers = after(&[("a.plain", json!({ "text": text }))]);
    let arguments = json!({ "body": nested });
    assert_eq!(lines(&answers, &arguments), ["`body.inner`: 200 of 200 characters from a.plain #1"]);
}

#[test]
fn names_of_members_are_compared_and_not_shown() {
    let secret = prose("secret", 30);
    let answers = after(&[("a.b", json!({ "text": secret }))]);
    assert_eq!(
        lines(&answers, &json!({ "headers": { &secret: 1 } })),
        ["`headers.…`: 30 of 30 characters from a.b #1"]
    );
}

#[test]
fn what_is_named_is_bounded() {
    let texts: Vec<String> = (0..20).map(|number| prose(&format!("part{number}x"), 30 + number)).collect();
    let mut answers = Answers::default();
    texts.iter().for_each(|text| answers.add("a.b", &json!(text).to_string()));
    let marks = answers.marks(&json!([texts, texts.concat()]).to_string());
    let shown = marks.lines();
    assert_eq!(shown.len(), 9, "{shown:#?}");
    assert_eq!(shown[0], "`[1]`: 790 of 790 characters from a.b #20, a.b #19, a.b #18 and 17 more");
    assert_eq!(shown[1], "`[0][19]`: 49 of 49 characters from a.b #20");
    assert_eq!(shown[8], "13 arguments more");
    assert_eq!(marks.arguments[0].from.len(), 3);
}

#[test]
fn no_text_is_shown() {
    let secret = prose("secret", 100);
    let answers = after(&[("a.b", json!({ "text": secret }))]);
    let shown = lines(&answers, &json!({ "body": secret, "x": { &secret: secret } }));
    let line = |argument| format!("`{argument}`: 100 of 100 characters from a.b #1");
    assert_eq!(shown, ["body", "x.…", "x.…"].map(line));
}

#[test]
fn older_answers_and_the_ends_of_long_ones_are_dropped() {
    let (first, long) = (prose("first", 100), prose("long", ANSWER_KEPT));
    let mut answers = after(&[("a.first", json!(first)), ("a.long", json!([long, "cut off ".repeat(9)]))]);
    let gaps = "older answers, and the ends of long ones, are not compared";
    let found = "`[0]`: 100 of 100 characters from a.first #1";
    assert_eq!(lines(&answers, &json!([first, "cut off ".repeat(9)])), [found, gaps]);
    for _ in 0..KEPT / ANSWER_KEPT {
        answers.add("a.long", &json!(long).to_string());
    }
    assert!(answers.bytes <= KEPT && answers.kept.len() < 5, "{}", answers.kept.len());
    assert_eq!(lines(&answers, &json!([first]))[1..], [gaps]);
    let end: String = first.chars().rev().collect();
    let arguments = json!(["x".repeat(COMPARED), end]);
    assert_eq!(
        lines(&after(&[("a.b", json!(end))]), &arguments)[1..],
        ["the end of the arguments is not compared"]
    );
}

/// A quadratic comparison would take hours.
#[test]
fn long_repetitive_texts_and_many_answers_take_bounded_work() {
    let repetitive =
        json!({ "a": "ab".repeat(200_000), "b": "[".repeat(200_000), "c": "\\\"".repeat(50_000) });
    let mut answers = Answers::default();
    (0..200).for_each(|_| answers.add("a.b", &repetitive.to_string()));
    let marks = answers.marks(&json!(["ab".repeat(100_000)]).to_string());
    assert_eq!(marks.arguments[0].characters, 200_000);
    (0..100_000).for_each(|_| answers.add("a.tiny", "{}"));
    assert!(answers.kept.len() <= KEPT / OVERHEAD);
}

/// The number of characters of a text that are in runs of answers, by definition.
fn naive(text: &str, answers: &[Vec<String>]) -> usize {
    let text: Vec<char> = text.chars().collect();
    let mut is_found = vec![false; text.len()];
    for start in 0..text.len().saturating_sub(RUN - 1) {
        let window: String = text[start..start + RUN].iter().collect();
        if answers.iter().flatten().any(|answer| answer.contains(&window)) {
            is_found[start..start + RUN].fill(true);
        }
    }
    is_found.into_iter().filter(|is_found| *is_found).count()
}

/// The number of the first answer that has a whole text.
fn first_with(text: &str, answers: &[Vec<String>]) -> Option<u64> {
    let found = answers.iter().position(|texts| texts.iter().any(|answer| answer.contains(text)))?;
    u64::try_from(found + 1).ok()
}

fn text() -> impl Strategy<Value = String> {
    // Few different characters, so that runs overlap and repeat. The first one keeps it from being JSON.
    prop_oneof!["x[ab]{0,80}", "x(abc){0,30}[a-c]{0,5}", "x[ä😀\"\\\\\n]{0,60}", "x[a-z ]{0,200}"]
}

/// Where a part of an argument is taken from: a text, its first character, and the length.
fn parts() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
    proptest::collection::vec((0..20usize, 0..100usize, 0..60usize), 0..6)
}

proptest! {
    #[test]
    fn it_counts_as_the_naive_comparison(
        answers in proptest::collection::vec(proptest::collection::vec(text(), 1..4), 0..5),
        parts in parts(),
        glue in text(),
    ) {
        let texts: Vec<&String> = answers.iter().flatten().collect();
        let mut argument = glue;
        for (text, start, length) in parts {
            if let Some(text) = texts.get(text) {
                argument.extend(text.chars().skip(start).take(length));
            }
        }
        let mut kept = Answers::default();
        answers.iter().for_each(|texts| kept.add("a.b", &json!(texts).to_string()));
        let marks = kept.marks(&json!({ "body": argument }).to_string());
        let counted = marks.arguments.iter().map(|mark| mark.characters).sum::<usize>();
        prop_assert_eq!(counted, naive(&argument, &answers));
        if let Some(first) = first_with(&argument, &answers)
            && argument.chars().count() == RUN
        {
            prop_assert_eq!(marks.arguments[0].from[0].answer, first);
        }
    }

    #[test]
    fn nothing_makes_it_panic(answer in "\\PC*", arguments in "[\\[\\]{}\",:\\\\a-cu0-9\n]*") {
        let mut kept = Answers::default();
        kept.add("a.b", &answer);
        kept.add("a.b", &arguments);
        let _ = kept.marks(&arguments).lines();
    }
}
