//! Checks a client's message before the protocol library reads it, and keeps the arguments of a call as sent.
//!
//! The library parses messages into values: of a repeated name it keeps the last, and it rounds numbers to doubles. So
//! this module refuses repeated names, over stdio and HTTP alike, and passes a call's arguments next to the message in
//! their canonical form. That form is shown, checked, logged and sent.

use std::borrow::Cow;

use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, Extensions};
use serde::{Deserialize, Deserializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::handshake;

/// Maximum number of values in a message: strings, numbers, literals, lists, objects, and names of members. Read as
/// values, they take up to 32 MiB, eight times the length of the longest message.
const MAX_VALUES: usize = 200_000;

/// The arguments of a call as its client sent them, in their canonical form.
#[derive(Debug, Clone)]
pub(crate) struct SentArguments(Box<RawValue>);

/// The JSON-RPC error response to a refused message.
#[derive(Debug)]
pub(crate) struct RejectedMessage(String);

impl RejectedMessage {
    /// A response to the request with this id, if that is certain.
    fn new(id: &Value, error: &ErrorData) -> Self {
        RejectedMessage(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string())
    }

    /// A response to a message in which no request could be read.
    pub(crate) fn unaddressed(message: impl Into<String>) -> Self {
        Self::new(&Value::Null, &ErrorData::invalid_request(message.into(), None))
    }

    /// A response to a request whose id an unanswered one of the session has.
    pub(crate) fn with_id_in_use(id: &Value) -> Self {
        let message = format!(
            "a request with the id {id} is not answered yet; give each request of a session an id of its own"
        );
        Self::new(id, &ErrorData::invalid_request(message, None))
    }

    /// The response.
    pub(crate) fn into_answer(self) -> String {
        self.0
    }
}

/// The outermost members of a message; their values are not parsed.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Distinguishes `null` from a missing member.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl Outline<'_> {
    /// The id of the request, if it is valid: a string or an integer.
    fn request_id(&self) -> Value {
        let scalar = self.id.filter(|id| !id.get().starts_with(['[', '{']));
        let id: Option<Value> = scalar.and_then(|id| serde_json::from_str(id.get()).ok());
        id.filter(|id| id.is_string() || id.is_i64() || id.is_u64()).unwrap_or_default()
    }

    /// Whether the client expects a response: not to a response, which may be an echo, nor to a notification.
    fn is_awaited(&self) -> bool {
        let is_answer = self.method.is_none() && (self.result.is_some() || self.error.is_some());
        !is_answer && (self.method.is_none() || self.id.is_some())
    }
}

/// Checks the text of one message. A text that is not a message is left to the library, which reports it.
///
/// # Errors
/// The response to a message that two readers would interpret differently, to one that is expensive to read, and to a
/// malformed `initialize`.
pub(crate) fn check(text: &str) -> Result<Option<SentArguments>, RejectedMessage> {
    if values(text) > MAX_VALUES {
        return Err(RejectedMessage::unaddressed(format!("a message has at most {MAX_VALUES} JSON values")));
    }
    let outline: Option<Outline<'_>> = serde_json::from_str(text).ok();
    // A batch is read as a list of members.
    let id = outline.as_ref().filter(|_| text.trim_start().starts_with('{')).and_then(|outline| outline.id);
    if id.is_some_and(|id| id.get().starts_with(['[', '{'])) {
        return Err(RejectedMessage::unaddressed("the id of a message is a string or an integer"));
    }
    let request = outline.filter(|outline| outline.method.is_some());
    let id = request.as_ref().map(Outline::request_id).unwrap_or_default();
    if let Err(repeated) = strict_json::check_names(text) {
        let message = format!("the message is ambiguous: {repeated}");
        return Err(RejectedMessage::new(&id, &ErrorData::invalid_request(message, None)));
    }
    let method = request.as_ref().and_then(|request| request.method);
    let method = method.and_then(|method| serde_json::from_str::<Cow<'_, str>>(method.get()).ok());
    if method.as_deref() == Some("initialize")
        && !id.is_null()
        && let Some(fault) = handshake::fault(request.as_ref().and_then(|request| request.params))
    {
        let message = format!("initialize is malformed: {fault}");
        return Err(RejectedMessage::new(&id, &ErrorData::invalid_params(message, None)));
    }
    let call = request.filter(|_| method.as_deref() == Some("tools/call"));
    let Some(arguments) = call.and_then(|call| call.params).and_then(arguments_of) else { return Ok(None) };
    match strict_json::canonical_object(arguments) {
        Ok(arguments) => Ok(Some(SentArguments(arguments))),
        Err(wrong) => Err(RejectedMessage::new(&id, &unfit(&wrong))),
    }
}

/// The number of values in a JSON text, at most one too many for each empty list and object.
fn values(text: &str) -> usize {
    let (mut count, mut is_string, mut is_escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b',' | b':' | b'[' | b'{' => count += usize::from(!is_string),
            _ => {}
        }
    }
    count
}

