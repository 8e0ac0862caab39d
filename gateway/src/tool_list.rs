//! The tools of a server as it sent them, parsed on first use.
//!
//! Parsing a list of a thousand tools takes longer than everything else that a run does before it compiles; digests
//! show whether two lists are equal.

use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::Value;

/// The tools of a server.
#[derive(Debug)]
pub struct ToolList {
    digest: String,
    /// A JSON array of MCP's `Tool`; empty once `tools` is set.
    text: Mutex<Vec<u8>>,
    tools: OnceLock<Vec<Value>>,
}

impl ToolList {
    /// A list of tools as received.
    pub fn new(tools: Vec<Value>) -> Self {
        ToolList { digest: digest(&written(&tools)), text: Mutex::default(), tools: OnceLock::from(tools) }
    }

    /// Reads a list written by [`ToolList::record`]; `None` if it is damaged.
    pub(crate) fn from_record(record: &[u8]) -> Option<Self> {
        let end = record.iter().position(|byte| *byte == b'\n')?;
        let (known, text) = (record.get(..end)?, record.get(end + 1..)?);
        let digest = digest(text);
        let whole = known == digest.as_bytes();
        whole.then(|| ToolList { digest, text: Mutex::new(text.to_vec()), tools: OnceLock::new() })
    }

    /// The list as text to store: its digest on a line, then the array.
    pub(crate) fn record(&self) -> Vec<u8> {
        [self.digest.as_bytes(), b"\n", &written(self.tools())].concat()
    }

    /// The digest, which is the same for equal lists.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The tools.
    pub fn tools(&self) -> &[Value] {
        // The text was written by `new`, or has its digest.
        self.tools.get_or_init(|| {
            let text = std::mem::take(&mut *self.text.lock().unwrap_or_else(PoisonError::into_inner));
            serde_json::from_slice(&text).unwrap_or_default()
        })
    }
}

impl ToolList {
    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Value> {
        self.tools().iter().find(|tool| tool.get("name").and_then(Value::as_str) == Some(name))
    }
}

impl PartialEq for ToolList {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest || self.tools() == other.tools()
    }
}

/// A tool as code is generated from it: only what its server declares. `None` if it has no name.
pub fn as_declared(raw: &Value) -> Option<codegen::Tool> {
    Some(codegen::Tool {
        name: raw.get("name")?.as_str()?.to_owned(),
        description: raw.get("description").and_then(Value::as_str).map(str::to_owned),
        input_schema: raw.get("inputSchema").cloned().unwrap_or(Value::Bool(true)),
        output_schema: raw.get("outputSchema").cloned(),
        observed: false,
    })
}

/// Writing JSON values to a vector does not fail.
fn written(tools: &[Value]) -> Vec<u8> {
    serde_json::to_vec(tools).unwrap_or_default()
}

/// A BLAKE3 hash as 64 hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolList, as_declared};

    #[test]
    fn a_list_is_stored_and_damage_is_detected() {
        let list = ToolList::new(vec![json!({ "name": "a", "inputSchema": {} })]);
        let mut record = list.record();
        let stored = ToolList::from_record(&record).unwrap();
        assert_eq!(stored, list);
        assert_eq!(stored.tools(), list.tools());
        *record.last_mut().unwrap() = b' ';
        assert!(ToolList::from_record(&record).is_none());
        assert!(ToolList::from_record(b"").is_none());
        assert_ne!(list, ToolList::new(Vec::new()));
    }

    #[test]
    fn a_tool_has_only_what_it_declares() {
        let tool = as_declared(&json!({ "name": "a", "description": 1, "outputSchema": {} })).unwrap();
        assert_eq!((tool.name.as_str(), tool.description), ("a", None));
        assert_eq!((tool.input_schema, tool.output_schema), (json!(true), Some(json!({}))));
        assert!(!tool.observed);
        assert_eq!(as_declared(&json!({ "inputSchema": {} })), None);
    }
}
