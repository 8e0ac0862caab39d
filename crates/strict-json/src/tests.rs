use std::borrow::Cow;

use serde_json::{Value, json};

use super::*;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn form(text: &str) -> Result<String, String> {
    canonical_object(&raw(text)).map(|form| form.get().to_owned()).map_err(|error| error.to_string())
}

fn nested(levels: usize) -> String {
    format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels))
}

#[test]
fn the_canonical_form_has_the_same_values_in_the_same_order() {
    for (text, expected) in [
        ("{ }", "{}"),
        ("{ \"b\" :\n[ { } , [ ] , null ],\t\"a\":true }", r#"{"b":[{},[],null],"a":true}"#),
        (
            r#"{"p\u0061th":"\u002fetc\/x \u00e9\ud83d\ude00\n\u0000\u007f"}"#,
            "{\"path\":\"/etc/x é😀\\n\\u0000\u{7f}\"}",
        ),
        (
            r#"{"a":{"x":1},"b":{"x":1},"x":[{"x":1},{"x":2}]}"#,
            r#"{"a":{"x":1},"b":{"x":1},"x":[{"x":1},{"x":2}]}"#,
        ),
    ] {
        assert_eq!(form(text).as_deref(), Ok(expected), "{text}");
    }
    assert_eq!(form(&nested(DEPTH_LIMIT)), Ok(nested(DEPTH_LIMIT)));
}

#[test]
fn numbers_keep_their_text() {
    for number in [
        "0",
        "-0",
        "-0.0",
        "1.0",
        "1",
        "1E5",
        "1e+05",
        "9007199254740993",
        "9007199254740993.0",
        "9.007199254740993e15",
        "18446744073709551616",
        "123456789012345678901234567890",
        "1e308",
        "-1.7976931348623157e308",
        "1e-400",
        "0.1000000000000000055511151231257827",
    ] {
        let text = format!("{{\"n\":[{number}]}}");
        assert_eq!(form(&text), Ok(text.clone()));
        assert!(lines(&raw(&text), 1_000).text.contains(&format!("    {number}\n")), "{number}");
    }
}

/// A double holds numbers of up to 309 digits before the point, and any number of them behind it.
#[test]
fn the_range_of_a_number_does_not_depend_on_its_length() {
    let zeros = |count: usize| "0".repeat(count);
    for (number, is_in_range) in [
        (format!("1{}", zeros(298)), true),
        (format!("1{}", zeros(299)), true),
        (format!("1{}", zeros(300)), true),
        (format!("1{}", zeros(308)), true),
        (format!("-1{}", zeros(308)), true),
        (format!("2{}", zeros(308)), false),
        (format!("1{}", zeros(309)), false),
        (format!("-1{}", zeros(309)), false),
        (format!("1{}", zeros(349)), false),
        (format!("1{}", zeros(399)), false),
        (format!("0.{}1", zeros(349)), true),
        (format!("{}.5", "9".repeat(305)), true),
        (format!("1{}e-1", zeros(309)), true),
        ("1e308".to_owned(), true),
        ("1e309".to_owned(), false),
        (format!("0.{}1e700", zeros(395)), true),
    ] {
        let text = format!("{{\"n\":{number}}}");
        match form(&text) {
            Ok(same) => assert!(is_in_range && same == text, "{number}"),
            Err(why) => assert!(!is_in_range && why.contains("out of range"), "{number}: {why}"),
        }
    }
}

#[test]
fn changed_numbers_are_detected() {
    for (text, keeps) in [
        (r#"{"a":[1,-1,18446744073709551615,1.5,"1e5"]}"#, true),
        (r#"{"a":1e5}"#, false),
        (r#"{"a":[[18446744073709551616]]}"#, false),
        (r#"{"a":9007199254740993.0}"#, false),
        (r#"{"a":-0}"#, false),
    ] {
        assert_eq!(keeps_numbers(&raw(text)), keeps, "{text}");
    }
}

#[test]
fn numbers_keep_their_text_through_a_value() {
    for text in [
        r#"{"a":[1,18446744073709551616,-0,1.50,1e5,1E400,0.1,"x"],"b":{"c":9007199254740993.0}}"#,
        "1e400",
        "[\"1e400\",1e400]",
        r#"{"a":"no numbers"}"#,
    ] {
        let value = value_with_numbers(&raw(text)).unwrap();
        assert_eq!(with_numbers(&value.to_string()), text);
        // Restored in a nested JSON string as well.
        let within = json!({ "text": value.to_string() }).to_string();
        let read: Value = serde_json::from_str(&with_numbers(&within)).unwrap();
        assert_eq!(read["text"], text);
    }
}

#[test]
fn numbers_are_restored_wherever_the_text_is_cut() {
    let value =
        value_with_numbers(&raw(r#"{"a":[1e400,-0.0,"é\\"],"b":123456789012345678901234567890}"#)).unwrap();
    let within = json!({ "text": value.to_string(), "n": [1, "number"] }).to_string();
    for written in [value.to_string(), within.clone(), json!([within, value]).to_string()] {
        let whole = with_numbers(&written);
        assert!(whole.len() < written.len());
        for cut in 0..=written.len() {
            for further in [cut, (cut + 5).min(written.len()), written.len()] {
                let mut pieces = Pieces::default();
                let mut out = Vec::new();
                for piece in [0..cut, cut..further, further..written.len()] {
                    out.extend_from_slice(&pieces.push(&written.as_bytes()[piece]));
                }
                out.extend(pieces.end());
                assert_eq!(std::str::from_utf8(&out), Ok(&*whole), "cut at {cut} and {further}");
            }
        }
        let mut pieces = Pieces::default();
        let mut out: Vec<u8> = written.bytes().flat_map(|byte| pieces.push(&[byte]).into_owned()).collect();
        out.extend(pieces.end());
        assert_eq!(std::str::from_utf8(&out), Ok(&*whole), "a byte at a time");
    }
}

#[test]
fn pieces_hold_back_little() {
    let mut pieces = Pieces::default();
    let message = "data: {\"a\":\"number\"}\n\n";
    assert!(matches!(pieces.push(message.as_bytes()), Cow::Borrowed(piece) if piece == message.as_bytes()));
    assert_eq!(pieces.push(b"{\"a\":[1,\""), &b"{\"a\":[1,"[..]);
    assert_eq!(pieces.push(b"\xff\xfe"), &b"\"\xff\xfe"[..], "text that is not UTF-8 is unchanged");
    assert_eq!(pieces.push(b"a \xc3"), &b"a "[..]);
    assert_eq!(pieces.end(), b"\xc3");
    assert_eq!(pieces.end(), b"");
}

#[test]
fn ambiguous_values_are_refused() {
    let long = format!("{{\"a\":1{}}}", "0".repeat(400));
    for (text, says) in [
        ("[]", "not an object"),
        ("\"{}\"", "not an object"),
        (
            r#"{"path":"/etc","path":"/tmp"}"#,
            "the name \"path\" appears twice in one object at line 1 column 16",
        ),
        (r#"{"path":"/etc","p\u0061th":"/tmp"}"#, "\"path\" appears twice"),
        (r#"{"a":[1,{"b":{"x":1,"y":2,"x":3}}]}"#, "\"x\" appears twice"),
        ("{\"a\":1,\n \"a\":1}", "line 2 column 2"),
        (r#"{"":1,"":2}"#, "\"\" appears twice"),
        (r#"{"\ud83d\ude00":1,"😀":2}"#, "appears twice"),
        (r#"{"a":"\ud800"}"#, "surrogate"),
        (r#"{"\udc00":1}"#, "surrogate"),
        (r#"{"a":1e400}"#, "out of range"),
        (r#"{"a":[-1E999]}"#, "out of range"),
        (&long, "out of range"),
        (&nested(DEPTH_LIMIT + 1), "deeper than 100"),
        (&nested(1_000_000), "deeper than 100"),
        (&format!("{{\"a\":{}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000)), "deeper than 100"),
    ] {
        let reason = form(text).unwrap_err();
        assert!(reason.contains(says), "{says}: {reason}");
        assert!(check_object(&raw(text)).is_err());
    }
}

/// Unicode is not normalized: readers compare characters (RFC 8259, section 8.3).
#[test]
fn names_in_two_unicode_forms_are_two_names() {
    let text = "{\"\u{e9}\":1,\"e\u{301}\":2}";
    assert_eq!(form(text), Ok(text.to_owned()));
}

#[test]
fn many_names_are_accepted_and_too_many_refused() {
    let object = |count: usize, last: &str| {
        let members: String = (0..count).map(|number| format!("\"{number}\":0,")).collect();
        format!("{{{members}\"{last}\":0}}")
    };
    let text = object(50_000, "x");
    assert_eq!(form(&text), Ok(text));
    assert!(form(&object(50_000, "31415")).unwrap_err().contains("\"31415\" appears twice"));
    assert!(form(&object(OPEN_NAMES_LIMIT, "x")).unwrap_err().contains("more than 1048576 members"));
}

#[test]
fn message_names_are_checked_in_any_text() {
    for text in
        ["", "7", "{", "]]", "{\"a\"", r#"{"a":"\ud800","b":1e999}"#, "{\"a\":}", "\"", "\"\\", "é", "{,,:}"]
    {
        assert_eq!(check_names(text), Ok(()), "{text}");
    }
    let error = check_names("{\"id\":1,\n\"id\":2}").unwrap_err();
    assert_eq!((error.line(), error.column()), (2, 1));
    assert!(from_str::<Value>(r#"{"a":{"b":1,"b":2}}"#).is_err());
    assert_eq!(from_str::<Value>(r#"{"a":[1]}"#), Ok(json!({ "a": [1] })));
    assert!(from_slice::<Value>(b"{\"a\":\"\xff\"}").unwrap_err().to_string().contains("UTF-8"));
    assert!(check_names(&"[".repeat(MESSAGE_DEPTH_LIMIT + 1)).is_err());
}

#[test]
fn lines_match_serde_json_and_stop_at_the_limit() {
    let value = json!({ "a": [1, { "b": [] }, "x\n"], "c": {}, "d": { "e": null } });
    let shown = lines(&raw(&value.to_string()), 10_000);
    assert_eq!(shown, Lines { text: serde_json::to_string_pretty(&value).unwrap(), is_cut: false });
    let deep = format!("{}{}0{}", "[".repeat(90), "0,".repeat(1_000_000), "]".repeat(90));
    let shown = lines(&raw(&deep), 5_000);
    assert!(shown.is_cut && shown.text.len() < 6_000);
}