/// The response to a text that the library can't parse as a message, and whether the client expects one.
pub(crate) fn unreadable(text: &str) -> (RejectedMessage, bool) {
    let read: Result<&RawValue, _> = serde_json::from_str(text);
    if let Err(error) = read {
        let message = format!("the message is not JSON: {error}");
        return (RejectedMessage::new(&Value::Null, &ErrorData::parse_error(message, None)), true);
    }
    let refused = |id: &Value, why: &str| {
        let message = format!("not a valid MCP message: {why}");
        RejectedMessage::new(id, &ErrorData::invalid_request(message, None))
    };
    let Ok(outline) = serde_json::from_str::<Outline<'_>>(text) else {
        let why = if text.trim_start().starts_with('[') {
            "batches are not supported; send each message separately"
        } else {
            "it is not an object, or repeats a member"
        };
        return (refused(&Value::Null, why), true);
    };
    let id = outline.request_id();
    let cause = serde_json::from_str::<ClientJsonRpcMessage>(text).err().map(|error| error.to_string());
    let why = match (&outline.id, &outline.method) {
        (Some(_), Some(_)) if id.is_null() => "`id` must be a string or an integer".to_owned(),
        (_, Some(method)) if serde_json::from_str::<String>(method.get()).is_err() => {
            "`method` must be a valid Unicode string".to_owned()
        }
        (_, None) => "it has no `method`".to_owned(),
        _ => cause.unwrap_or_else(|| "its form is invalid".to_owned()),
    };
    (refused(&id, &why), outline.is_awaited())
}

/// The arguments of a call: as the client sent them, or, for a client within this process, the given value.
///
/// # Errors
/// If they have no canonical form.
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
    fn arguments_are_passed_on_as_they_were_sent() {
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
    fn messages_with_repeated_names_are_refused_with_their_id() {
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
    fn ambiguous_arguments_are_refused() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        for (arguments, says) in [
            (r#"{"a":1e400}"#, "out of range"),
            (r#"{"a":"\ud800"}"#, "surrogate"),
            (&deep, "deeper"),
            ("[]", "not an object"),
        ] {
            let refusal = check(&call("1", arguments)).unwrap_err();
            let answer: Value = serde_json::from_str(&refusal.into_answer()).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32_602)));
            assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{answer}");
        }
    }

    #[test]
    fn invalid_messages_are_refused_with_their_id() {
        for (text, id, code, is_awaited) in [
            ("{", Value::Null, -32_700, true),
            ("nonsense", Value::Null, -32_700, true),
            ("7", Value::Null, -32_600, true),
            ("{}", Value::Null, -32_600, true),
            ("[]", Value::Null, -32_600, true),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null, -32_600, true),
            (r#"{"jsonrpc":"2.0","id":1}"#, json!(1), -32_600, true),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, json!(1), -32_600, true),
            (r#"{"id":"a","method":"ping"}"#, json!("a"), -32_600, true),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, json!(1), -32_600, true),
            (r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, json!(1), -32_600, true),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\ud800"}}"#,
                json!(1),
                -32_600,
                true,
            ),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null, -32_600, true),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null, -32_600, true),
            (r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#, Value::Null, -32_600, false),
            (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, json!(1), -32_600, false),
            (r#"{"id":1,"error":7}"#, json!(1), -32_600, false),
        ] {
            assert!(serde_json::from_str::<ClientJsonRpcMessage>(text).is_err(), "{text}");
            assert!(check(text).unwrap().is_none(), "{text}");
            let (refusal, awaited) = unreadable(text);
            let answer: Value = serde_json::from_str(&refusal.into_answer()).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{text}: {answer}");
            assert_eq!(awaited, is_awaited, "{text}");
        }
    }

    #[test]
    fn messages_that_are_expensive_to_read_are_refused() {
        let numbers = |count: usize| vec!["1"; count].join(",");
        let id = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        for (text, says) in [
            (id("{\"a\":1}"), "the id of a message is a string or an integer"),
            (id(" [[1]]"), "the id of a message is a string or an integer"),
            (id(&format!("[{}]", numbers(1_000_000))), "a message has at most 200000 JSON values"),
            (call("1", &format!("{{\"a\":[{}]}}", numbers(MAX_VALUES))), "at most 200000 JSON values"),
        ] {
            let refusal = check(&text).unwrap_err();
            let answer: Value = serde_json::from_str(&refusal.into_answer()).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32_600)));
            assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{answer}");
        }
        assert!(check(&call("1", &format!("{{\"a\":[{}]}}", numbers(MAX_VALUES - 100)))).unwrap().is_some());
        let text = r#"{"a": ["[,:{\\\"", 1, {}], "b": null}"#;
        assert_eq!(
            values(text),
            9,
            "the object, two names, a list, three items, one of them empty, and null"
        );
    }

    #[test]
    fn only_calls_have_arguments() {
        for text in
            ["", "7", "{", "[]", r#"{"id":1,"method":"ping"}"#, r#"{"id":1,"result":{"arguments":{}}}"#]
        {
            assert!(check(text).unwrap().is_none(), "{text}");
        }
        assert!(check(&call("1", "null")).unwrap().is_none());
    }
}
