//! Writes the schemas of one tool: with the definitions that it has room for.

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value, json};

use crate::schema::{Pool, Size, each_schema, references, size, undescribed};

/// Limit on the definitions of a schema: the generator of types reads as many.
const MAX_DEFINITIONS: usize = 300;

/// The direction of a schema's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Sent: read-only members are not required (OpenAPI 3.0, "readOnly").
    Request,
    /// Received: write-only members are not required.
    Answer,
}

/// The parts of a schema that a tool has room for.
pub(crate) struct Selection {
    included: HashSet<usize>,
    is_described: bool,
    /// Whether each part is included.
    pub(crate) is_whole: bool,
    /// The length of all together, in bytes.
    pub(crate) bytes: usize,
}

/// A translated schema with its size and references, which are needed for each room that is tried.
pub(crate) struct Measured<'a> {
    pub(crate) schema: &'a Value,
    size: Size,
    references: Vec<usize>,
}

impl<'a> Measured<'a> {
    pub(crate) fn of(schema: &'a Value) -> Self {
        Measured { schema, size: size(schema), references: references(schema) }
    }
}

/// Selects the parts for a translated schema with `room` bytes: with descriptions if all fit, otherwise without, the
/// nearest parts first.
pub(crate) fn select(pool: &Pool<'_>, schema: &Measured<'_>, room: usize) -> Selection {
    let described = within(pool, schema, room, true);
    if described.is_whole && described.bytes <= room { described } else { within(pool, schema, room, false) }
}

fn within(pool: &Pool<'_>, schema: &Measured<'_>, room: usize, is_described: bool) -> Selection {
    let own = schema.size;
    let mut selection = Selection {
        included: HashSet::new(),
        is_described,
        is_whole: true,
        bytes: if is_described { own.described } else { own.bare },
    };
    let mut next: VecDeque<usize> = schema.references.clone().into();
    let mut seen: HashSet<usize> = next.iter().copied().collect();
    while let Some(number) = next.pop_front() {
        let part = &pool.parts[number];
        let bytes = if is_described { part.size.described } else { part.size.bare };
        let bytes = bytes + part.name.len() + 4;
        if selection.bytes + bytes > room || selection.included.len() >= MAX_DEFINITIONS {
            selection.is_whole = false;
            continue;
        }
        selection.bytes += bytes;
        selection.included.insert(number);
        next.extend(part.references.iter().copied().filter(|number| seen.insert(*number)));
    }
    selection
}

/// Writes a schema with its definitions.
pub(crate) fn render(pool: &Pool<'_>, schema: &Value, selection: &Selection, direction: Direction) -> Value {
    let mut rendered = adapted(pool, schema, selection, direction);
    let mut numbers: Vec<usize> = selection.included.iter().copied().collect();
    numbers.sort_unstable_by(|one, other| pool.parts[*one].name.cmp(&pool.parts[*other].name));
    if !numbers.is_empty() {
        let definition = |number: usize| {
            let part = &pool.parts[number];
            (part.name.clone(), adapted(pool, &part.schema, selection, direction))
        };
        let definitions: Map<String, Value> = numbers.into_iter().map(definition).collect();
        if let Value::Object(members) = &mut rendered {
            members.insert("$defs".to_owned(), Value::Object(definitions));
        }
    }
    rendered
}

/// A schema with named references, for one direction.
fn adapted(pool: &Pool<'_>, schema: &Value, selection: &Selection, direction: Direction) -> Value {
    let mut schema = schema.clone();
    if !selection.is_described {
        undescribed(&mut schema);
    }
    each_schema(&mut schema, &mut |members| {
        name_reference(pool, members, selection);
        relax(pool, members, direction);
        if direction == Direction::Request && members.get("format") == Some(&json!("binary")) {
            members.insert("contentEncoding".to_owned(), json!("base64"));
        }
    });
    schema
}

fn name_reference(pool: &Pool<'_>, members: &mut Map<String, Value>, selection: &Selection) {
    let Some(number) = members.get("$ref").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
    else {
        return;
    };
    if selection.included.contains(&number) {
        let name = pool.parts[number].name.replace('~', "~0").replace('/', "~1");
        members.insert("$ref".to_owned(), format!("#/$defs/{name}").into());
    } else {
        members.shift_remove("$ref");
    }
}

/// Removes members that do not exist in this direction from `required`.
fn relax(pool: &Pool<'_>, members: &mut Map<String, Value>, direction: Direction) {
    let other = match direction {
        Direction::Request => "readOnly",
        Direction::Answer => "writeOnly",
    };
    let properties = members.get("properties").and_then(Value::as_object);
    let is_of_other = |name: &str| {
        let property = properties.and_then(|properties| properties.get(name));
        property.is_some_and(|property| {
            pool.target(property)[other] == json!(true) || property[other] == json!(true)
        })
    };
    let Some(required) = members.get("required").and_then(Value::as_array) else { return };
    let kept: Vec<Value> =
        required.iter().filter(|name| !name.as_str().is_some_and(&is_of_other)).cloned().collect();
    if kept.len() < required.len() {
        members.insert("required".to_owned(), kept.into());
    }
}
