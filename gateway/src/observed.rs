//! Observations in `toolsmith.lock` about tools without an output schema, or with one of a single text: an output
//! schema inferred from results, or a sample text.

use std::collections::BTreeMap;

use mcp::{Lock, Shape};
use serde_json::Value;

use crate::tool_list::{digest, for_snippets};

/// Values by server and tool.
type ByTool<T> = BTreeMap<String, BTreeMap<String, T>>;

/// The observed outputs of tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedOutputs {
    schemas: ByTool<Value>,
    texts: ByTool<String>,
}

impl ObservedOutputs {
    /// The observations in a lock.
    pub fn of(lock: &Lock) -> Self {
        let mut outputs = ObservedOutputs::default();
        for (server, locked) in &lock.servers {
            for (tool, locked) in &locked.tools {
                match locked.observed.as_ref().map(|observed| &observed.shape) {
                    Some(Shape::OutputSchema(schema)) => {
                        let schemas = outputs.schemas.entry(server.clone()).or_default();
                        schemas.insert(tool.clone(), schema.clone());
                    }
                    Some(Shape::Text(text)) => {
                        outputs.texts.entry(server.clone()).or_default().insert(tool.clone(), text.clone());
                    }
                    None => {}
                }
            }
        }
        outputs
    }

    /// A tool that snippets may call, as the server sent it, completed with its observed output schema.
    pub fn tool(&self, server: &str, raw: &Value) -> Option<codegen::Tool> {
        let mut tool = for_snippets(raw)?;
        let observed = self.schemas.get(server).and_then(|tools| tools.get(&tool.name));
        if let (None, Some(schema)) = (&tool.output_schema, observed) {
            tool.output_schema = Some(schema.clone());
            tool.observed = true;
        }
        Some(tool)
    }

    /// A sample of a tool's text results.
    pub fn text(&self, server: &str, tool: &str) -> Option<&str> {
        self.texts.get(server)?.get(tool).map(String::as_str)
    }

    /// A hash of a server's observed schemas.
    pub(crate) fn digest(&self, server: &str) -> String {
        // Writing JSON values to a string does not fail.
        digest(&serde_json::to_vec(&self.schemas.get(server)).unwrap_or_default())
    }
}

/// Whether an output schema has only one member, a string.
pub fn is_one_text(schema: &Value) -> bool {
    let Some(properties) = schema["properties"].as_object() else { return false };
    properties.len() == 1 && properties.values().all(|property| property["type"] == "string")
}
