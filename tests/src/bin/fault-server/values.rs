//! A server that answers with exactly the JSON that a call requests, and reports the arguments it received.

use std::io::{self, BufRead as _, Write as _};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::server;

#[derive(Deserialize)]
struct Message {
    id: Option<Box<RawValue>>,
    method: String,
    #[serde(default)]
    params: Option<Parameters>,
}

#[derive(Deserialize)]
struct Parameters {
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

/// The arguments of the tools that answer with JSON.
#[derive(Deserialize)]
struct RequestedAnswer {
    json: String,
}

pub(crate) fn values() -> io::Result<()> {
    serve(tools)
}

/// Serves these tools.
pub(crate) fn serve(tools: fn() -> Value) -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let Message { id: Some(id), method, params } = serde_json::from_str(&line)? else { continue };
        let result = match (method.as_str(), params) {
            ("initialize", _) => server::initialize_result().to_string(),
            ("tools/list", _) => json!({ "tools": tools() }).to_string(),
            ("tools/call", Some(params)) => call(&params)?,
            _ => "{}".to_owned(),
        };
        let mut output = io::stdout().lock();
        writeln!(output, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")?;
        output.flush()?;
    }
    Ok(())
}

fn call(params: &Parameters) -> io::Result<String> {
    let arguments = params.arguments.as_ref().map_or("{}", |arguments| arguments.get());
    let requested = || serde_json::from_str::<RequestedAnswer>(arguments).map(|requested| requested.json);
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    Ok(match params.name.as_str() {
        "typed" | "structured" | "patterned" | "by_pattern" | "closed_pattern" | "entry" | "shapes"
        | "both" | "raw" => {
            let json = requested()?;
            format!("{{\"content\":{},\"structuredContent\":{json}}}", text(&json))
        }
        "text" => format!("{{\"content\":{}}}", text(&requested()?)),
        "block" => format!("{{\"content\":[{}]}}", requested()?),
        "whole" | "typed_whole" | "picture" => requested()?,
        // Unchanged.
        _ => format!("{{\"content\":{}}}", text(arguments)),
    })
}

/// Optional properties of every kind.
fn properties() -> Value {
    json!({
        "integer": { "type": "integer" },
        "unsigned": { "type": "integer", "format": "uint64" },
        "small": { "type": "integer", "minimum": 0, "maximum": 255 },
        "number": { "type": "number" },
        "either": { "anyOf": [{ "type": "integer" }, { "type": "number" }] },
        "nullable": { "type": ["number", "null"] },
        "scalar": { "type": ["string", "number"] },
        "any": {},
        "flag": { "type": "boolean" },
        "label": { "type": "string" },
        "time": { "type": "string", "format": "date-time" },
        "list": { "type": "array", "items": { "type": "number" } },
        "integers": { "type": "array", "items": { "type": "integer" } },
        "anything": { "type": "array" },
        "pair": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }], "minItems": 2, "items": false },
        "map": { "type": "object", "additionalProperties": { "type": "number" } },
        "nested": { "type": "object", "properties": { "amount": { "type": "number" }, "count": { "type": "integer" } } },
        "rows": { "type": "array", "items": { "type": "object", "properties": { "amount": { "type": "number" } }, "required": ["amount"] } },
        "shape": { "anyOf": [{ "type": "number" }, { "type": "array", "items": { "type": "number" } }, { "type": "object", "properties": { "amount": { "type": "number" } } }] },
        "status": { "enum": ["pending", "shipped", "on hold"] },
        "statuses": { "type": "array", "items": { "enum": ["red", "green"] } },
        "states": { "type": "object", "additionalProperties": { "enum": ["up", "down"] } },
        "level": { "enum": [1, 2, 3] },
        "rate": { "enum": [0.5, 1.5] },
    })
}

fn tools() -> Value {
    let object = |properties: Value| json!({ "type": "object", "properties": properties });
    let tool = |name: &str, input: Value| json!({ "name": name, "description": "A tool for values.", "inputSchema": input });
    let schema =
        || json!({ "type": "object", "properties": { "json": { "type": "string" } }, "required": ["json"] });
    let mut typed = tool("typed", schema());
    typed["outputSchema"] = object(properties());
    let required = |properties: Value| {
        let names: Vec<String> =
            properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        json!({ "type": "object", "properties": properties, "required": names })
    };
    let mut extra = object(json!({ "known": { "type": "number" }, "also": { "type": "string" } }));
    extra["additionalProperties"] = json!({});
    extra["required"] = json!(["known"]);
    let mut fixed = object(
        json!({ "kind": { "const": 1e3 }, "scale": { "const": 0.1 }, "whole": { "const": 18_446_744_073_709_551_615_u64 } }),
    );
    fixed["required"] = json!(["kind", "scale", "whole"]);
    fixed["properties"]["note"] = json!({ "type": "string", "default": "x" });
    let mut patterned = tool("patterned", schema());
    let by_pattern = json!({
        "type": "object",
        "properties": { "id": { "type": "integer" } },
        "patternProperties": { "^x-": { "type": "number" } },
    });
    patterned["outputSchema"] = by_pattern.clone();
    let mut by_pattern_alone = tool("by_pattern", schema());
    by_pattern_alone["outputSchema"] =
        json!({ "type": "object", "patternProperties": { "^x-": { "type": "number" } } });
    let mut closed = tool("closed_pattern", schema());
    closed["outputSchema"] = json!({
        "type": "object", "patternProperties": { "^x-": { "type": "number" } }, "additionalProperties": false,
    });
    let with_output = |name: &str, input: Value, output: Value| {
        let mut tool = tool(name, input);
        tool["outputSchema"] = output;
        tool
    };
    let mut entry = object(json!({
        "id": { "type": "integer" }, "note": { "type": "string" }, "kind": { "const": "entry" },
    }));
    entry["required"] = json!(["kind", "id"]);
    entry["additionalProperties"] = json!(false);
    let mut picture = object(json!({ "type": { "type": "string" }, "data": { "type": "string" } }));
    picture["required"] = json!(["data"]);
    let shape = |kind: &str, size: &str| {
        let mut shape = object(json!({ "kind": { "const": kind }, size: { "type": "number" } }));
        shape["required"] = json!(["kind", size]);
        shape
    };
    let shapes = object(
        json!({ "shapes": { "type": "array", "items": { "oneOf": [shape("circle", "radius"), shape("square", "side")] } } }),
    );
    let part = object(json!({ "id": { "type": "integer" }, "label": { "type": "string" } }));
    let both = object(json!({ "part": part }));
    let mut both_input = object(json!({ "json": { "type": "string" }, "part": part }));
    both_input["required"] = json!(["json", "part"]);
    let mut raw_input = schema();
    raw_input["properties"]["raw"] = json!({ "type": "boolean" });
    json!([
        with_output("typed_whole", schema(), object(properties())),
        with_output("entry", schema(), entry),
        with_output("picture", schema(), picture),
        with_output("shapes", schema(), shapes),
        with_output("both", both_input, both),
        with_output("raw", raw_input, object(json!({ "id": { "type": "integer" } }))),
        typed,
        tool("structured", schema()),
        tool("text", schema()),
        tool("block", schema()),
        tool("whole", schema()),
        patterned,
        by_pattern_alone,
        closed,
        tool("take", object(properties())),
        tool("take_number", required(json!({ "number": { "type": "number" } }))),
        tool("take_value", required(json!({ "value": {} }))),
        tool("take_list", required(json!({ "list": { "type": "array", "items": { "type": "number" } } }))),
        tool("take_extra", extra),
        tool("take_fixed", fixed),
        tool("take_pattern", by_pattern),
    ])
}
