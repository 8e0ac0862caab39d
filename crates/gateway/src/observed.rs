//! Observations in `toolsmith.lock` about the results of tools: an output schema inferred from them, which completes or
//! corrects the declared one, or a sample text; and the types of their content blocks.

use std::collections::BTreeMap;

use codegen::{SchemaSource, observe};
use mcp::{Lock, Shape};
use serde_json::Value;

use crate::tool_list::{digest, for_snippets};

/// Maximum bytes of an inferred schema in a description: every conversation pays for it.
const DESCRIBED_AT_MOST: usize = 1_000;

/// Values by server and tool.
type ByTool<T> = BTreeMap<String, BTreeMap<String, T>>;

/// The observed outputs of tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedOutputs {
    schemas: ByTool<Value>,
    /// The types of content blocks besides what the schema describes.
    content: ByTool<Vec<String>>,
    texts: ByTool<String>,
}

impl ObservedOutputs {
    /// The observations in a lock.
    pub fn of(lock: &Lock) -> Self {
        let mut outputs = ObservedOutputs::default();
        for (server, locked) in &lock.servers {
            for (tool, locked) in &locked.tools {
                let Some(observed) = &locked.observed else { continue };
                if !observed.content.is_empty() {
                    let content = outputs.content.entry(server.clone()).or_default();
                    content.insert(tool.clone(), observed.content.clone());
                }
                match &observed.shape {
                    Shape::OutputSchema(schema) => {
                        let schemas = outputs.schemas.entry(server.clone()).or_default();
                        schemas.insert(tool.clone(), schema.clone());
                    }
                    Shape::Text(text) => {
                        outputs.texts.entry(server.clone()).or_default().insert(tool.clone(), text.clone());
                    }
                }
            }
        }
        outputs
    }

    /// A tool that snippets may call, as the server sent it, completed or corrected by what was observed.
    pub fn tool(&self, server: &str, raw: &Value) -> Option<codegen::Tool> {
        let mut tool = for_snippets(raw)?;
        fn of<'a, T>(observed: &'a ByTool<T>, server: &str, tool: &str) -> Option<&'a T> {
            observed.get(server)?.get(tool)
        }
        if let Some(observed) = of(&self.schemas, server, &tool.name) {
            let (schema, source) = match &tool.output_schema {
                None => (observed.clone(), SchemaSource::Observed),
                Some(declared) => (observe::corrected(declared, observed), SchemaSource::Corrected),
            };
            if tool.output_schema.as_ref() != Some(&schema) {
                tool.output_schema = Some(schema);
                tool.answers.source = source;
            }
        }
        if let Some(content) = of(&self.content, server, &tool.name) {
            tool.answers.content.clone_from(content);
        }
        Some(tool)
    }

    /// A direct tool as its server sent it, with what was observed. A declared output schema is corrected, so that clients
    /// that check results accept those that broke it. An inferred schema is only described: it promises nothing, and a
    /// result of another shape must not be refused.
    pub fn direct(&self, server: &str, mut raw: Value) -> Value {
        let observed =
            self.tool(server, &raw).and_then(|tool| Some((tool.output_schema?, tool.answers.source)));
        match observed {
            Some((schema, SchemaSource::Corrected)) => raw["outputSchema"] = schema,
            Some((schema, SchemaSource::Observed)) => {
                let schema = schema.to_string();
                if schema.len() <= DESCRIBED_AT_MOST {
                    let own = raw["description"].as_str().unwrap_or_default().trim_end();
                    let described = format!("{own}\nObserved results, as a JSON Schema: {schema}");
                    raw["description"] = described.trim_start().into();
                }
            }
            _ => {}
        }
        raw
    }

    /// A sample of a tool's text results.
    pub fn text(&self, server: &str, tool: &str) -> Option<&str> {
        self.texts.get(server)?.get(tool).map(String::as_str)
    }

    /// A hash of what was observed of a server, except texts.
    pub(crate) fn digest(&self, server: &str) -> String {
        // Writing JSON values to a string does not fail.
        digest(&serde_json::to_vec(&(self.schemas.get(server), self.content.get(server))).unwrap_or_default())
    }
}

/// Whether an output schema has only one member, a string.
pub fn is_one_text(schema: &Value) -> bool {
    let Some(properties) = schema["properties"].as_object() else { return false };
    properties.len() == 1 && properties.values().all(|property| property["type"] == "string")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn direct_tools_promise_no_more_than_their_servers_keep() {
        let schemas = ["typed", "untyped"].map(|tool| {
            let seen =
                json!({ "type": "object", "properties": { "n": { "type": "string" } }, "required": ["n"] });
            (tool.to_owned(), seen)
        });
        let schemas = ByTool::from([("s".to_owned(), BTreeMap::from(schemas))]);
        let observed = ObservedOutputs { schemas, ..ObservedOutputs::default() };
        let declared = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        let tool = |name: &str| json!({ "name": name, "description": "Counts.", "inputSchema": { "type": "object" } });
        let mut typed = tool("typed");
        typed["outputSchema"] = declared.clone();
        let typed = observed.direct("s", typed);
        assert!(jsonschema::is_valid(&typed["outputSchema"], &json!({ "n": "one" })), "{typed}");
        assert!(jsonschema::is_valid(&typed["outputSchema"], &json!({ "n": 1 })), "{typed}");
        assert_eq!(typed["description"], "Counts.");
        let untyped = observed.direct("s", tool("untyped"));
        assert!(untyped.get("outputSchema").is_none(), "{untyped}");
        let text = untyped["description"].as_str().unwrap();
        assert!(text.starts_with("Counts.\nObserved results, as a JSON Schema: {"), "{text}");
        assert_eq!(observed.direct("s", tool("other")), tool("other"));
    }
}
