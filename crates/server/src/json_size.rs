//! The sizes of messages and of JSON that was read before: they decide whether work leaves the event loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::Value;
use system::event_loop::BRIEF;

/// The sizes of a request over HTTP and of its result, in bytes.
#[derive(Debug, Clone, Default)]
pub struct MessageSizes(Arc<Sizes>);

#[derive(Debug, Default)]
struct Sizes {
    request: usize,
    result: AtomicUsize,
}

impl MessageSizes {
    /// Sizes for a request with a body of this size, whose result is not known yet.
    pub(crate) fn of_body(request: usize) -> Self {
        MessageSizes(Arc::new(Sizes { request, result: AtomicUsize::default() }))
    }

    /// Sizes of a request; 0 if it did not come over HTTP.
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<Parts>();
        parts.and_then(|parts| parts.extensions.get::<Self>()).cloned().unwrap_or_default()
    }

    /// The size of the request.
    pub fn request(&self) -> usize {
        self.0.request
    }

    /// The size of the result that is to be sent; 0 before it is known.
    pub(crate) fn result(&self) -> usize {
        self.0.result.load(Ordering::Relaxed)
    }

    /// Notes the result that is to be sent, and returns its size.
    pub fn set_result(&self, result: &Value) -> usize {
        let bytes = of(result);
        self.0.result.store(bytes, Ordering::Relaxed);
        bytes
    }
}

/// The approximate size of a value as text. Counting stops when it is certain that the value is not brief.
pub fn of(value: &Value) -> usize {
    let mut bytes = 0;
    add(value, &mut bytes);
    bytes
}

fn add(value: &Value, bytes: &mut usize) {
    /// A number, a literal, or what surrounds members.
    const SHORT: usize = 4;
    *bytes += SHORT;
    match value {
        Value::String(text) => *bytes += text.len(),
        Value::Array(items) => {
            items.iter().try_for_each(|item| add_next(item, 0, bytes));
        }
        Value::Object(members) => {
            members.iter().try_for_each(|(name, member)| add_next(member, name.len(), bytes));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Adds a member with a name of this length; `None` if nothing more needs to be counted.
fn add_next(member: &Value, name: usize, bytes: &mut usize) -> Option<()> {
    *bytes += name;
    add(member, bytes);
    (*bytes <= BRIEF).then_some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_long_if_its_text_is() {
        let repeated = |value: Value, count| Value::Array(vec![value; count]);
        let long = [
            json!("x".repeat(BRIEF)),
            repeated(json!(1), BRIEF / 4),
            repeated(repeated(json!({ "name": null }), 100), BRIEF / 1_000),
            json!({ "x".repeat(BRIEF): 1 }),
        ];
        assert!(long.iter().all(|value| of(value) > BRIEF), "{:?}", long.map(|value| of(&value)));
        let brief = [json!("x".repeat(BRIEF - 4)), repeated(json!(1), BRIEF / 4 - 1), json!({ "a": [1] })];
        assert!(brief.iter().all(|value| of(value) <= BRIEF), "{:?}", brief.map(|value| of(&value)));
    }

    #[test]
    fn counting_is_brief() {
        let many = Value::Array(vec![json!("abcd"); 10 * BRIEF]);
        assert!(of(&many) < BRIEF + 16);
    }
}
