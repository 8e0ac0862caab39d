//! The tools of a server as it sent them: text until somebody looks into them, values from then on.
//!
//! Reading the list of a thousand tools takes longer than all else that a run does before it compiles; whether two
//! lists are the same is seen by their digests.

use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::Value;

/// The tools of a server.
#[derive(Debug)]
pub struct ToolList {
    digest: String,
    /// A JSON array of MCP's `Tool`; empty where `tools` are there.
    text: Mutex<Vec<u8>>,
    tools: OnceLock<Vec<Value>>,
}

impl ToolList {
    /// A list of tools as they came.
    pub fn new(tools: Vec<Value>) -> Self {
        ToolList { digest: digest(&written(&tools)), text: Mutex::default(), tools: OnceLock::from(tools) }
    }

    /// A list from what [`ToolList::record`] wrote, if nothing has happened to it since.
    pub(crate) fn from_record(record: &[u8]) -> Option<Self> {
        let end = record.iter().position(|byte| *byte == b'\n')?;
        let (known, text) = (record.get(..end)?, record.get(end + 1..)?);
        let digest = digest(text);
        let whole = known == digest.as_bytes();
        whole.then(|| ToolList { digest, text: Mutex::new(text.to_vec()), tools: OnceLock::new() })
    }

    /// The list as text to keep: its digest on a line, then the array.
    pub(crate) fn record(&self) -> Vec<u8> {
        [self.digest.as_bytes(), b"\n", &written(self.tools())].concat()
    }

    /// What equal lists have in common.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The tools.
    pub fn tools(&self) -> &[Value] {
        // The text is what was written by `new`, or has the digest of it.
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

/// A tool of a list, as code is generated from it: with nothing but what its server declares. `None` for one without
/// a name.
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

/// A hash as 64 hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolList, as_declared};

    #[test]
    fn a_list_is_kept_and_damage_is_noticed() {
        let list = ToolList::new(vec![json!({ "name": "a", "inputSchema": {} })]);
        let mut record = list.record();
        let kept = ToolList::from_record(&record).unwrap();
        assert_eq!(kept, list);
        assert_eq!(kept.tools(), list.tools());
        *record.last_mut().unwrap() = b' ';
        assert!(ToolList::from_record(&record).is_none());
        assert!(ToolList::from_record(b"").is_none());
        assert_ne!(list, ToolList::new(Vec::new()));
    }

    #[test]
    fn a_tool_is_read_as_it_is_declared() {
        let tool = as_declared(&json!({ "name": "a", "description": 1, "outputSchema": {} })).unwrap();
        assert_eq!((tool.name.as_str(), tool.description), ("a", None));
        assert_eq!((tool.input_schema, tool.output_schema), (json!(true), Some(json!({}))));
        assert!(!tool.observed);
        assert_eq!(as_declared(&json!({ "inputSchema": {} })), None);
    }
}
