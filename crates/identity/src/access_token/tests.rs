//! The decision about whole tokens, one condition per row, and how the parts of a token are read.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use axum::routing::get;
use proptest::prelude::*;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Map, Value, json};
use terminal::Terminal;
use tokio::net::TcpListener;

use super::*;

const ISSUER: &str = "https://login.example.com";
const RESOURCE: &str = "https://tools.example.com/mcp";

/// The time by which a clock may be off, in seconds.
const TOLERANCE: i64 = 60;

/// Changes a token before it is signed (header and claims), or after.
enum Change {
    Header(&'static str, Value),
    Claim(&'static str, Value),
    Without(&'static str),
    /// Signed by a key that is not the issuer's.
    OtherKey,
    Signed(fn(&str) -> String),
}

use Change::{Claim, Header, OtherKey, Signed, Without};

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

fn key(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

/// A token that is valid, except for these changes.
fn changed(changes: &[Change]) -> String {
    let mut header = json!({ "alg": "EdDSA", "typ": "at+jwt", "kid": "a" });
    let mut claims = json!({
        "iss": ISSUER, "sub": "alice", "aud": RESOURCE, "exp": now() + 600, "iat": now(),
        "scope": "tools read", "jti": "t-1",
    });
    let (mut signer, mut after): (_, fn(&str) -> String) = (key(1), str::to_owned);
    let set = |value: &mut Value, name: &str, new: &Value| {
        let members: &mut Map<String, Value> = value.as_object_mut().unwrap();
        members.insert(name.to_owned(), new.clone());
    };
    for change in changes {
        match change {
            Header(name, value) => set(&mut header, name, value),
            Claim(name, value) => set(&mut claims, name, value),
            Without(name) => drop(claims.as_object_mut().unwrap().remove(*name)),
            OtherKey => signer = key(2),
            Signed(change) => after = *change,
        }
    }
    let part = |text: &[u8]| URL_SAFE_NO_PAD.encode(text);
    let message = format!("{}.{}", part(header.to_string().as_bytes()), part(claims.to_string().as_bytes()));
    let signature = part(signer.sign(message.as_bytes()).as_ref());
    after(&format!("{message}.{signature}"))
}

/// The issuer's keys, as it publishes them on a loopback address.
async fn issuer(key_id: Option<&str>) -> (Auth, IssuerKeys) {
    let mut jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(key(1).public_key()) });
    if let Some(id) = key_id {
        jwk["kid"] = json!(id);
    }
    let document = json!({ "keys": [jwk] }).to_string();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/keys", listener.local_addr().unwrap());
    let routes = axum::Router::new().route("/keys", get(async move || document));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    let auth = Auth {
        jwks: Some(address),
        issuer: ISSUER.to_owned(),
        resource: RESOURCE.to_owned(),
        audiences: None,
        algorithms: vec![SignatureAlgorithm::EdDSA],
        clock_tolerance: TOLERANCE.unsigned_abs(),
        required_scopes: None,
        scopes: None,
    };
    (auth, IssuerKeys::new(Terminal::new(true, false).notifier()))
}

/// Checks a valid token with these changes; a valid token has this subject.
async fn checked(auth: &Auth, keys: &IssuerKeys, changes: &[Change]) -> Result<String, InvalidToken> {
    match check(&changed(changes), auth, keys).await {
        Ok(identity) => Ok(identity.subject.name().to_owned()),
        Err(CheckError::Invalid(why)) => Err(why),
        Err(CheckError::Keys(why)) => panic!("{why}"),
    }
}

#[tokio::test]
async fn a_valid_token_names_its_subject_its_scopes_and_its_id() {
    let (auth, keys) = issuer(Some("a")).await;
    let scopes = ["tools", "read"].map(str::to_owned).into();
    let expected = Identity::issued(ISSUER, "alice".to_owned(), scopes, Some("t-1".to_owned()));
    assert_eq!(check(&changed(&[]), &auth, &keys).await, Ok(expected));
}

#[tokio::test]
async fn each_condition_on_a_token_counts() {
    let (auth, keys) = issuer(Some("a")).await;
    let (soon, far) = (now() + TOLERANCE / 2, now() + 10 * TOLERANCE);
    let (lately, long_ago) = (now() - TOLERANCE / 2, now() - 10 * TOLERANCE);
    let alice = || Ok("alice".to_owned());
    let name = |length: usize| json!("n".repeat(length));
    let own = || json!({ "kty": "OKP", "crv": "Ed25519", "kid": "a", "x": URL_SAFE_NO_PAD.encode(key(2).public_key()) });
    let rows: Vec<(&str, Vec<Change>, Result<String, InvalidToken>)> = vec![
        ("valid", vec![], alice()),
        ("expired within the tolerance", vec![Claim("exp", json!(lately))], alice()),
        ("expired", vec![Claim("exp", json!(long_ago))], Err(InvalidToken::Expired)),
        ("without an expiry", vec![Without("exp")], Err(InvalidToken::Claim)),
        ("an expiry that is no number", vec![Claim("exp", json!("tomorrow"))], Err(InvalidToken::Claim)),
        ("not before, long ago", vec![Claim("nbf", json!(long_ago))], alice()),
        ("not before, within the tolerance", vec![Claim("nbf", json!(soon)), Without("iat")], alice()),
        ("not before, alone", vec![Claim("nbf", json!(far)), Without("iat")], Err(InvalidToken::NotYet)),
        ("issued long ago", vec![Claim("iat", json!(0))], alice()),
        ("issued within the tolerance", vec![Claim("iat", json!(soon))], alice()),
        ("issued in the future", vec![Claim("iat", json!(far))], Err(InvalidToken::NotYet)),
        ("issued far in the future", vec![Claim("iat", json!(1e300))], Err(InvalidToken::NotYet)),
        ("an issue that is no number", vec![Claim("iat", json!("now"))], Err(InvalidToken::Claim)),
        ("without a time of issue", vec![Without("iat")], alice()),
        ("another issuer", vec![Claim("iss", json!("https://other.example"))], Err(InvalidToken::Issuer)),
        ("a longer issuer", vec![Claim("iss", json!(format!("{ISSUER}/")))], Err(InvalidToken::Issuer)),
        ("issuers", vec![Claim("iss", json!([ISSUER]))], Err(InvalidToken::Claim)),
        ("without an issuer", vec![Without("iss")], Err(InvalidToken::Claim)),
        ("another audience", vec![Claim("aud", json!("https://other.example"))], Err(InvalidToken::Audience)),
        ("one of the audiences", vec![Claim("aud", json!(["https://other.example", RESOURCE]))], alice()),
        ("no audiences", vec![Claim("aud", json!([]))], Err(InvalidToken::Audience)),
        ("without an audience", vec![Without("aud")], Err(InvalidToken::Claim)),
        ("without a subject", vec![Without("sub")], Err(InvalidToken::Claim)),
        ("an empty subject", vec![Claim("sub", json!(""))], Err(InvalidToken::Subject)),
        ("the longest subject", vec![Claim("sub", name(MAX_NAME))], Ok("n".repeat(MAX_NAME))),
        ("a longer subject", vec![Claim("sub", name(MAX_NAME + 1))], Err(InvalidToken::Subject)),
        ("a subject with a line end", vec![Claim("sub", json!("a\nb"))], Err(InvalidToken::Subject)),
        ("no signature algorithm", vec![Header("alg", json!("none"))], Err(InvalidToken::Algorithm)),
        ("a shared secret", vec![Header("alg", json!("HS256"))], Err(InvalidToken::Algorithm)),
        (
            "an algorithm that is not configured",
            vec![Header("alg", json!("ES256"))],
            Err(InvalidToken::Algorithm),
        ),
        ("an algorithm in another case", vec![Header("alg", json!("eddsa"))], Err(InvalidToken::Algorithm)),
        ("an unknown key", vec![Header("kid", json!("b"))], Err(InvalidToken::Key)),
        ("a long key id", vec![Header("kid", name(MAX_NAME + 1))], Err(InvalidToken::Key)),
        ("without a key id", vec![Header("kid", json!(null))], alice()),
        ("a key that is no text", vec![Header("kid", json!(["a"]))], Err(InvalidToken::Malformed)),
        ("another key", vec![OtherKey], Err(InvalidToken::Signature)),
        ("its own key in the header", vec![OtherKey, Header("jwk", own())], Err(InvalidToken::Signature)),
        (
            "the address of its own keys",
            vec![
                OtherKey,
                Header("jku", json!("http://127.0.0.1:9/keys")),
                Header("x5u", json!("http://127.0.0.1:9/")),
            ],
            Err(InvalidToken::Signature),
        ),
        (
            "an extension",
            vec![Header("crit", json!(["b64"])), Header("b64", json!(false))],
            Err(InvalidToken::Critical),
        ),
        ("an identity token's type", vec![Header("typ", json!("JWT"))], alice()),
        ("another type", vec![Header("typ", json!("logout+jwt"))], Err(InvalidToken::Type)),
        (
            "no signature",
            vec![Signed(|token| token.rsplit_once('.').unwrap().0.to_owned() + ".")],
            Err(InvalidToken::Signature),
        ),
        (
            "two parts",
            vec![Signed(|token| token.rsplit_once('.').unwrap().0.to_owned())],
            Err(InvalidToken::Unknown),
        ),
        ("four parts", vec![Signed(|token| format!("{token}.e30"))], Err(InvalidToken::Unknown)),
        (
            "other claims under the same signature",
            vec![Signed(|token| {
                let parts: Vec<&str> = token.split('.').collect();
                let other = changed(&[Claim("sub", json!("bob"))]);
                format!("{}.{}.{}", parts[0], other.split('.').nth(1).unwrap(), parts[2])
            })],
            Err(InvalidToken::Signature),
        ),
        (
            "a token in a token",
            vec![Signed(|token| {
                let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"EdDSA","kid":"a","cty":"JWT"}"#);
                let message = format!("{header}.{}", URL_SAFE_NO_PAD.encode(token));
                format!("{message}.{}", URL_SAFE_NO_PAD.encode(key(1).sign(message.as_bytes())))
            })],
            Err(InvalidToken::Malformed),
        ),
        (
            "the most scopes",
            vec![Claim("scope", json!((0..MAX_SCOPES).map(|n| n.to_string()).collect::<Vec<_>>()))],
            alice(),
        ),
        (
            "more scopes",
            vec![Claim("scope", json!((0..=MAX_SCOPES).map(|n| n.to_string()).collect::<Vec<_>>()))],
            Err(InvalidToken::TooLong),
        ),
        ("long", vec![Claim("padding", json!("x".repeat(11_000)))], alice()),
        ("too long", vec![Claim("padding", json!("x".repeat(MAX_TOKEN)))], Err(InvalidToken::TooLong)),
    ];
    for (condition, changes, expected) in rows {
        assert_eq!(checked(&auth, &keys, &changes).await, expected, "{condition}");
    }
}

#[tokio::test]
async fn the_configuration_decides_which_audiences_and_algorithms_count() {
    let (auth, keys) = issuer(Some("a")).await;
    let other = Auth { audiences: Some(vec!["other".to_owned()]), ..auth.clone() };
    assert_eq!(checked(&other, &keys, &[Claim("aud", json!("other"))]).await.as_deref(), Ok("alice"));
    let other = Auth { algorithms: vec![SignatureAlgorithm::ES256], ..auth };
    assert_eq!(checked(&other, &keys, &[]).await, Err(InvalidToken::Algorithm));
}

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
    // A long key id does not cause a reading of the issuer's keys.
    let longest = json!({ "alg": "ES256", "kid": "k".repeat(MAX_NAME) });
    assert_eq!(header(&longest).as_deref(), Ok("ES256"));
    let longer = json!({ "alg": "ES256", "kid": "k".repeat(MAX_NAME + 1) });
    assert_eq!(header(&longer), Err(InvalidToken::Key));
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
