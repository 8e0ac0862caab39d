//! Which tools a scenario wants to see called.

use mcp::Tool;
use serde_json::{Value, json};

/// What is done in a scenario.
pub(crate) enum Plan {
    /// Nothing: the list is enough.
    List,
    /// Every tool that is offered is called with the same arguments.
    Every(Value),
    /// The same, and every resource is read and every prompt got.
    Everything,
    /// These calls, in this order.
    These(Vec<(String, Value)>),
    /// The schema of a tool is sent back to the server.
    Echo,
}

impl Plan {
    /// The plan of a scenario. Those for authorization all have one tool and want it called.
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

    /// The calls, given the tools that are offered.
    pub(crate) fn calls(&self, offered: &[Tool]) -> Vec<(String, Value)> {
        let every = |arguments: &Value| {
            offered.iter().map(|tool| (tool.name.clone(), arguments.clone())).collect::<Vec<_>>()
        };
        match self {
            Self::List => Vec::new(),
            Self::Every(arguments) => every(arguments),
            Self::Everything => every(&json!({})),
            Self::These(calls) => calls.clone(),
            Self::Echo => {
                let shown = offered.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
                let schema = shown.map(|tool| tool.input_schema.clone());
                vec![("json_schema_echo".to_owned(), json!({ "schema": schema }))]
            }
        }
    }

    /// Whether resources and prompts are part of it.
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
