//! Which tools a scenario wants to see called.

use serde_json::{Value, json};

/// What is called in a scenario.
pub(crate) enum Plan {
    /// Nothing: the list is enough.
    List,
    /// Every tool that is offered, with the same arguments.
    Every(Value),
    /// These calls, in this order.
    These(Vec<(String, Value)>),
    /// The schema of a tool is sent back to the server.
    Echo(&'static str),
}

impl Plan {
    /// The plan of a scenario. Those for authorization all have one tool and want it called.
    pub(crate) fn of(scenario: &str, context: &Value) -> Self {
        match scenario {
            "initialize" | "request-metadata" | "json-schema-ref-no-deref" => Self::List,
            "tools_call" => Self::Every(json!({ "a": 2, "b": 3 })),
            "http-custom-headers" => Self::These(listed(&context["toolCalls"])),
            "json-schema-2020-12-preservation" => Self::Echo("json_schema_2020_12_tool"),
            "http-invalid-tool-headers" => Self::Every(json!({ "region": "north" })),
            _ => Self::Every(json!({})),
        }
    }

    /// The calls, given the names of the tools that are offered.
    pub(crate) fn calls(&self, offered: &[&str]) -> Vec<(String, Value)> {
        match self {
            Self::List | Self::Echo(_) => Vec::new(),
            Self::Every(arguments) => {
                offered.iter().map(|&tool| (tool.to_owned(), arguments.clone())).collect()
            }
            Self::These(calls) => calls.clone(),
        }
    }

    /// Whether the schema of this tool is sent back.
    pub(crate) fn echoes(&self, tool: &str) -> bool {
        matches!(self, Self::Echo(echoed) if *echoed == tool)
    }
}

fn listed(calls: &Value) -> Vec<(String, Value)> {
    let calls = calls.as_array().into_iter().flatten();
    calls
        .map(|call| (call["name"].as_str().unwrap_or_default().to_owned(), call["arguments"].clone()))
        .collect()
}
