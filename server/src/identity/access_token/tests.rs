//! What is read from a token before its signature is verified. `serve_identities` in `tests/` tries whole tokens.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn token(header: &serde_json::Value) -> String {
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}.{}", part(&header.to_string()), part("{}"), part("signature"))
}

#[test]
fn a_header_is_read_strictly() {
    let header = |value: &serde_json::Value| super::header(&token(value)).map(|header| header.alg);
    for right in [json!(null), json!("JWT"), json!("at+jwt"), json!("application/AT+JWT")] {
        assert_eq!(header(&json!({ "alg": "ES256", "typ": right })).as_deref(), Ok("ES256"), "{right}");
    }
    assert_eq!(header(&json!({ "alg": "ES256", "typ": "secevent+jwt" })), Err(InvalidToken::Type));
    assert_eq!(header(&json!({ "alg": "ES256", "crit": [] })), Err(InvalidToken::Critical));
    assert_eq!(header(&json!({ "alg": 1 })), Err(InvalidToken::Malformed));
    let repeated = r#"{"alg":"none","alg":"ES256"}"#;
    let repeated = format!("{}.e30.eA", URL_SAFE_NO_PAD.encode(repeated));
    assert_eq!(super::header(&repeated).err(), Some(InvalidToken::Malformed));
    let claims = format!(
        "{}.{}.eA",
        URL_SAFE_NO_PAD.encode(r#"{"alg":"ES256"}"#),
        URL_SAFE_NO_PAD.encode(r#"{"a":1,"a":2}"#)
    );
    assert_eq!(super::header(&claims).err(), Some(InvalidToken::Malformed));
}

#[test]
fn scopes_are_read_in_each_form() {
    let read = |value: serde_json::Value| serde_json::from_value::<Scopes>(value).unwrap().names();
    assert_eq!(read(json!("a  b:c ")), ["a", "b:c"]);
    assert_eq!(read(json!(["a", "b c"])), ["a", "b c"]);
    assert!(read(json!("")).is_empty());
}

#[test]
fn reasons_fit_a_header() {
    for reason in [InvalidToken::TooLong, InvalidToken::Unknown, InvalidToken::Claim, InvalidToken::Subject] {
        let text = reason.to_string();
        assert!(
            text.bytes().all(|byte| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\'),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in ".*", parts in prop::collection::vec("[A-Za-z0-9_=-]{0,40}", 0..5)) {
        let _ = super::header(&text);
        let _ = super::header(&parts.join("."));
    }
}
