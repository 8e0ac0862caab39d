//! Tests of masking. Each test has its own secrets, since the list is shared by the process.

use serde_json::{Value, json};

use super::*;

#[test]
fn learned_secrets_are_masked_in_every_spelling() {
    learn("spelled/a+b=1");
    assert_eq!(without("got spelled/a+b=1 there"), "got *** there");
    assert_eq!(without("token=spelled%2Fa%2Bb%3D1&x=1"), "token=***&x=1");
    assert_eq!(without("got spelled/a+b= there"), "got spelled/a+b= there");
    learn("quoted\"secret\\1");
    assert_eq!(without(r#"{"a":"quoted\"secret\\1"}"#), r#"{"a":"***"}"#);
}

#[test]
fn short_values_are_not_learned() {
    learn("short-7");
    learn(" ");
    assert_eq!(without("short-7"), "short-7");
}

#[test]
fn headers_are_learned_with_and_without_their_scheme() {
    learn_header("Authorization", "Bearer bearer-of-header-1");
    assert_eq!(without("it was bearer-of-header-1"), "it was ***");
    assert_eq!(without("it was Bearer bearer-of-header-1"), "it was ***");
    learn_header("authorization", "Basic bWU6cGFzcy1pbi1iYXNpYy0x");
    assert_eq!(without("me and pass-in-basic-1, bWU6cGFzcy1pbi1iYXNpYy0x"), "me and ***, ***");
    learn_header("AUTHORIZATION", "bare-value-of-header-1");
    learn_header("X-Api-Key", "api-key-of-header-1");
    assert_eq!(without("bare-value-of-header-1 api-key-of-header-1"), "*** ***");
    learn_header("X-Tenant", "tenant-of-header-1");
    assert_eq!(without("tenant-of-header-1"), "tenant-of-header-1");
}

#[test]
fn json_strings_are_masked_in_every_escaping() {
    learn("escaped-token-1");
    for text in [
        r#"{"a":["x escaped-token-1 y"]}"#,
        r#"{"a":["x \u0065scaped-token-1 y"]}"#,
        r#"{"a":["x escaped\u002Dtoken\u002d1 y"]}"#,
    ] {
        let clean = without_in_json(text);
        assert_eq!(serde_json::from_str::<Value>(&clean).unwrap(), json!({ "a": ["x *** y"] }), "{text}");
    }
    let nested = json!({ "text": json!({ "authorization": "Bearer escaped-token-1" }).to_string() });
    assert_eq!(without_in_json(&nested.to_string()), nested.to_string().replace("escaped-token-1", "***"));
    // Half a surrogate pair can't be decoded.
    assert_eq!(without_in_json(r#"["\ud800 escaped-token-1"]"#), r#"["\ud800 ***"]"#);
    assert_eq!(without_in_json(r#"{"escaped-token-1":1}"#), r#"{"***":1}"#);
}

#[test]
fn texts_without_secrets_stay_unchanged() {
    learn("untouched-token-1");
    for text in [
        r#"{ "a" : "\u00e4\n" , "b" : 1.50 }"#,
        r#""unfinished \"#,
        r#""unfinished"#,
        r#"not json "at \" all"#,
        "\"\\",
        "",
    ] {
        assert_eq!(without_in_json(text), text);
    }
}

#[test]
fn numbers_and_words_are_not_masked_for_programs() {
    learn("1234567812345678");
    learn("wordlike");
    let text = r#"{"wordlike":1234567812345678,"b":"1234567812345678"}"#;
    assert_eq!(without_in_json(text), r#"{"wordlike":1234567812345678,"b":"***"}"#);
    assert_eq!(without("wordlike"), "***");
}

#[test]
fn overlapping_secrets_leave_nothing_of_either() {
    learn("overlapping-1-first");
    learn("1-first-and-second");
    learn("overlapping-1-first-and-second-whole");
    assert_eq!(without("<overlapping-1-first-and-second>"), "<***>");
    assert_eq!(without("<overlapping-1-first-and-second-whole>"), "<***>");
}

#[test]
fn a_partial_secret_at_the_end_is_masked() {
    learn("unfinished-token-1");
    let unfinished = |text| masked_unfinished(text, ["unfinished-of-others"].into_iter()).into_owned();
    assert_eq!(unfinished("got unfinished-tok"), "got ***");
    assert_eq!(unfinished("got unfinished-of-o"), "got ***");
    assert_eq!(unfinished("got unfini"), "got unfini");
    assert_eq!(unfinished("got unfinished-token-1"), "got ***");
}
