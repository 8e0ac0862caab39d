//! The trace context in `_meta` of requests: W3C Trace Context and Baggage under MCP's names.
//!
//! Malformed values are ignored, as the standards require: a client's mistake must not fail its request.

use serde_json::{Map, Value};

/// The names in `_meta`.
const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";
const BAGGAGE: &str = "baggage";

/// Maximum size of a forwarded `tracestate`, in bytes; the standard requires at least 512.
const TRACESTATE_BYTES: usize = 4096;

/// Maximum number of members of a `tracestate` (W3C Trace Context, 3.3.1.1).
const TRACESTATE_MEMBERS: usize = 32;

/// Limits on the bytes and members of a `baggage` (W3C Baggage, 3.3.2).
const BAGGAGE_BYTES: usize = 8192;
const BAGGAGE_MEMBERS: usize = 64;

/// The trace context of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceContext {
    pub(crate) traceparent: Option<String>,
    pub(crate) tracestate: Option<String>,
    pub(crate) baggage: Option<String>,
}

impl TraceContext {
    /// The context from a request's `_meta`; `None` if it has none, or none that is well-formed.
    pub fn parse(meta: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| meta.get(name).and_then(Value::as_str).map(str::trim);
        let traceparent = text(TRACEPARENT).filter(|text| is_traceparent(text));
        // A state without a parent has no meaning.
        let tracestate = text(TRACESTATE).filter(|text| traceparent.is_some() && is_tracestate(text));
        let baggage = text(BAGGAGE).filter(|text| is_baggage(text));
        let context = TraceContext {
            traceparent: traceparent.map(str::to_owned),
            tracestate: tracestate.map(str::to_owned),
            baggage: baggage.map(str::to_owned),
        };
        (context != TraceContext::default()).then_some(context)
    }

    /// The trace's id: the second field of `traceparent` (W3C Trace Context, 3.2).
    pub fn trace_id(&self) -> Option<&str> {
        self.traceparent.as_deref()?.split('-').nth(1)
    }

    /// The context as members of `_meta`.
    pub fn to_meta(&self) -> Map<String, Value> {
        let members =
            [(TRACEPARENT, &self.traceparent), (TRACESTATE, &self.tracestate), (BAGGAGE, &self.baggage)];
        let members = members.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        members.map(|(name, value)| (name.to_owned(), Value::from(value.as_str()))).collect()
    }
}

/// `version-trace-parent-flags` (W3C Trace Context, 3.2). Later versions may append fields after a dash.
fn is_traceparent(text: &str) -> bool {
    let mut fields = text.split('-');
    let mut field =
        |length: usize| fields.next().filter(|field| field.len() == length && is_hexadecimal(field));
    let (Some(version), Some(trace), Some(parent), Some(_flags)) = (field(2), field(32), field(16), field(2))
    else {
        return false;
    };
    let is_zero = |field: &str| field.bytes().all(|byte| byte == b'0');
    let has_more = fields.next().is_some();
    let is_known = match version {
        "00" => !has_more,
        "ff" => false,
        // Later versions are forwarded up to this size.
        _ => text.len() <= TRACESTATE_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic()),
    };
    is_known && !is_zero(trace) && !is_zero(parent)
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// `key=value` members (W3C Trace Context, 3.3.1).
fn is_tracestate(text: &str) -> bool {
    let members =
        || text.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|member| !member.is_empty());
    let is_member = |member: &str| {
        member.split_once('=').is_some_and(|(key, value)| is_state_key(key) && is_state_value(value))
    };
    text.len() <= TRACESTATE_BYTES
        && (1..=TRACESTATE_MEMBERS).contains(&members().count())
        && members().all(is_member)
}

fn is_state_key(key: &str) -> bool {
    let is_inner = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
    let begins = key.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    begins && key.len() <= 256 && key.bytes().all(is_inner) && key.matches('@').count() <= 1
}

fn is_state_value(value: &str) -> bool {
    let is_inner = |byte: u8| matches!(byte, 0x20..=0x7e) && !matches!(byte, b',' | b'=');
    (1..=256).contains(&value.len()) && value.bytes().all(is_inner)
}

