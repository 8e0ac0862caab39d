//! Decodes the tree of a configuration into typed forms, and reports every error, not only the first.
//!
//! A node with an error is reported and left out, and the rest is decoded again without it. Rules between values are
//! checked elsewhere (`validation`, `server`).

use std::collections::BTreeSet;
use std::fmt;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, MapAccess, SeqAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::tree::{Key, Node, Place, Value};
use super::variables;

/// Maximum errors reported for one part of a configuration.
const MAX_PROBLEMS: usize = 100;

/// An error and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) place: Place,
    pub(crate) message: String,
}

/// First character of the names of structs whose fields are all decoded from one node: `place` gets the node's place,
/// the others its value.
const SIDES: char = '\0';

/// Name of newtypes that receive a text with variables expanded.
pub(super) const EXPANDED: &str = "\0expanded";

/// Name of newtypes that receive the bytes of a path, resolved against the folder of the configuration.
pub(super) const PATH: &str = "\0path";

/// Like [`PATH`], with variables not expanded: a path that is safe to show.
pub(super) const SHOWN_PATH: &str = "\0path to show";

/// Returns the value of a variable.
pub(super) type Lookup = fn(&str) -> Option<String>;

/// The context of relative paths and variables in a configuration.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// The base of relative paths.
    pub(super) folder: &'a Path,
    pub(super) lookup: Lookup,
}

/// Decodes `node`; each node that doesn't fit is left out and reported in `problems`.
pub(super) fn decode<T: DeserializeOwned + Default>(
    node: &Node,
    surroundings: Surroundings<'_>,
    problems: &mut Vec<Problem>,
) -> T {
    let mut left_out = BTreeSet::new();
    for _ in 0..MAX_PROBLEMS {
        match T::deserialize(NodeDecoder { node, scope: Scope { left_out: &left_out, surroundings } }) {
            Ok(form) => return form,
            Err(Wrong { place, culprit, message, missing: _ }) => {
                if let Some(message) = message {
                    problems.push(Problem { place: place.unwrap_or(node.place), message });
                }
                match culprit {
                    Some(culprit) if culprit != node.id && left_out.insert(culprit) => {}
                    _ => return T::default(),
                }
            }
        }
    }
    T::default()
}

/// The reason why a value can't be decoded.
#[derive(Debug)]
struct Wrong {
    place: Option<Place>,
    /// The node to leave out.
    culprit: Option<u32>,
    /// The message, unless it is already reported.
    message: Option<String>,
    /// The key that is missing.
    missing: Option<&'static str>,
}

impl Wrong {
    fn at(mut self, place: Place, culprit: u32) -> Self {
        self.place.get_or_insert(place);
        self.culprit.get_or_insert(culprit);
        self
    }

    /// Drops the message about a missing key that was only left out: its own error is already reported.
    fn less_left_out(mut self, entries: &[(Key, Node)], left_out: &BTreeSet<u32>) -> Self {
        let missing = self.missing.take();
        let is_reported =
            |(key, node): &(Key, Node)| Some(&*key.text) == missing && left_out.contains(&node.id);
        if entries.iter().any(is_reported) {
            self.message = None;
        }
        self
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message.as_deref().unwrap_or_default())
    }
}

impl std::error::Error for Wrong {}

/// Names of keys in the configurations of other clients, and the keys of the same meaning here.
const OTHER_NAMES: [(&str, &str); 15] = [
    ("alwaysAllow", "permissions"),
    ("autoApprove", "permissions"),
    ("cmd", "command"),
    ("context_servers", "mcpServers"),
    ("disabled", "enabled"),
    ("environment", "env"),
    ("excludeTools", "disabledTools"),
    ("httpUrl", "url"),
    ("includeTools", "enabledTools"),
    ("mcp", "mcpServers"),
    ("mcp_servers", "mcpServers"),
    ("request_timeout_ms", "requestTimeout"),
    ("serverUrl", "url"),
    ("server", "mcpServers"),
    ("servers", "mcpServers"),
];

