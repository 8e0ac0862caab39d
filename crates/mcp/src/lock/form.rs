//! The file format: strict about keys, and exact about the position of errors.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value, value::RawValue};

use super::content::{Lock, LockedServer, LockedTool, Observed, Shape};
use crate::text::shown;

/// The version of the format; a file with a higher one was written by a newer program.
pub const LOCK_VERSION: u64 = 1;

/// Maximum length of a name in an error, in bytes.
const NAME_BYTES: usize = 80;

/// An error in the text of a lock file, with its position.
#[derive(Debug, thiserror::Error)]
pub(super) enum FormError {
    #[error(
        "was written by a newer toolsmith: its version is {0}, this one supports {LOCK_VERSION}; update toolsmith"
    )]
    Newer(u64),
    #[error("has the version {0}, which does not exist")]
    UnknownVersion(u64),
    #[error("is malformed: {what} at line {line} column {column}")]
    Malformed { what: String, line: usize, column: usize },
    #[error("is wrong at {place}: {what} at line {line} column {column}")]
    Wrong { place: String, what: &'static str, line: usize, column: usize },
}

/// Common to all versions of the format.
#[derive(Deserialize)]
struct Header {
    version: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm<'a> {
    #[serde(rename = "version")]
    _version: IgnoredAny,
    #[serde(borrow)]
    servers: Entries<ServerForm<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerForm<'a> {
    #[serde(default)]
    pinned: bool,
    #[serde(borrow)]
    tools: Entries<ToolForm<'a>>,
}

/// Values are parsed separately, so that they may be as deep as in a server's list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolForm<'a> {
    hash: String,
    #[serde(borrow)]
    tool: &'a RawValue,
    #[serde(borrow)]
    observed: Option<ObservedForm<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ObservedForm<'a> {
    #[serde(rename = "outputSchema", borrow)]
    output_schema: Option<&'a RawValue>,
    text: Option<String>,
    #[serde(default)]
    content: Vec<String>,
    samples: u64,
}

/// Whether a text is an object with servers. No value in it is parsed, so their depth does not matter.
pub(super) fn has_servers(text: &str) -> bool {
    let keys = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text);
    keys.is_ok_and(|keys| keys.contains_key("servers"))
}

/// Parses a lock.
pub(super) fn parse(text: &str) -> Result<Lock, FormError> {
    let Header { version } = serde_json::from_str(text).map_err(|error| wrong(&error, Position::START))?;
    if version > LOCK_VERSION {
        return Err(FormError::Newer(version));
    }
    if version < LOCK_VERSION {
        return Err(FormError::UnknownVersion(version));
    }
    let file: FileForm<'_> = serde_json::from_str(text).map_err(|error| wrong(&error, Position::START))?;
    let mut lock = Lock::default();
    for (server, form) in file.servers.0 {
        let mut locked = LockedServer { pinned: form.pinned, ..LockedServer::default() };
        for (name, form) in form.tools.0 {
            let tool = form.read(text, &name, || {
                format!("{}.{}", shown(&server, NAME_BYTES), shown(&name, NAME_BYTES))
            })?;
            locked.tools.insert(name, tool);
        }
        lock.servers.insert(server, locked);
    }
    Ok(lock)
}

impl ToolForm<'_> {
    fn read(&self, text: &str, name: &str, place: impl Fn() -> String) -> Result<LockedTool, FormError> {
        let wrong = |what, part: &RawValue| {
            let Position { line, column } = Position::of(part, text);
            FormError::Wrong { place: place(), what, line, column }
        };
        let mut locked = LockedTool::new(value(self.tool, text)?);
        if locked.tool.get("name").and_then(Value::as_str) != Some(name) {
            return Err(wrong("the tool has another name", self.tool));
        }
        if locked.hash != self.hash {
            let what = "its hash is not that of the tool, so it was changed by hand";
            return Err(wrong(what, self.tool));
        }
        if let Some(observed) = &self.observed {
            let shape = match (observed.output_schema, &observed.text) {
                (Some(part), None) => {
                    let schema = value(part, text)?;
                    if !schema.is_object() && !schema.is_boolean() {
                        return Err(wrong("its observed output schema is not a schema", part));
                    }
                    Shape::OutputSchema(schema)
                }
                (None, Some(sample)) => Shape::Text(sample.clone()),
                _ => return Err(wrong("observed must be either an `outputSchema` or a `text`", self.tool)),
            };
            locked.observed =
                Some(Observed { shape, content: observed.content.clone(), samples: observed.samples });
        }
        Ok(locked)
    }
}

/// Describes an error in a text that starts at this position of the file.
fn wrong(error: &serde_json::Error, start: Position) -> FormError {
    let Position { line, column } = start;
    let text = error.to_string();
    let end = format!(" at line {} column {}", error.line(), error.column());
    let what = text.strip_suffix(&end).unwrap_or(&text);
    let column = if error.line() <= 1 { column + error.column().saturating_sub(1) } else { error.column() };
    let line = line + error.line().saturating_sub(1);
    FormError::Malformed { what: what.to_owned(), line, column }
}

/// A position in the text: line and column, both from 1, columns in bytes as serde_json counts them.
#[derive(Clone, Copy)]
struct Position {
    line: usize,
    column: usize,
}

impl Position {
    const START: Position = Position { line: 1, column: 1 };

    /// Returns the position of a part of the text.
    fn of(part: &RawValue, text: &str) -> Self {
        let offset = (part.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let before = text.get(..offset).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Position { line: before.matches('\n').count() + 1, column: before.len() - line_start + 1 }
    }
}

fn value(part: &RawValue, text: &str) -> Result<Value, FormError> {
    let read: Result<Unique, _> = serde_json::from_str(part.get());
    read.map(|unique| unique.0).map_err(|error| wrong(&error, Position::of(part, text)))
}

fn duplicate<E: de::Error>(name: &str) -> E {
    E::custom(format_args!("{:?} appears twice", shown(name, NAME_BYTES)))
}

/// An object with unique keys of any name.
struct Entries<T>(BTreeMap<String, T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
            type Value = Entries<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some(name) = access.next_key::<String>()? {
                    if entries.contains_key(&name) {
                        return Err(duplicate(&name));
                    }
                    entries.insert(name, access.next_value()?);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

/// Any value whose objects have unique keys.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Unique)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number that is not finite"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Unique(item)) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(duplicate(&name));
            }
            let Unique(member) = access.next_value()?;
            members.insert(name, member);
        }
        Ok(Value::Object(members))
    }
}
