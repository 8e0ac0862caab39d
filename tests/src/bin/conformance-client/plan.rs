//! The calls that each scenario requires.

use mcp::Tool;
use serde_json::{Value, json};

/// The steps of a scenario.
pub(crate) enum Plan {
    /// Only list the tools.
    List,
    /// Call every available tool with the same arguments.
    Every(Value),
    /// Call every tool, read every resource and get every prompt.
    Everything,
    /// Make these calls, in this order.
    These(Vec<(String, Value)>),
    /// Send the schema of a tool back to the server.
    Echo,
}

impl Plan {
    /// The plan of a scenario. Those for authorization all have one tool, which is to be called.
    pub(crate) fn of(scenario: &str, context: &Value) -> Self {
        match scenario {
            "initialize" | "request-metadata" | "json-schema-ref-no-deref" => Self::List,
            "tools_call" => Self::Every(json!({ "a": 2, "b": 3 })),
            "http-standard-headers" => Self::Everything,
            "http-custom-headers" => Self::These(listed(&context["toolCalls"])),
            "http-invalid-tool-headers" => Self::Every(json!({ "region": "north" })),
            "json-schema-2020-12-preservation" => Self::Echo,
            _ => Self::Every(json!({})),
        }
    }

    /// The calls, given the available tools.
    pub(crate) fn calls(&self, available: &[Tool]) -> Vec<(String, Value)> {
        let every = |arguments: &Value| {
            available.iter().map(|tool| (tool.name.clone(), arguments.clone())).collect::<Vec<_>>()
        };
        match self {
            Self::List => Vec::new(),
            Self::Every(arguments) => every(arguments),
            Self::Everything => every(&json!({})),
            Self::These(calls) => calls.clone(),
            Self::Echo => {
                let shown = available.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
                let schema = shown.map(|tool| tool.definition()["inputSchema"].take());
                vec![("json_schema_echo".to_owned(), json!({ "schema": schema }))]
            }
        }
    }

    /// Whether to read resources and prompts too.
    pub(crate) fn reads_everything(&self) -> bool {
        matches!(self, Self::Everything)
    }
}

fn listed(calls: &Value) -> Vec<(String, Value)> {
    let calls = calls.as_array().into_iter().flatten();
    calls
        .map(|call| (call["name"].as_str().unwrap_or_default().to_owned(), call["arguments"].clone()))
        .collect()
}