/// Advice about an unknown key at the top level, which may be a server's name.
const BELOW_SERVERS: &str = " (indent a server below `mcpServers`)";

impl serde::de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Wrong { place: None, culprit: None, message: Some(message.to_string()), missing: None }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        if let Some((key, value)) = field.split_once(':').filter(|(key, _)| expected.contains(key)) {
            return Self::custom(format!("`{field}` has no space after the colon; write `{key}: {value}`"));
        }
        let near = expected.iter().map(|known| (strsim::osa_distance(known, field), known)).min();
        let elsewhere =
            OTHER_NAMES.iter().filter(|(other, known)| *other == field && expected.contains(known));
        let meant = elsewhere.map(|(_, known)| known).next();
        let near = near.filter(|(distance, _)| *distance <= 2).map(|(_, known)| known);
        Self::custom(match meant.or(near) {
            Some(known) => format!("unknown key `{field}`; did you mean `{known}`?"),
            None => {
                let of_servers = if expected.contains(&"mcpServers") { BELOW_SERVERS } else { "" };
                format!("unknown key `{field}`{of_servers}; write one of {}", expected.join(", "))
            }
        })
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format!("unknown value `{variant}`; write one of {}", expected.join(", ")))
    }

    fn invalid_type(_: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::custom(format!("expected {expected}"))
    }

    fn missing_field(field: &'static str) -> Self {
        let wrong = Self::custom(format!("the key `{field}` is missing; write `{field}: …`"));
        Wrong { missing: Some(field), ..wrong }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::custom(format!("`{field}` is set twice, once by its other name; keep one"))
    }
}

const A_TEXT: &str = "expected a single value, not a list or a mapping; write one value";

/// State shared by all nodes.
#[derive(Clone, Copy)]
struct Scope<'a> {
    left_out: &'a BTreeSet<u32>,
    surroundings: Surroundings<'a>,
}

#[derive(Clone, Copy)]
struct NodeDecoder<'a> {
    node: &'a Node,
    scope: Scope<'a>,
}

impl<'a> NodeDecoder<'a> {
    fn place<T>(self, done: Result<T, Wrong>) -> Result<T, Wrong> {
        done.map_err(|wrong| wrong.at(self.node.place, self.node.id))
    }

    fn wrong<T>(self, message: &str) -> Result<T, Wrong> {
        self.place(Err(Wrong::custom(message)))
    }

