//! Rewrites a server's schema into parts that a validator can be built from: only what has a clear meaning, in the
//! terms of draft 2020-12.
//!
//! Leaving something out makes the check milder, so it is fine where a schema must match. Under `not` and `if` it could
//! make the check stricter or change it; there, a schema is taken over completely or not at all ([`Place::exact`]).

mod assertions;
mod containers;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use serde_json::{Map, Value, json};

use super::{part::PART, pattern::Pattern, reference::Document};

/// Limit on the nodes of all parts together.
const MAX_NODES: usize = 50_000;

/// Limit on parts. Building one takes some 10 µs before its first keyword.
const MAX_PARTS: usize = 1_000;

/// Limit on the paths of all nodes together, in bytes: a validator stores the path of each.
const MAX_PATH_BYTES: usize = 16 * 1024 * 1024;

/// Maximum nesting of schemas within a part; deeper ones are left out. Building a validator takes up to 12 KiB of stack
/// per level, measured without optimisation; the threads of tests and runtimes have 2 MiB.
const MAX_DEPTH: usize = 48;

/// Maximum nesting of values in a schema, the same as serde_json's.
const MAX_VALUE_DEPTH: usize = 128;

/// Limit on compiled patterns, and on how many of them may be large. Compiling a large one takes up to 30 ms.
const MAX_PATTERNS: usize = 200;
const MAX_LARGE_PATTERNS: usize = 16;

/// Weight, in nodes, of a pattern that property names are matched against.
const PATTERN_WEIGHT: usize = 256;

/// A JSON object that holds a schema.
type Schema = Map<String, Value>;

/// The parts of a schema; the first one is its root.
pub(super) struct Rewritten {
    pub(super) parts: Vec<Part>,
    pub(super) patterns: Vec<Arc<Pattern>>,
}

/// A schema without the targets of its references.
pub(super) struct Part {
    pub(super) schema: Value,
    pub(super) weight: usize,
    pub(super) depth: usize,
}

/// The position of a schema.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Number of enclosing schemas in its part.
    depth: usize,
    /// Length of its path, in bytes.
    path: usize,
    /// Whether other schemas describe properties of the same object.
    open: bool,
    /// Whether it must be taken over completely or not at all.
    exact: bool,
}

/// The reason why nothing can be checked against a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is not a JSON object.
    #[error("the schema is not an object")]
    NotAnObject,
    /// Something in it has no clear meaning, or cannot be decided exactly.
    #[error("the schema has no clear meaning")]
    Inexact,
    /// It has too many nodes as it is.
    #[error("the schema has more than {MAX_NODES} nodes")]
    TooManyNodes,
    /// It is too large when rewritten, and in what.
    #[error("the schema has {0}")]
    TooLarge(&'static str),
    /// The validator rejects it: its message, bounded.
    #[error("{0}")]
    Invalid(String),
}

/// Rewrites a document.
///
/// # Errors
/// Returns an error if nothing can be checked against the schema.
pub(super) fn rewrite(root: &Value) -> Result<Rewritten, SchemaError> {
    if !root.is_object() {
        return Err(SchemaError::NotAnObject);
    }
    if size(root, MAX_VALUE_DEPTH).is_none_or(|size| size > MAX_NODES) {
        return Err(SchemaError::TooManyNodes);
    }
    let mut rewriter = Rewriter::new(root);
    rewriter.target(root, false);
    let mut parts = Vec::new();
    while let Some((target, open)) = rewriter.queue.pop_front() {
        parts.push(rewriter.part(target, open)?);
    }
    Ok(Rewritten { parts, patterns: rewriter.patterns })
}

struct Rewriter<'a> {
    document: Document<'a>,
    /// Whether keywords next to `$ref` count. Up to draft 7 they don't.
    siblings_count: bool,
    /// The part index of each target, by its address and [`Place::open`].
    indices: HashMap<(usize, bool), usize>,
    queue: VecDeque<(&'a Value, bool)>,
    patterns: Vec<Arc<Pattern>>,
    pattern_indices: HashMap<&'a str, Option<usize>>,
    places: usize,
    path_bytes: usize,
    /// The greatest depth within the current part.
    depth: usize,
    /// The number of its nodes that are enum choices, which cost nothing because they are looked up.
    choices: usize,
    /// The number of its patterns for property names.
    name_patterns: usize,
}

impl<'a> Rewriter<'a> {
    fn new(root: &'a Value) -> Self {
        let draft = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let old = ["draft-03", "draft-04", "draft-05", "draft-06", "draft-07"];
        Self {
            document: Document::new(root),
            siblings_count: !old.iter().any(|old| draft.contains(old)),
            indices: HashMap::new(),
            queue: VecDeque::new(),
            patterns: Vec::new(),
            pattern_indices: HashMap::new(),
            places: 0,
            path_bytes: 0,
            depth: 0,
            choices: 0,
            name_patterns: 0,
        }
    }

