//! A configuration's text as a tree in which every value has its place.
//!
//! Parses YAML with serde-saphyr, and JSON with comments with jsonc-parser; `top_level` decodes the values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

/// Maximum nesting of a configuration: far more than any needs, and safe for every stack.
const MAX_DEPTH: usize = 64;

/// Maximum values of a configuration, including those repeated by aliases.
const MAX_NODES: usize = 50_000;

/// A position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
pub struct Place {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// Unique within a tree.
    pub(super) id: u32,
    pub(crate) place: Place,
    /// Its byte range in the text; for an alias, that of its anchor.
    pub(super) bytes: (usize, usize),
    /// The value itself.
    pub value: Value,
}

/// A value as it is in the text.
#[derive(Debug, Clone)]
pub enum Value {
    /// A null, as written.
    Null(String),
    /// A boolean, also as written.
    Bool(bool, String),
    /// A number, also as an integer if it is one, and as written.
    Number(f64, Option<u64>, String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys with values, in the order of the file.
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone)]
pub struct Key {
    pub(crate) place: Place,
    /// The key itself.
    pub text: String,
}

impl Node {
    /// The value of a key, if this is a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(name, _)| name.text == key).map(|(_, node)| node)
    }

    /// The entries, if this is a mapping.
    pub fn entries(&self) -> &[(Key, Node)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The scalar as written.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) | Value::Null(text) | Value::Bool(_, text) | Value::Number(_, _, text) => {
                Some(text)
            }
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// As JSON, without places.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null(_) => Json::Null,
            Value::Bool(value, _) => Json::Bool(*value),
            Value::Number(_, Some(whole), _) => Json::from(*whole),
            Value::Number(number, None, _) => Json::from(*number),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => {
                Json::Object(entries.iter().map(|(key, node)| (key.text.clone(), node.to_json())).collect())
            }
        }
    }

    /// Numbers the nodes, and fills in the written form of plain scalars.
    fn number_nodes(&mut self, text: &str, next: &mut u32) {
        self.id = *next;
        *next = next.saturating_add(1);
        let written = text.get(self.bytes.0..self.bytes.1).map(str::trim);
        match &mut self.value {
            Value::Null(raw) => *raw = written.unwrap_or_default().to_owned(),
            Value::Bool(_, raw) | Value::Number(_, _, raw) => {
                if let Some(written) = written.filter(|written| !written.is_empty()) {
                    *raw = written.to_owned();
                }
            }
            Value::Text(_) => {}
            Value::List(items) => items.iter_mut().for_each(|item| item.number_nodes(text, next)),
            Value::Map(entries) => entries.iter_mut().for_each(|(_, node)| node.number_nodes(text, next)),
        }
    }
}

/// Parses YAML.
pub fn yaml(text: &str) -> Result<Node, Box<serde_saphyr::Error>> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH, max_nodes: MAX_NODES },
    };
    let mut node: Node = serde_saphyr::from_str_with_options(text, options).map_err(Box::new)?;
    node.number_nodes(text, &mut 0);
    Ok(node)
}

/// Parses JSON, with comments and trailing commas, and perhaps a byte order mark.
pub fn json(text: &str) -> Result<Node, (Place, String)> {
    let text = strict_json::without_mark(text);
    let at = |position: usize| place_of(text, position);
    // The parser recurses without a limit.
    if let Some(position) = too_deep(text) {
        return Err((at(position), "the file is nested too deeply; simplify it".to_owned()));
    }
    let parsed = jsonc_parser::parse_to_ast(text, &jsonc_parser::CollectOptions::default(), &json_options())
        .map_err(|error| (at(error.range().start), not_json(error.kind())))?;
    let Some(value) = parsed.value else {
        return Err((at(0), "the file is empty; write { \"mcpServers\": {} }".to_owned()));
    };
    let mut node = from_json(&value, text)?;
    node.number_nodes(text, &mut 0);
    Ok(node)
}

fn not_json(kind: &impl fmt::Display) -> String {
    format!("this is not JSON ({kind}); correct it").to_lowercase().replace("json", "JSON")
}

/// The JSON dialect of configurations: comments and trailing commas, and no other extension.
pub fn json_options() -> jsonc_parser::ParseOptions {
    jsonc_parser::ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The position at which brackets are nested too deeply. Brackets inside strings count as well: a text with so many
/// is not a configuration.
fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().position(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_DEPTH
    })
}

/// Line and column of a byte.
pub(super) fn place_of(text: &str, position: usize) -> Place {
    let mut end = position.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.matches('\n').count() as u64 + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    Place { line, column: before[start..].chars().count() as u64 + 1 }
}