/// `key=value;property` members (W3C Baggage, 3.3.1).
fn is_baggage(text: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_value = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\');
    let is_blank = [' ', '\t'];
    let is_member = |member: &str| {
        let pair = member.split(';').next().unwrap_or_default();
        pair.split_once('=').is_some_and(|(key, value)| {
            let (key, value) = (key.trim_matches(is_blank), value.trim_matches(is_blank));
            !key.is_empty() && key.bytes().all(is_token) && value.bytes().all(is_value)
        }) && member.bytes().all(|byte| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t'))
    };
    text.len() <= BAGGAGE_BYTES
        && text.split(',').count() <= BAGGAGE_MEMBERS
        && text.split(',').all(is_member)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn parse(meta: &Value) -> Option<Map<String, Value>> {
        TraceContext::parse(meta.as_object().unwrap()).map(|context| context.to_meta())
    }

    #[test]
    fn a_context_is_forwarded_unchanged() {
        let meta = json!({ "traceparent": PARENT, "tracestate": "rojo=00f067aa0ba902b7, t@v=a b", "baggage": "user=alice,a=b;p=1" });
        assert_eq!(parse(&meta).map(Value::Object), Some(meta));
        let more = json!({ "traceparent": PARENT, "progressToken": 1, "other": "x" });
        assert_eq!(parse(&more).map(Value::Object), Some(json!({ "traceparent": PARENT })));
        assert_eq!(parse(&json!({ "progressToken": 1 })), None);
        assert_eq!(parse(&json!({ "baggage": "a=b" })).map(Value::Object), Some(json!({ "baggage": "a=b" })));
    }

    #[test]
    fn a_malformed_parent_is_ignored() {
        let zero_trace = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
        for parent in [
            json!(7),
            json!(""),
            json!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"),
            json!(format!("{PARENT}-more")),
            json!(PARENT.to_uppercase()),
            json!(PARENT.replacen("00", "ff", 1)),
            json!(PARENT.replacen("00", "0g", 1)),
            json!(zero_trace),
            json!("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"),
            json!(format!("{PARENT}\r\nx: y")),
        ] {
            let meta = json!({ "traceparent": parent, "tracestate": "a=1" });
            assert_eq!(parse(&meta), None, "{meta}");
        }
        for later in [PARENT.replacen("00", "01", 1), format!("{}-more", PARENT.replacen("00", "cc", 1))] {
            assert!(parse(&json!({ "traceparent": later })).is_some(), "{later}");
        }
    }

    #[test]
    fn a_malformed_state_does_not_affect_the_parent() {
        let many = (0..33).map(|number| format!("k{number}=v")).collect::<Vec<_>>().join(",");
        let long = format!("a={}", "x".repeat(257));
        for state in ["", "a", "=v", "A=v", "a=", "a=b=c", "a=\u{e9}", "a@b@c=d", &many, &long] {
            let meta = json!({ "traceparent": PARENT, "tracestate": state });
            assert_eq!(parse(&meta).map(Value::Object), Some(json!({ "traceparent": PARENT })), "{state}");
        }
        for baggage in ["", "a", "=b", "a b=c", "a=\"b\"", "a=b\nc", "a=b,,c=d", &"a=b,".repeat(65)] {
            let meta = json!({ "traceparent": PARENT, "baggage": format!("x=y,{baggage}") });
            assert_eq!(parse(&meta).map(Value::Object), Some(json!({ "traceparent": PARENT })), "{baggage}");
        }
    }

    proptest! {
        #[test]
        fn accepted_contexts_are_printable_and_accepted_again(parent in ".{0,80}", state in ".{0,80}", baggage in ".{0,80}") {
            let meta = json!({ "traceparent": parent, "tracestate": state, "baggage": baggage });
            if let Some(accepted) = parse(&meta) {
                prop_assert_eq!(parse(&Value::Object(accepted.clone())), Some(accepted.clone()));
                for value in accepted.values().filter_map(Value::as_str) {
                    prop_assert!(value.bytes().all(|byte| matches!(byte, b'\t' | 0x20..=0x7e)), "{}", value);
                }
            }
        }
    }
}