    /// The index of the part for the target of a reference.
    fn target(&mut self, target: &'a Value, open: bool) -> usize {
        let next = self.indices.len();
        *self.indices.entry((std::ptr::from_ref(target) as usize, open)).or_insert_with(|| {
            self.queue.push_back((target, open));
            next
        })
    }

    fn part(&mut self, target: &'a Value, open: bool) -> Result<Part, SchemaError> {
        if self.indices.len() > MAX_PARTS {
            return Err(SchemaError::TooLarge("too many references"));
        }
        (self.depth, self.choices, self.name_patterns) = (0, 0, 0);
        let schema = self.schema(target, Place { depth: 0, path: 0, open, exact: false })?;
        let places = size(&schema, usize::MAX).unwrap_or(usize::MAX);
        let weight = places.saturating_sub(self.choices) + PATTERN_WEIGHT * self.name_patterns;
        Ok(Part { schema, weight, depth: self.depth + 1 })
    }

    /// Skips something, unless the schema must be exact.
    fn leave_out(place: Place) -> Result<(), SchemaError> {
        if place.exact { Err(SchemaError::Inexact) } else { Ok(()) }
    }

    fn schema(&mut self, schema: &'a Value, place: Place) -> Result<Value, SchemaError> {
        self.depth = self.depth.max(place.depth);
        match schema {
            Value::Bool(_) => {
                self.spend(1, place)?;
                Ok(schema.clone())
            }
            Value::Object(schema) if place.depth < MAX_DEPTH => {
                self.spend(1 + schema.len(), place)?;
                self.object(schema, place)
            }
            _ => Self::leave_out(place).map(|()| Value::Bool(true)),
        }
    }

    /// Counts nodes that are taken over.
    fn spend(&mut self, places: usize, place: Place) -> Result<(), SchemaError> {
        self.places += places;
        self.path_bytes += places * place.path;
        if self.places > MAX_NODES {
            return Err(SchemaError::TooLarge("too many nodes, counted once for each reference to them"));
        }
        if self.path_bytes > MAX_PATH_BYTES {
            return Err(SchemaError::TooLarge("names that are too long"));
        }
        Ok(())
    }

