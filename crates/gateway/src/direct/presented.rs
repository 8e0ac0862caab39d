//! A direct tool as clients and models see it: with its server's name, and in the form that strict clients require
//! (MCP, `Tool`), because one malformed tool makes them reject the whole list.

use serde_json::{Map, Value, json};

/// The boolean members of annotations (MCP, `ToolAnnotations`).
const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// The reason why clients could not accept a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MalformedTool {
    /// It is not a JSON object.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// Its input schema does not describe an object.
    #[error("`inputSchema`: {0}")]
    InputSchema(#[from] SchemaError),
}

/// The reason why a schema does not describe an object, with the kind of value that it has instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is another value.
    #[error("it is {0}, not the schema of an object")]
    Schema(&'static str),
    /// Its values have another type.
    #[error("its `type` is not `object`")]
    Type,
    /// Its `properties` are no object.
    #[error("its `properties` is {0}, not an object")]
    Properties(&'static str),
    /// A property has no schema.
    #[error("one of its properties is {0}, not a schema")]
    Property(&'static str),
}

/// A tool of `server` as it is listed, with its own name.
///
/// # Errors
/// If its input schema does not describe an object and can't be changed to do so.
pub fn presented(server: &str, tool: &Value) -> Result<Value, MalformedTool> {
    let Value::Object(members) = tool else { return Err(MalformedTool::NotAnObject) };
    let mut members = members.clone();
    let input = members.get("inputSchema").cloned().unwrap_or_else(|| json!({}));
    members.insert("inputSchema".to_owned(), of_object(input)?);
    if let Some(output) = members.remove("outputSchema")
        && let Ok(output) = of_object(output)
    {
        members.insert("outputSchema".to_owned(), output);
    }
    keep(&mut members, "title", Value::is_string);
    keep(&mut members, "description", Value::is_string);
    keep(&mut members, "annotations", Value::is_object);
    keep(&mut members, "execution", Value::is_object);
    keep(&mut members, "_meta", Value::is_object);
    keep(&mut members, "icons", |icons| {
        icons.as_array().is_some_and(|icons| icons.iter().all(|icon| icon["src"].is_string()))
    });
    if let Some(Value::Object(annotations)) = members.get_mut("annotations") {
        keep(annotations, "title", Value::is_string);
        HINTS.iter().for_each(|hint| keep(annotations, hint, Value::is_boolean));
    }
    let own = members.get("description").and_then(Value::as_str).unwrap_or_default().trim_end();
    let of_server = format!("(server: {server})");
    let described = if own.is_empty() { of_server } else { format!("{own}\n{of_server}") };
    members.insert("description".to_owned(), json!(described));
    Ok(Value::Object(members))
}

/// Removes a member with an unexpected type.
fn keep(members: &mut Map<String, Value>, name: &str, fits: fn(&Value) -> bool) {
    if members.get(name).is_some_and(|value| !fits(value)) {
        members.remove(name);
    }
}

/// Makes a schema one of an object: `type` is `object`, `properties` an object of objects, `required` a list of
/// names.
fn of_object(schema: Value) -> Result<Value, SchemaError> {
    let mut schema = match schema {
        Value::Object(schema) => schema,
        // Some languages serialize an object without members as an array; `null` and `true` allow anything.
        Value::Array(members) if members.is_empty() => Map::new(),
        Value::Null | Value::Bool(true) => Map::new(),
        other => return Err(SchemaError::Schema(kind(&other))),
    };
    let is_object = match schema.get("type") {
        None | Some(Value::Null) => true,
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(_) => false,
    };
    if !is_object {
        return Err(SchemaError::Type);
    }
    schema.insert("type".to_owned(), json!("object"));
    match schema.remove("properties") {
        None | Some(Value::Null) => {}
        Some(Value::Array(members)) if members.is_empty() => {}
        Some(Value::Object(properties)) => {
            let properties: Result<Map<String, Value>, SchemaError> =
                properties.into_iter().map(|(name, property)| Ok((name, of_property(property)?))).collect();
            schema.insert("properties".to_owned(), Value::Object(properties?));
        }
        Some(other) => return Err(SchemaError::Properties(kind(&other))),
    }
    match schema.remove("required") {
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => {
            schema.insert("required".to_owned(), Value::Array(names));
        }
        // The meaning of a string or a boolean here is unknown; the server checks its arguments itself.
        _ => {}
    }
    Ok(Value::Object(schema))
}

/// The schema of a property as an object, which strict clients require.
fn of_property(schema: Value) -> Result<Value, SchemaError> {
    match schema {
        Value::Object(_) => Ok(schema),
        Value::Bool(true) | Value::Null => Ok(json!({})),
        Value::Bool(false) => Ok(json!({ "not": {} })),
        Value::Array(members) if members.is_empty() => Ok(json!({})),
        other => Err(SchemaError::Property(kind(&other))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MalformedTool, presented};

    fn schema(input: &Value) -> Result<Value, MalformedTool> {
        let tool = presented("s", &json!({ "name": "t", "inputSchema": input }))?;
        Ok(tool["inputSchema"].clone())
    }

    #[test]
    fn schemas_become_object_schemas_if_possible() {
        let any = json!({ "type": "object" });
        for input in [
            json!({}),
            json!([]),
            json!(null),
            json!({ "type": ["object", "null"] }),
            json!({ "properties": [] }),
        ] {
            assert_eq!(schema(&input), Ok(any.clone()), "{input}");
        }
        let odd = json!({ "type": "object", "properties": { "a": true, "b": { "type": "string" } }, "required": "a" });
        let expected = json!({ "type": "object", "properties": { "a": {}, "b": { "type": "string" } } });
        assert_eq!(schema(&odd), Ok(expected));
        for (input, phrase) in [
            (json!({ "type": "array" }), "`type` is not `object`"),
            (json!({ "type": "object", "properties": [{ "name": "a" }] }), "`properties` is a list"),
            (json!({ "properties": { "a": 7 } }), "one of its properties is a number"),
            (json!("object"), "it is a string"),
        ] {
            let wrong = schema(&input).unwrap_err().to_string();
            assert!(wrong.contains(phrase), "{input}: {wrong}");
        }
    }

    #[test]
    fn valid_members_stay_and_the_server_is_named() {
        let tool = json!({ "name": "t", "description": "Does it. ", "inputSchema": { "type": "object", "x": 1 },
            "outputSchema": { "type": "array" }, "annotations": { "readOnlyHint": "yes", "title": "T" }, "icons": {},
            "_meta": { "k": 1 } });
        let expected = json!({ "name": "t", "description": "Does it.\n(server: files)",
            "inputSchema": { "type": "object", "x": 1 }, "annotations": { "title": "T" }, "_meta": { "k": 1 } });
        assert_eq!(presented("files", &tool), Ok(expected));
        let bare = presented("files", &json!({ "name": "t" })).unwrap();
        assert_eq!(bare["description"], "(server: files)");
    }
}
