//! What a client's message must be before the protocol library reads it, and the arguments of a call as they came.
//!
//! The library reads a message into values: of a repeated name it keeps the last, and of a number what a double holds.
//! So repeated names are refused here, for pipes and for HTTP alike, and a call's arguments travel beside the message
//! in their canonical form, which is what is shown, checked, written down and sent.

use std::borrow::Cow;

use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, Extensions};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// The arguments of a call as its client sent them, in their canonical form.
#[derive(Debug, Clone)]
pub(crate) struct SentArguments(Box<RawValue>);

/// What is answered in place of a message that is not taken, as JSON-RPC has it.
#[derive(Debug)]
pub(crate) struct Refusal(String);

impl Refusal {
    /// To the request with this id, where that is certain.
    fn new(id: &Value, error: &ErrorData) -> Self {
        Refusal(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string())
    }

    /// To a message that no request was read in.
    pub(crate) fn unaddressed(message: impl Into<String>) -> Self {
        Self::new(&Value::Null, &ErrorData::invalid_request(message.into(), None))
    }

    /// The answer.
    pub(crate) fn into_answer(self) -> String {
        self.0
    }
}

/// What is looked at of a message.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
}

/// Checks the text of one message. What is no message is left to the library, which says so.
///
/// # Errors
/// What is answered in place of a message that two readers would understand differently.
pub(crate) fn check(text: &str) -> Result<Option<SentArguments>, Refusal> {
    let envelope: Option<Envelope<'_>> = serde_json::from_str(text).ok();
    let request = envelope.filter(|envelope| envelope.method.is_some());
    let id = request.as_ref().and_then(|request| request.id.clone()).unwrap_or_default();
    if let Err(repeated) = strict_json::check_names(text) {
        let message = format!("the message means different things to different readers: {repeated}");
        return Err(Refusal::new(&id, &ErrorData::invalid_request(message, None)));
    }
    let call = request.filter(|request| request.method.as_deref() == Some("tools/call"));
    let Some(arguments) = call.and_then(|call| call.params).and_then(arguments_of) else { return Ok(None) };
    match strict_json::canonical_object(arguments) {
        Ok(arguments) => Ok(Some(SentArguments(arguments))),
        Err(wrong) => Err(Refusal::new(&id, &unfit(&wrong))),
    }
}

/// The answer to a message that the library can't read, where it is a request.
pub(crate) fn unreadable(text: &str, error: &serde_json::Error) -> Option<Refusal> {
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    let message = format!("the message is none of the protocol's: {error}");
    envelope.id.map(|id| Refusal::new(&id, &ErrorData::invalid_request(message, None)))
}

/// The arguments of the call that a request is: as they were sent, or of a client within this process, as it gave them.
///
/// # Errors
/// Where they have no canonical form.
pub(crate) fn arguments(extensions: &Extensions, given: Option<&Value>) -> Result<Box<RawValue>, ErrorData> {
    let of_http = || extensions.get::<Parts>()?.extensions.get::<SentArguments>();
    if let Some(SentArguments(sent)) = extensions.get::<SentArguments>().or_else(of_http) {
        return Ok(sent.clone());
    }
    let raw = given.map_or_else(|| to_raw_value(&json!({})), to_raw_value);
    let raw = raw.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    strict_json::canonical_object(&raw).map_err(|wrong| unfit(&wrong))
}

fn unfit(wrong: &strict_json::Error) -> ErrorData {
    ErrorData::new(ErrorCode::INVALID_PARAMS, format!("params.arguments can't be sent: {wrong}"), None)
}

/// The member `arguments` of parameters.
fn arguments_of(parameters: &RawValue) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Parameters<'a> {
        #[serde(default, borrow)]
        arguments: Option<&'a RawValue>,
    }
    serde_json::from_str::<Parameters<'_>>(parameters.get()).ok()?.arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, arguments: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
        )
    }

    #[test]
    fn arguments_travel_beside_the_message_as_they_were_sent() {
        let sent = check(&call("1", r#"{ "n": 9007199254740993.0, "p\u0061th": -0 }"#)).unwrap().unwrap();
        let mut extensions = Extensions::new();
        extensions.insert(sent.clone());
        let form = r#"{"n":9007199254740993.0,"path":-0}"#;
        assert_eq!(arguments(&extensions, Some(&json!({ "n": 7 }))).unwrap().get(), form);
        let mut parts = axum::http::Request::new(()).into_parts().0;
        parts.extensions.insert(sent);
        let mut extensions = Extensions::new();
        extensions.insert(parts);
        assert_eq!(arguments(&extensions, None).unwrap().get(), form);
        assert_eq!(arguments(&Extensions::new(), Some(&json!({ "n": 7 }))).unwrap().get(), r#"{"n":7}"#);
        assert_eq!(arguments(&Extensions::new(), None).unwrap().get(), "{}");
        assert!(arguments(&Extensions::new(), Some(&json!([]))).is_err());
    }

    #[test]
    fn messages_that_name_something_twice_are_refused_with_their_id() {
        for (text, id) in [
            (call("7", r#"{"path":"/etc","path":"/tmp"}"#), json!(7)),
            (call("\"a\"", r#"{"a":[{"b":1,"\u0062":2}]}"#), json!("a")),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#.to_owned(), Value::Null),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/call"}"#.to_owned(),
                Value::Null,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}"#.to_owned(), Value::Null),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"x":1,"x":2}}}"#.to_owned(),
                json!(1),
            ),
            (r#"{"id":1,"result":{"action":"accept","action":"decline"}}"#.to_owned(), Value::Null),
            (r#"[{"id":1,"id":2}]"#.to_owned(), Value::Null),
        ] {
            let refusal = check(&text).unwrap_err();
            let answer: Value = serde_json::from_str(&refusal.into_answer()).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32_600)), "{text}");
            assert!(answer["error"]["message"].as_str().unwrap().contains("twice"), "{answer}");
        }
    }

    #[test]
    fn arguments_that_no_reader_agrees_on_are_refused() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        for (arguments, says) in [
            (r#"{"a":1e400}"#, "out of range"),
            (r#"{"a":"\ud800"}"#, "surrogate"),
            (&deep, "deeper"),
            ("[]", "no object"),
        ] {
            let refusal = check(&call("1", arguments)).unwrap_err();
            let answer: Value = serde_json::from_str(&refusal.into_answer()).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32_602)));
            assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{answer}");
        }
    }

    #[test]
    fn what_is_no_call_brings_no_arguments() {
        for text in
            ["", "7", "{", "[]", r#"{"id":1,"method":"ping"}"#, r#"{"id":1,"result":{"arguments":{}}}"#]
        {
            assert!(check(text).unwrap().is_none(), "{text}");
        }
        assert!(check(&call("1", "null")).unwrap().is_none());
    }
}
