//! Writes entries into JSON objects that are in one line: the editor would break such a line.

use config::tree::json_options;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::{Value as Json, json};

/// Adds or replaces a member of the object at a path, in the style of its line. `None` if it is not in one line.
pub(crate) fn set(text: &str, path: &[&str], name: &str, value: &Json) -> Option<String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &json_options()).ok()?;
    let root = parsed.value?;
    let mut object = root.as_object()?;
    let mut parts = path.iter();
    while let Some(part) = parts.as_slice().first() {
        let Some(member) = object.get(part) else { break };
        object = member.value.as_object()?;
        parts.next();
    }
    // Missing objects of the path are added with the member.
    let missing = parts.copied().chain([name]).collect::<Vec<_>>();
    let (name, below) = missing.split_first()?;
    let value = &below.iter().rev().fold(value.clone(), |value, part| json!({ (*part): value }));
    let line = object.text(text);
    let is_of_lines = object.properties.is_empty() && text.trim().contains('\n');
    if line.contains('\n') || is_of_lines || line.trim() == text.trim() && object.properties.is_empty() {
        return None;
    }
    let style = Style::of(if object.properties.is_empty() { text.trim() } else { line });
    let (range, new) = match (object.get(name), object.properties.last()) {
        (Some(member), _) => (member.value.start()..member.value.end(), style.written(value)),
        (None, Some(last)) => {
            (last.end()..last.end(), format!("{}{}", style.comma, style.member(name, value)))
        }
        (None, None) => (object.start()..object.end(), style.braced(&style.member(name, value))),
    };
    Some([text.get(..range.start)?, &new, text.get(range.end..)?].concat())
}

/// The spaces of a line.
struct Style {
    pad: &'static str,
    colon: &'static str,
    comma: &'static str,
}

impl Style {
    fn of(line: &str) -> Self {
        let is_wide = line.contains("\": ");
        Style {
            pad: if line.starts_with("{ ") { " " } else { "" },
            colon: if is_wide { ": " } else { ":" },
            comma: if is_wide { ", " } else { "," },
        }
    }

    fn braced(&self, members: &str) -> String {
        format!("{{{pad}{members}{pad}}}", pad = self.pad)
    }

    fn member(&self, name: &str, value: &Json) -> String {
        format!("{}{}{}", Json::from(name), self.colon, self.written(value))
    }

    fn written(&self, value: &Json) -> String {
        match value {
            Json::Object(members) if !members.is_empty() => {
                let members: Vec<String> =
                    members.iter().map(|(name, value)| self.member(name, value)).collect();
                self.braced(&members.join(self.comma))
            }
            Json::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.written(item)).collect();
                format!("[{}]", items.join(self.comma))
            }
            value => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::set;

    #[test]
    fn a_line_stays_a_line() {
        let add = |text: &str| set(text, &["a", "b"], "new", &json!({ "x": [1, 2] }));
        for (text, expected) in [
            ("{\"a\":{\"b\":{\"c\":{}}}}\n", "{\"a\":{\"b\":{\"c\":{},\"new\":{\"x\":[1,2]}}}}\n"),
            (
                "{ \"a\": { \"b\": { \"c\": 1 } } }",
                "{ \"a\": { \"b\": { \"c\": 1, \"new\": { \"x\": [1, 2] } } } }",
            ),
            ("{\"a\":{\"b\":{\"new\":7}}}", "{\"a\":{\"b\":{\"new\":{\"x\":[1,2]}}}}"),
            ("{\"theme\":\"dark\"}", "{\"theme\":\"dark\",\"a\":{\"b\":{\"new\":{\"x\":[1,2]}}}}"),
            ("{\"a\":{}}", "{\"a\":{\"b\":{\"new\":{\"x\":[1,2]}}}}"),
        ] {
            assert_eq!(add(text).as_deref(), Some(expected));
        }
        for text in ["{}", "{\n  \"a\": {}\n}", "{\n  \"a\": { \"b\": {\n} }\n}", "[1]", "{"] {
            assert_eq!(add(text), None, "{text}");
        }
    }
}
