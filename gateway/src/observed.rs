//! What was observed of tools that declare no output schema, or one that is no more than a text, as `toolsmith.lock` keeps
//! it: an output schema that was inferred from answers, or a sample of a text.

use std::collections::BTreeMap;

use mcp::{Lock, Shape};
use serde_json::Value;

use crate::tool_list::{as_declared, digest};

/// Something of tools, by server and tool.
type ByTool<T> = BTreeMap<String, BTreeMap<String, T>>;

/// What was observed of tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedOutputs {
    schemas: ByTool<Value>,
    texts: ByTool<String>,
}

impl ObservedOutputs {
    /// That of a lock.
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

    /// A tool as the server sent it, with what was observed of it.
    pub fn tool(&self, server: &str, raw: &Value) -> Option<codegen::Tool> {
        let mut tool = as_declared(raw)?;
        let observed = self.schemas.get(server).and_then(|tools| tools.get(&tool.name));
        if let (None, Some(schema)) = (&tool.output_schema, observed) {
            tool.output_schema = Some(schema.clone());
            tool.observed = true;
        }
        Some(tool)
    }

    /// The sample of a text that a tool answered with.
    pub fn text(&self, server: &str, tool: &str) -> Option<&str> {
        self.texts.get(server)?.get(tool).map(String::as_str)
    }

    /// What equal types of a server's observed answers have in common.
    pub(crate) fn digest(&self, server: &str) -> String {
        // Writing JSON values to a string does not fail.
        digest(&serde_json::to_vec(&self.schemas.get(server)).unwrap_or_default())
    }
}

/// Whether an output schema says no more than that there is one text.
pub fn is_one_text(schema: &Value) -> bool {
    let Some(properties) = schema["properties"].as_object() else { return false };
    properties.len() == 1 && properties.values().all(|property| property["type"] == "string")
}