    fn object(&mut self, schema: &'a Schema, place: Place) -> Result<Value, SchemaError> {
        let mut made = Schema::new();
        let refers = self.references(schema, place, &mut made)?;
        if !refers || self.siblings_count {
            self.values(schema, place, &mut made)?;
            self.numbers(schema, place, &mut made)?;
            self.texts(schema, place, &mut made)?;
            self.arrays(schema, place, &mut made)?;
            self.objects(schema, place, &mut made)?;
            self.unions(schema, place, &mut made)?;
            self.conditions(schema, place, &mut made)?;
        }
        // In OpenAPI 3.0 this allows null, whatever else the schema says.
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            self.depth = self.depth.max(place.depth + 1);
            return Ok(json!({ "anyOf": [{ "type": "null" }, made] }));
        }
        Ok(Value::Object(made))
    }

    /// Turns references into parts. Returns whether there is one.
    fn references(
        &mut self,
        schema: &'a Schema,
        place: Place,
        made: &mut Schema,
    ) -> Result<bool, SchemaError> {
        let keywords = ["$ref", "$dynamicRef", "$recursiveRef"];
        // Within one document, a dynamic reference resolves like a static one.
        let found = keywords.iter().find_map(|keyword| schema.get(*keyword));
        let Some(reference) = found else { return Ok(false) };
        let target = reference.as_str().and_then(|reference| self.document.resolve(reference));
        match target {
            Some(target) if !place.exact => {
                let index = self.target(target, place.open || sources(schema) > 1);
                made.insert(PART.to_owned(), json!(index));
            }
            _ => Self::leave_out(place)?,
        }
        Ok(true)
    }

    /// `allOf`, `anyOf` and `oneOf`.
    fn unions(&mut self, schema: &'a Schema, place: Place, made: &mut Schema) -> Result<(), SchemaError> {
        let inner = Place { open: place.open || sources(schema) > 1, ..place };
        let mut all = match self.list(schema, "allOf", inner)? {
            Some(Value::Array(all)) => all,
            _ => Vec::new(),
        };
        let any = self.list(schema, "anyOf", inner)?;
        let one = self.list(schema, "oneOf", inner)?;
        if one.is_some() {
            Self::leave_out(place)?;
        }
        match (any, one) {
            (Some(any), Some(one)) => {
                made.insert("anyOf".to_owned(), any);
                all.push(json!({ "anyOf": one }));
            }
            (Some(choice), None) | (None, Some(choice)) => {
                made.insert("anyOf".to_owned(), choice);
            }
            (None, None) => {}
        }
        if !all.is_empty() {
            made.insert("allOf".to_owned(), Value::Array(all));
        }
        Ok(())
    }

    /// The schemas of a keyword that takes an array of them.
    fn list(
        &mut self,
        schema: &'a Schema,
        keyword: &str,
        place: Place,
    ) -> Result<Option<Value>, SchemaError> {
        match schema.get(keyword) {
            None => Ok(None),
            Some(Value::Array(schemas)) if !schemas.is_empty() => {
                let place = Place { depth: place.depth + 1, path: place.path + keyword.len() + 4, ..place };
                let made: Result<Vec<Value>, SchemaError> =
                    schemas.iter().map(|schema| self.schema(schema, place)).collect();
                Ok(Some(Value::Array(made?)))
            }
            Some(_) => Self::leave_out(place).map(|()| None),
        }
    }

    /// `not`, and `if` with `then` and `else`.
    fn conditions(&mut self, schema: &'a Schema, place: Place, made: &mut Schema) -> Result<(), SchemaError> {
        if let Some(denied) = self.exactly(schema, "not", place)? {
            made.insert("not".to_owned(), denied);
        }
        if !schema.contains_key("then") && !schema.contains_key("else") {
            return Ok(());
        }
        let Some(condition) = self.exactly(schema, "if", place)? else { return Ok(()) };
        made.insert("if".to_owned(), condition);
        for keyword in ["then", "else"] {
            if let Some(consequence) = schema.get(keyword) {
                let inner = Place { open: place.open || sources(schema) > 1, ..place };
                made.insert(keyword.to_owned(), self.below(consequence, keyword, inner)?);
            }
        }
        Ok(())
    }

    /// The schema of a keyword, if it can be taken over completely.
    fn exactly(
        &mut self,
        schema: &'a Schema,
        keyword: &str,
        place: Place,
    ) -> Result<Option<Value>, SchemaError> {
        let Some(inner) = schema.get(keyword) else { return Ok(None) };
        match self.below(inner, keyword, Place { open: false, exact: true, ..place }) {
            Ok(made) => Ok(Some(made)),
            Err(SchemaError::Inexact) => Self::leave_out(place).map(|()| None),
            Err(failure) => Err(failure),
        }
    }

    /// A subschema that applies to the same value.
    fn below(&mut self, schema: &'a Value, step: &str, place: Place) -> Result<Value, SchemaError> {
        self.schema(schema, Place { depth: place.depth + 1, path: place.path + step.len() + 1, ..place })
    }

    /// A subschema that applies to a child of the value.
    fn inside(&mut self, schema: &'a Value, step: &str, place: Place) -> Result<Value, SchemaError> {
        // The path contains the keyword too.
        let path = place.path + step.len() + 24;
        self.schema(schema, Place { depth: place.depth + 1, path, open: false, exact: place.exact })
    }

    /// The index of a pattern.
    fn pattern(&mut self, text: &'a str) -> Option<usize> {
        if let Some(index) = self.pattern_indices.get(text) {
            return *index;
        }
        let known = self.pattern_indices.len();
        let pattern =
            (known < MAX_PATTERNS).then(|| Pattern::new(text, known >= MAX_LARGE_PATTERNS)).flatten();
        let index = pattern.map(|pattern| {
            self.patterns.push(Arc::new(pattern));
            self.patterns.len() - 1
        });
        self.pattern_indices.insert(text, index);
        index
    }
}

/// The number of schemas, including this one, that describe properties of the same object.
fn sources(schema: &Schema) -> usize {
    let has = |keyword: &&str| schema.contains_key(*keyword);
    let own = ["properties", "patternProperties"].iter().any(has);
    let others = ["$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "then", "else"];
    let others = others.iter().chain(&["dependentSchemas", "dependencies"]);
    let all = schema.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
    usize::from(own) + others.filter(|keyword| has(keyword)).count() + all
}

/// The number of nodes in a value; `None` if it is nested more deeply than `depth`.
fn size(value: &Value, depth: usize) -> Option<usize> {
    let inner = |value| size(value, depth.checked_sub(1)?);
    match value {
        Value::Array(items) => items.iter().try_fold(1, |sum, item| Some(sum + inner(item)?)),
        Value::Object(members) => members.values().try_fold(1, |sum, member| Some(sum + inner(member)?)),
        _ => Some(1),
    }
}
