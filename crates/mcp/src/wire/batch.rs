//! Several messages in one text: JSON-RPC batches, which servers of MCP 2025-03-26 may send.

use std::fmt;

use serde::de::{Deserializer as _, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Limit on the messages of one batch. A client that sends no batches should get only small ones.
const MAX_MESSAGES: usize = 1024;

/// The messages of a batch; `None` if the text is not a batch.
pub(crate) fn batch(text: &str) -> Option<Vec<String>> {
    let text = strict_json::without_mark(text);
    // Most texts are objects, and skip the parser here.
    if !text.trim_start().starts_with('[') {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let messages = deserializer.deserialize_seq(Messages).ok()?;
    deserializer.end().ok()?;
    Some(messages).filter(|messages| !messages.is_empty())
}

/// Parses objects, up to the limit.
struct Messages;

impl<'de> Visitor<'de> for Messages {
    type Value = Vec<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "at most {MAX_MESSAGES} messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut messages = Vec::new();
        while let Some(message) = items.next_element::<&RawValue>()? {
            if messages.len() >= MAX_MESSAGES || !message.get().starts_with('{') {
                return Err(A::Error::custom("not a batch"));
            }
            messages.push(message.get().to_owned());
        }
        Ok(messages)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_MESSAGES, batch};

    #[test]
    fn only_lists_of_objects_are_batches() {
        assert_eq!(batch(r#" [{"id":1}, {"a":[2]}] "#).unwrap(), [r#"{"id":1}"#, r#"{"a":[2]}"#]);
        for text in ["", "{}", "[]", "[1]", "[{}", "[{}]]", "[{},[]]"] {
            assert_eq!(batch(text), None, "{text}");
        }
        let many = |count: usize| format!("[{}]", vec!["{}"; count].join(","));
        assert_eq!(batch(&many(MAX_MESSAGES)).unwrap().len(), MAX_MESSAGES);
        assert_eq!(batch(&many(MAX_MESSAGES + 1)), None);
    }
}