fn from_json(value: &jsonc_parser::ast::Value<'_>, text: &str) -> Result<Node, (Place, String)> {
    use jsonc_parser::ast::Value as Json;
    use jsonc_parser::common::Ranged as _;
    let range = value.range();
    let value = match value {
        Json::NullKeyword(_) => Value::Null(String::new()),
        Json::BooleanLit(literal) => Value::Bool(literal.value, literal.value.to_string()),
        Json::NumberLit(literal) => {
            let number = literal.value.parse().unwrap_or(f64::NAN);
            Value::Number(number, literal.value.parse().ok(), literal.value.to_owned())
        }
        Json::StringLit(literal) => Value::Text(literal.value.clone().into_owned()),
        Json::Array(array) => Value::List(
            array.elements.iter().map(|element| from_json(element, text)).collect::<Result<_, _>>()?,
        ),
        Json::Object(object) => {
            let mut entries: Vec<(Key, Node)> = Vec::new();
            for property in &object.properties {
                let name = property.name.as_str().to_owned();
                let place = place_of(text, property.name.range().start);
                if entries.iter().any(|(key, _)| key.text == name) {
                    return Err((place, format!("the key `{name}` appears a second time; keep one of them")));
                }
                entries.push((Key { place, text: name }, from_json(&property.value, text)?));
            }
            Value::Map(entries)
        }
    };
    Ok(Node { id: 0, place: place_of(text, range.start), bytes: (range.start, range.end), value })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value: Untyped(value), referenced, defined } = Spanned::deserialize(deserializer)?;
        let index = |number: Option<u64>| number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
        let (start, length) = (index(defined.span().byte_offset()), index(defined.span().byte_len()));
        let bytes = (start, start.saturating_add(length));
        Ok(Node { id: 0, place: place(referenced), bytes, value })
    }
}

fn place(location: Location) -> Place {
    Place { line: location.line(), column: location.column() }
}

struct Untyped(Value);

impl<'de> Deserialize<'de> for Untyped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UntypedVisitor).map(Untyped)
    }
}

struct UntypedVisitor;

/// An integer that may be out of range for a configuration: too large, or negative.
#[allow(clippy::cast_precision_loss, reason = "only used to report that it is out of range")]
fn integer<E>(number: i128) -> Result<Value, E> {
    Ok(Value::Number(number as f64, u64::try_from(number).ok(), number.to_string()))
}

impl<'de> Visitor<'de> for UntypedVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null(String::new()))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null(String::new()))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value, value.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        integer(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        integer(number.into())
    }

    fn visit_i128<E>(self, number: i128) -> Result<Value, E> {
        integer(number)
    }

    fn visit_u128<E>(self, number: u128) -> Result<Value, E> {
        integer(i128::try_from(number).unwrap_or(i128::MAX))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number, None, number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let key = Key { place: place(key.referenced), text: key.value };
            map.push((key, entries.next_value()?));
        }
        Ok(Value::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::{json, yaml};

    #[test]
    fn every_value_has_its_place_and_its_written_form() {
        let text = "a: [1.10, yes, \"x\"]\nb: &anchor { c: 0x10 }\nd: *anchor\n";
        let tree = yaml(text).unwrap();
        let list = tree.get("a").unwrap();
        assert_eq!((list.place.line, list.place.column), (1, 4));
        let super::Value::List(items) = &list.value else { panic!("{list:?}") };
        assert_eq!(items.iter().map(|item| item.text().unwrap()).collect::<Vec<_>>(), ["1.10", "yes", "x"]);
        let repeated = tree.get("d").unwrap();
        assert_eq!(repeated.place.line, 3);
        assert_eq!(repeated.get("c").unwrap().text(), Some("0x10"));
        assert_eq!(repeated.to_json(), serde_json::json!({ "c": 16 }));
    }

    #[test]
    fn json_allows_comments_and_trailing_commas_only() {
        let tree = json("\u{feff}{ // a comment\r\n  \"a\": [1, \"ü\", true,], /* b */\n}").unwrap();
        assert_eq!(tree.to_json(), serde_json::json!({ "a": [1, "ü", true] }));
        assert_eq!(tree.get("a").unwrap().place.line, 2);
        for wrong in ["", "{ a: 1 }", "{ \"a\": 1 \"b\": 2 }", "{ 'a': 1 }", "{ \"a\": 1, \"a\": 2 }"] {
            assert!(json(wrong).is_err(), "{wrong}");
        }
        assert_eq!(json(&"[".repeat(100_000)).unwrap_err().0.column, 65);
        assert!(yaml(&"[".repeat(100_000)).is_err());
    }
}
