//! The arguments of a tool as `mcp call` takes them: `KEY=TEXT` and `KEY:=JSON`, checked by name, and described by a
//! usage line.

use serde_json::{Map, Value};
use snippet::nearest;

use mcp::tool_members::{Members, kind_of};

/// Maximum number of arguments in a usage line.
const ARGUMENTS_SHOWN: usize = 20;

/// The reason why words are no arguments, and how to write them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct InvalidArgument(String);

/// Reads `KEY=TEXT` and `KEY:=JSON`.
///
/// # Errors
/// If one of them is neither, its JSON is invalid, or a key is given twice: what, and how to write it.
pub(crate) fn read(items: &[String]) -> Result<Map<String, Value>, InvalidArgument> {
    let mut arguments = Map::new();
    for item in items {
        let Some((key, value)) = item.split_once('=').filter(|(key, _)| !matches!(*key, "" | ":")) else {
            return Err(InvalidArgument(format!(
                "{item:?} is not an argument: write KEY=TEXT or KEY:=JSON, or pass a JSON object with --args"
            )));
        };
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => (key, json(key, value)?),
            None => (key, Value::from(value)),
        };
        if arguments.insert(key.to_owned(), value).is_some() {
            let message = format!("the argument {key:?} is given twice; keep one of them");
            return Err(InvalidArgument(message));
        }
    }
    Ok(arguments)
}

fn json(key: &str, text: &str) -> Result<Value, InvalidArgument> {
    serde_json::from_str(strict_json::without_mark(text)).map_err(|error| {
        InvalidArgument(format!(
            "the value of {key:?} is not JSON: {error}; write {key}=TEXT for a text, {key}:=JSON otherwise"
        ))
    })
}

/// The first argument that the schema does not describe, with similar names that it does. `None` if the schema
/// describes no names, or allows others explicitly.
pub(crate) fn unknown<'a>(
    arguments: &'a Map<String, Value>,
    members: &Members<'a>,
) -> Option<(&'a str, Vec<&'a str>)> {
    let name = arguments.keys().find(|name| !members.allows(name))?;
    Some((name, nearest(name, members.names())))
}

/// A tool with its arguments as they are typed: required ones first, optional ones in brackets.
pub(crate) fn usage(server: &str, tool: &str, members: &Members<'_>) -> String {
    let mut arguments = members.named.clone();
    arguments.sort_by_key(|(name, _)| !members.required.contains(name));
    let more = arguments.len().saturating_sub(ARGUMENTS_SHOWN);
    let shown = arguments.into_iter().take(ARGUMENTS_SHOWN).map(|(given, schema)| {
        let name = printable::name(given);
        let argument = match kind_of(schema) {
            Some("string") => format!("{name}=TEXT"),
            kind => format!("{name}:={}", kind.unwrap_or("json").to_uppercase()),
        };
        if members.required.contains(given) { argument } else { format!("[{argument}]") }
    });
    let mut words = vec![format!("{server}.{}", printable::name(tool))];
    words.extend(shown);
    if more > 0 {
        words.push(format!("… and {more} more"));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn items(items: &[&str]) -> Result<Value, InvalidArgument> {
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
            assert!(items(&[wrong]).unwrap_err().0.contains("write KEY=TEXT or KEY:=JSON"), "{wrong}");
        }
        assert!(items(&["head:=five"]).unwrap_err().0.contains("write head=TEXT for a text"));
        assert_eq!(
            items(&["a=1", "a:=2"]),
            Err(InvalidArgument("the argument \"a\" is given twice; keep one of them".to_owned()))
        );
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
        let schema = schema();
        let members = Members::of(&schema);
        assert_eq!(unknown(given.as_object().unwrap(), &members), Some(("pth", vec!["path"])));
        let known = items(&["path=/a", "head:=1"]).unwrap();
        assert_eq!(unknown(known.as_object().unwrap(), &members), None);
    }

    #[test]
    fn the_usage_line_shows_required_arguments_first_and_types() {
        let line = |server: &str, tool: &str, schema: Value| usage(server, tool, &Members::of(&schema));
        assert_eq!(
            line("files", "read", schema()),
            "files.read path=TEXT [any:=JSON] [head:=INTEGER] [mode=TEXT]"
        );
        assert_eq!(line("a", "b", json!({})), "a.b");
        let alternatives = json!({
            "properties": { "limit": { "type": "integer" } }, "required": ["limit"],
            "oneOf": [
                { "properties": { "kind": { "const": "a" }, "alpha": { "type": "string" } }, "required": ["alpha"] },
                { "properties": { "kind": { "const": "b" }, "beta": { "type": "integer" } } },
            ],
        });
        assert_eq!(
            line("a", "b", alternatives),
            "a.b limit:=INTEGER [kind=TEXT] [alpha=TEXT] [beta:=INTEGER]"
        );
    }
}
