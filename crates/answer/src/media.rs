//! Describes content parts other than texts in words: clients that drop an image still show that it exists.

use runner::size;
use serde_json::Value;
use serde_json::value::RawValue;

/// Limit on parts that are described; of the rest, only the count is shown.
const NAMED: usize = 10;

/// Maximum length of an address or a type, in characters.
const LONGEST: usize = 100;

/// One line about the parts other than texts, if any: `emitted: image image/png, 1.2 KiB`.
pub(crate) fn described(parts: &[Box<RawValue>]) -> String {
    let read = parts.iter().filter_map(|part| serde_json::from_str::<Value>(part.get()).ok());
    let others: Vec<Value> = read.filter(|part| part["type"] != "text").collect();
    if others.is_empty() {
        return String::new();
    }
    let mut words: Vec<String> = others.iter().take(NAMED).map(part).collect();
    if others.len() > NAMED {
        words.push(format!("{} more", others.len() - NAMED));
    }
    format!("emitted: {}", words.join("; "))
}

/// Describes a part, with the members that its type has (MCP, "ContentBlock").
pub(crate) fn part(part: &Value) -> String {
    let within = if part["type"] == "resource" { &part["resource"] } else { part };
    let text = |name: &str| within[name].as_str();
    let mut words = text_of(part["type"].as_str().unwrap_or("content"));
    for more in [text("mimeType"), text("uri")].into_iter().flatten() {
        words.push(' ');
        words.push_str(&text_of(more));
    }
    let bytes = text("data").or(text("blob")).map(decoded).or(text("text").map(str::len));
    if let Some(bytes) = bytes {
        words.push_str(", ");
        words.push_str(&size(bytes));
    }
    words
}

/// A short text on one line.
fn text_of(text: &str) -> String {
    printable::prose(&text.chars().take(LONGEST).collect::<String>())
}

/// The number of bytes that Base64 encodes.
fn decoded(data: &str) -> usize {
    data.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn raw(parts: &[Value]) -> Vec<Box<RawValue>> {
        parts.iter().map(|part| serde_json::value::to_raw_value(part).unwrap()).collect()
    }

    #[test]
    fn parts_other_than_texts_are_described_with_type_and_size() {
        let parts = [
            json!({ "type": "text", "text": "hello" }),
            json!({ "type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo=" }),
            json!({ "type": "resource", "resource": { "uri": "a://b", "mimeType": "text/csv", "text": "a,b" } }),
            json!({ "type": "resource_link", "uri": "a://c", "name": "c" }),
        ];
        let words =
            "emitted: image image/png, 8 bytes; resource text/csv a://b, 3 bytes; resource_link a://c";
        assert_eq!(described(&raw(&parts)), words);
        assert_eq!(described(&raw(&parts[..1])), "");
    }

    #[test]
    fn many_parts_and_long_names_take_little_room() {
        let long = json!({ "type": "x".repeat(10_000), "mimeType": "y\n".repeat(10_000) });
        let words = described(&raw(&vec![long; 1_000]));
        assert!(words.ends_with("; 990 more") && words.len() < 5_000 && !words.contains('\n'), "{words}");
    }
}
