//! The identity of a tool in a program's manifest and at the broker.

use serde_json::Value;

use crate::Tool;

/// Number of bytes of the hash that an identity keeps.
const BYTES: usize = 16;

/// The first 16 bytes of a BLAKE3 hash over server, tool, input schema and output schema, in lower-case
/// hexadecimal.
///
/// Each part is preceded by its length in 8 bytes, little-endian. A schema is written as JSON with sorted
/// keys and without spaces. Without an output schema that part is empty, which is not valid JSON.
pub(crate) fn identity(server: &str, tool: &Tool) -> String {
    let input = canonical(&tool.input_schema);
    let output = tool.output_schema.as_ref().map(canonical).unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    for part in [server, &tool.name, &input, &output] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let hash = hasher.finalize();
    hash.as_bytes().iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// The value as JSON with sorted keys, whichever key order serde_json was built with.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => list(text, "[]", items, write),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            list(text, "{}", fields, |(key, value), text| {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(value, text);
            });
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

fn list<T>(
    text: &mut String,
    brackets: &str,
    items: impl IntoIterator<Item = T>,
    write: impl Fn(T, &mut String),
) {
    let (open, close) = brackets.split_at(1);
    text.push_str(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write(item, text);
    }
    text.push_str(close);
}