    fn text(self) -> Result<&'a str, Wrong> {
        match &self.node.value {
            Value::Null(_) => self.wrong("expected a string; write one, or \"\" for the empty string"),
            _ => self.node.text().map_or_else(|| self.wrong(A_TEXT), Ok),
        }
    }

    /// The text with variables expanded.
    fn expanded(self) -> Result<String, Wrong> {
        let expanded = variables::expand_for_program(self.text()?, self.scope.surroundings.lookup);
        expanded.or_else(|error| self.wrong(&error.to_string()))
    }

    fn path(self, text: &str) -> Vec<u8> {
        self.scope.surroundings.folder.join(text).into_os_string().into_vec()
    }

    fn list(self, items: &'a [Node]) -> Items<'a> {
        Items { items: items.iter(), scope: self.scope }
    }

    fn map(self, entries: &'a [(Key, Node)]) -> Entries<'a> {
        Entries { entries: entries.iter(), value: None, scope: self.scope }
    }
}

impl<'de> Deserializer<'de> for NodeDecoder<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.place(match &self.node.value {
            Value::Null(_) => visitor.visit_unit(),
            Value::Bool(value, _) => visitor.visit_bool(*value),
            Value::Number(_, Some(whole), _) => visitor.visit_u64(*whole),
            Value::Number(number, None, _) => visitor.visit_f64(*number),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(self.list(items)),
            Value::Map(entries) => visitor.visit_map(self.map(entries)),
        })
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.node.value {
            Value::Bool(value, _) => self.place(visitor.visit_bool(*value)),
            _ => self.wrong("expected true or false"),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.node.value {
            Value::Number(_, Some(whole), _) => self.place(visitor.visit_u64(*whole)),
            _ => self.wrong("expected an integer, such as 60"),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.node.value {
            Value::Number(number, _, _) => self.place(visitor.visit_f64(*number)),
            _ => self.wrong("expected a number, such as 2.5"),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.place(visitor.visit_str(self.text()?))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.node.value {
            Value::Null(_) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.node.value {
            Value::List(items) => self.place(visitor.visit_seq(self.list(items))),
            // For example `args:` without a value.
            Value::Null(_) => self.place(visitor.visit_seq(self.list(&[]))),
            _ => self.wrong("expected a list; write [first, second]"),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.node.value {
            Value::Map(entries) => self.place(
                visitor
                    .visit_map(self.map(entries))
                    .map_err(|wrong| wrong.less_left_out(entries, self.scope.left_out)),
            ),
            Value::Null(_) => self.place(visitor.visit_map(self.map(&[]))),
            _ => self.wrong("expected a mapping; write `key: value` lines, or { key: value }"),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        if name.starts_with(SIDES) {
            return visitor.visit_map(Sides::new(fields, self.node.place, self));
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.place(match name {
            EXPANDED => visitor.visit_newtype_struct(self.expanded()?.into_deserializer()),
            PATH => visitor.visit_byte_buf(self.path(&self.expanded()?)),
            SHOWN_PATH => visitor.visit_byte_buf(self.path(self.text()?)),
            _ => visitor.visit_newtype_struct(self),
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match self.node.text() {
            Some(text) => self.place(visitor.visit_enum(text.into_deserializer())),
            None => self.wrong(A_TEXT),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }
}

/// Decodes a node's value. Errors of the value's own rules get the node's place as well.
fn node_of<'de, S: DeserializeSeed<'de>>(node: &Node, scope: Scope<'_>, seed: S) -> Result<S::Value, Wrong> {
    let decoder = NodeDecoder { node, scope };
    decoder.place(seed.deserialize(decoder))
}

struct Items<'a> {
    items: std::slice::Iter<'a, Node>,
    scope: Scope<'a>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let scope = self.scope;
        let next = self.items.by_ref().find(|item| !scope.left_out.contains(&item.id));
        next.map(|node| node_of(node, scope, seed)).transpose()
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, (Key, Node)>,
    value: Option<&'a Node>,
    scope: Scope<'a>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        let left_out = self.scope.left_out;
        let Some((key, node)) = self.entries.by_ref().find(|(_, node)| !left_out.contains(&node.id)) else {
            return Ok(None);
        };
        self.value = Some(node);
        let decoder = KeyDecoder { text: &key.text, place: key.place };
        seed.deserialize(decoder).map(Some).map_err(|wrong| wrong.at(key.place, node.id))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        match self.value.take() {
            Some(node) => node_of(node, self.scope, seed),
            None => Err(Wrong::custom("a value without a key")),
        }
    }
}

struct KeyDecoder<'a> {
    text: &'a str,
    place: Place,
}

impl<'de> Deserializer<'de> for KeyDecoder<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_str(self.text)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let inner: StrDeserializer<'_, Wrong> = self.text.into_deserializer();
        visitor.visit_map(Sides::new(fields, self.place, inner))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Struct fields that are all decoded from one node.
struct Sides<D> {
    fields: std::slice::Iter<'static, &'static str>,
    /// Whether the next value is the place.
    is_place: bool,
    place: Place,
    inner: D,
}

impl<D> Sides<D> {
    fn new(fields: &'static [&'static str], place: Place, inner: D) -> Self {
        Sides { fields: fields.iter(), is_place: false, place, inner }
    }
}

impl<'de, D: Deserializer<'de, Error = Wrong> + Copy> MapAccess<'de> for Sides<D> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        let Some(field) = self.fields.next() else { return Ok(None) };
        self.is_place = *field == "place";
        seed.deserialize(field.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        if self.is_place {
            let numbers = [("line", self.place.line), ("column", self.place.column)];
            return seed.deserialize(serde::de::value::MapDeserializer::new(numbers.into_iter()));
        }
        seed.deserialize(self.inner)
    }
}
