//! The arguments of a tool as `mcp call` takes them: `KEY=TEXT` and `KEY:=JSON`, checked by name, and described by a
//! usage line.

use runner::nearest;
use serde_json::{Map, Value};

/// Maximum number of arguments in a usage line.
const ARGUMENTS_SHOWN: usize = 20;

/// Reads `KEY=TEXT` and `KEY:=JSON`.
///
/// # Errors
/// If one of them is neither, its JSON is invalid, or a key is given twice: what, and how to write it.
pub(crate) fn read(items: &[String]) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for item in items {
        let Some((key, value)) = item.split_once('=').filter(|(key, _)| !matches!(*key, "" | ":")) else {
            return Err(format!(
                "{item:?} is not an argument: write KEY=TEXT or KEY:=JSON, or pass a JSON object with --args"
            ));
        };
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => (key, json(key, value)?),
            None => (key, Value::from(value)),
        };
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(format!("the argument {key:?} is given twice"));
        }
    }
    Ok(arguments)
}

fn json(key: &str, text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| {
        format!(
            "the value of {key:?} is not JSON: {error}; write {key}=TEXT for a text, {key}:=JSON otherwise"
        )
    })
}

/// The first argument that the schema does not describe, with similar names that it does. `None` if the schema
/// describes no names, or allows others explicitly.
pub(crate) fn unknown<'a>(
    arguments: &'a Map<String, Value>,
    schema: &'a Value,
) -> Option<(&'a str, Vec<&'a str>)> {
    let known = schema["properties"].as_object().filter(|known| !known.is_empty())?;
    let allows_others =
        schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false));
    if allows_others || schema.get("patternProperties").is_some() {
        return None;
    }
    let name = arguments.keys().find(|name| !known.contains_key(*name))?;
    Some((name, nearest(name, known.keys().map(String::as_str))))
}

/// A tool with its arguments as they are typed: required ones first, optional ones in brackets.
pub(crate) fn usage(server: &str, tool: &str, schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut arguments: Vec<_> = schema["properties"].as_object().into_iter().flatten().collect();
    arguments.sort_by_key(|(name, _)| required.iter().position(|other| other == name).unwrap_or(usize::MAX));
    let more = arguments.len().saturating_sub(ARGUMENTS_SHOWN);
    let shown = arguments.into_iter().take(ARGUMENTS_SHOWN).map(|(name, schema)| {
        let name = printable::name(name);
        let argument = match kind(schema) {
            "string" => format!("{name}=TEXT"),
            kind => format!("{name}:={}", kind.to_uppercase()),
        };
        if required.contains(&name.as_str()) { argument } else { format!("[{argument}]") }
    });
    let mut words = vec![format!("{server}.{}", printable::name(tool))];
    words.extend(shown);
    if more > 0 {
        words.push(format!("… and {more} more"));
    }
    words.join(" ")
}

/// The type of an argument in a usage line.
fn kind(schema: &Value) -> &str {
    let is_text = schema["enum"].as_array().is_some_and(|values| values.iter().all(Value::is_string));
    match schema["type"].as_str() {
        None if is_text => "string",
        kind => kind.unwrap_or("json"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn items(items: &[&str]) -> Result<Value, String> {
        read(&items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>()).map(Value::Object)
    }

    #[test]
    fn equals_is_text_and_colon_equals_is_json() {
        let read =
            items(&["path=/a", "head:=5", "url=http://a/?b:=c", "empty=", "list:=[1, \"x\"]", "a=b=c"]);
        let expected = json!({
            "path": "/a", "head": 5, "url": "http://a/?b:=c", "empty": "", "list": [1, "x"], "a": "b=c"
        });
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn wrong_arguments_are_errors_with_their_form() {
        for wrong in ["path", "=x", ":=1", ""] {
            assert!(items(&[wrong]).unwrap_err().contains("write KEY=TEXT or KEY:=JSON"), "{wrong}");
        }
        assert!(items(&["head:=five"]).unwrap_err().contains("write head=TEXT for a text"));
        assert_eq!(items(&["a=1", "a:=2"]), Err("the argument \"a\" is given twice".to_owned()));
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "any": {}, "head": { "type": "integer" }, "mode": { "enum": ["a", "b"] },
                "path": { "type": "string" }
            },
            "required": ["path"]
        })
    }

    #[test]
    fn an_unknown_name_is_found_with_the_nearest_ones() {
        let given = items(&["pth=/a"]).unwrap();
        assert_eq!(unknown(given.as_object().unwrap(), &schema()), Some(("pth", vec!["path"])));
        let known = items(&["path=/a", "head:=1"]).unwrap();
        assert_eq!(unknown(known.as_object().unwrap(), &schema()), None);
        for open in [json!({}), json!({ "properties": {} }), {
            let mut open = schema();
            open["additionalProperties"] = json!(true);
            open
        }] {
            assert_eq!(unknown(given.as_object().unwrap(), &open), None, "{open}");
        }
    }

    #[test]
    fn the_usage_line_shows_required_arguments_first_and_types() {
        assert_eq!(
            usage("files", "read", &schema()),
            "files.read path=TEXT [any:=JSON] [head:=INTEGER] [mode=TEXT]"
        );
        assert_eq!(usage("a", "b", &json!({})), "a.b");
    }
}
