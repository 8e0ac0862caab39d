//! The tool of a saved program: its schemas, its annotations, and its result as structured content.

use std::collections::BTreeMap;
use std::sync::Arc;

use gateway::tool_list::ToolList;
use runner::{ProgramSchemas, Status, size};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use snippet::ProgramFile;

/// The tool of a program that can be run, and whether its result is wrapped.
pub(super) fn tool(name: &str, program: &ProgramFile, schemas: Option<&ProgramSchemas>) -> (Value, bool) {
    let mut tool = json!({
        "name": name,
        "title": program.about().title(),
        "description": program.about().description,
        "inputSchema": schemas.map_or_else(|| json!({ "type": "object" }), |schemas| plain(&schemas.arguments)),
    });
    let Some(result) = schemas.and_then(|schemas| schemas.result.as_ref()) else { return (tool, false) };
    // MCP, "Output Schema": the structured content is an object.
    let is_wrapped = result["type"] != "object";
    tool["outputSchema"] = if is_wrapped { wrapped(result) } else { plain(result) };
    (tool, is_wrapped)
}

/// A schema without what clients do not need: some reject a `$schema`, and the title is the name of a Rust type.
fn plain(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(members) = schema.as_object_mut() {
        members.remove("$schema");
        members.remove("title");
    }
    schema
}

/// An object with the value in its member `result`. Definitions stay at the root, where references find them.
fn wrapped(schema: &Value) -> Value {
    let mut inner = plain(schema);
    let definitions = inner.as_object_mut().and_then(|inner| inner.remove("$defs"));
    // The older official SDK rejects the whole list of tools if a property's schema is `true`.
    let inner = if inner == json!(true) { json!({}) } else { inner };
    let mut schema = json!({ "type": "object", "properties": { "result": inner }, "required": ["result"] });
    if let Some(definitions) = definitions {
        schema["$defs"] = definitions;
    }
    schema
}

/// Adds annotations (MCP's `ToolAnnotations`): what all tools of the manifest claim, in sum. A hint that a server does
/// not give has its default.
pub(super) fn annotated(
    mut tool: Value,
    manifest: &[String],
    lists: &BTreeMap<String, Arc<ToolList>>,
) -> Value {
    let found = lists.iter().flat_map(|(server, list)| {
        let is_named = move |tool: &Value| {
            tool["name"].as_str().is_some_and(|name| manifest.contains(&format!("{server}.{name}")))
        };
        list.tools().filter(is_named).collect::<Vec<_>>()
    });
    let tools: Vec<Value> = found.collect();
    let hint =
        |tool: &Value, name: &str, default: bool| tool["annotations"][name].as_bool().unwrap_or(default);
    let reads = |tool: &Value| hint(tool, "readOnlyHint", false);
    tool["annotations"] = json!({
        "readOnlyHint": tools.iter().all(reads),
        "destructiveHint": tools.iter().any(|tool| !reads(tool) && hint(tool, "destructiveHint", true)),
        "idempotentHint": tools.iter().all(|tool| reads(tool) || hint(tool, "idempotentHint", false)),
        "openWorldHint": tools.iter().any(|tool| hint(tool, "openWorldHint", true)),
    });
    tool
}

/// Adds the result of a program to its answer as structured content, which a tool with an output schema must have. A
/// result of more than `limit` bytes is an error.
pub(crate) fn structured(
    mut answer: Value,
    status: Status,
    result: Option<&RawValue>,
    is_wrapped: bool,
    limit: usize,
) -> Value {
    if status != Status::Ok {
        return answer;
    }
    let text = result.map_or("null", RawValue::get);
    if text.len() > limit {
        let message = format!(
            "the result of the program is {} of JSON, over the limit of {} (serve.output): ask for less",
            size(text.len()),
            size(limit)
        );
        answer["content"] = json!([{ "type": "text", "text": message }]);
        answer["isError"] = json!(true);
        return answer;
    }
    let value = result.map(strict_json::value_with_numbers).transpose().ok().flatten().unwrap_or_default();
    answer["structuredContent"] = if is_wrapped { json!({ "result": value }) } else { value };
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> ProgramFile {
        ProgramFile::parse("//! Counts.\nasync fn run() -> Result<u8> { Ok(1) }".to_owned()).unwrap()
    }

    #[test]
    fn a_result_that_is_no_object_is_wrapped_with_its_definitions() {
        let result = json!({ "$schema": "s", "title": "Rows", "type": "array", "items": { "$ref": "#/$defs/Row" }, "$defs": { "Row": {} } });
        let schemas = |result: Value| ProgramSchemas {
            arguments: json!({ "$schema": "s", "title": "Args", "type": "object" }),
            result: Some(result),
            without_result: None,
        };
        let (tool, is_wrapped) = tool("count", &program(), Some(&schemas(result)));
        assert!(is_wrapped);
        assert_eq!(tool["inputSchema"], json!({ "type": "object" }));
        let expected = json!({
            "type": "object",
            "properties": { "result": { "type": "array", "items": { "$ref": "#/$defs/Row" } } },
            "required": ["result"],
            "$defs": { "Row": {} },
        });
        assert_eq!((&tool["outputSchema"], &tool["title"]), (&expected, &json!("Counts.")));
        let object = json!({ "type": "object", "properties": {} });
        let (tool, is_wrapped) = super::tool("count", &program(), Some(&schemas(object.clone())));
        assert_eq!((is_wrapped, &tool["outputSchema"]), (false, &object));
        let (tool, _) = super::tool("count", &program(), None);
        assert!(tool.get("outputSchema").is_none());
    }

    #[test]
    fn annotations_are_the_sum_of_the_manifest() {
        let tools = [
            json!({ "name": "read", "annotations": { "readOnlyHint": true, "openWorldHint": false } }),
            json!({ "name": "write", "annotations": { "destructiveHint": false, "idempotentHint": true } }),
            json!({ "name": "unknown" }),
        ];
        let lists = BTreeMap::from([("s".to_owned(), Arc::new(ToolList::new(&tools)))]);
        let of = |names: &[&str]| {
            let manifest: Vec<String> = names.iter().map(|name| format!("s.{name}")).collect();
            let annotations = annotated(json!({}), &manifest, &lists)["annotations"].take();
            ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
                .map(|hint| annotations[hint].as_bool().unwrap())
        };
        assert_eq!(of(&[]), [true, false, true, false]);
        assert_eq!(of(&["read"]), [true, false, true, false]);
        assert_eq!(of(&["read", "write"]), [false, false, true, true]);
        assert_eq!(of(&["read", "unknown"]), [false, true, false, true]);
    }

    #[test]
    fn a_result_is_structured_content_within_its_limit() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let answer = || json!({ "content": [], "isError": false });
        let shown = |result: Option<&str>, is_wrapped, limit| {
            structured(answer(), Status::Ok, result.map(raw).as_deref(), is_wrapped, limit)
        };
        assert_eq!(
            shown(Some("{\"a\":1}"), false, 100)["structuredContent"],
            json!({ "a": strict_json::value_with_numbers(&raw("1")).unwrap() })
        );
        assert_eq!(shown(None, true, 100)["structuredContent"], json!({ "result": null }));
        let large = shown(Some("[1,2,3]"), true, 3);
        assert!(large["isError"] == true && large.get("structuredContent").is_none(), "{large}");
        let failed = structured(answer(), Status::Panic, None, true, 100);
        assert!(failed.get("structuredContent").is_none());
    }
}
