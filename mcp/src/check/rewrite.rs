//! From the schema that a server wrote to parts that a validator can be built from: what has a clear meaning in the
//! words of draft 2020-12, and nothing else.
//!
//! What is left out makes the check milder, so it may be left out wherever a schema must hold. Under `not` and `if`
//! it would make the check stricter or another one; there, all or nothing is taken over ([`Place::exact`]).

mod assertions;
mod containers;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use serde_json::{Map, Value, json};

use super::{part::PART, pattern::Pattern, reference::Document};

/// How many places the parts may have together.
const MAX_PLACES: usize = 50_000;

/// How many parts there may be. Building one takes some 10 µs before its first keyword.
const MAX_PARTS: usize = 1_000;

/// How many bytes the paths of all places may have together: a validator holds the path of each.
const MAX_PATH_BYTES: usize = 16 * 1024 * 1024;

/// How deep the schemas of a part may lie within each other; what lies deeper is left out. Building a validator takes up
/// to 12 KiB of stack for each, measured without optimisation; the threads of tests and runtimes have 2 MiB.
const MAX_DEPTH: usize = 48;

/// How deep the values of a schema may lie within each other, as serde_json has it.
const MAX_VALUE_DEPTH: usize = 128;

/// How many patterns are looked at, and up to which one they may be large. Compiling a large one takes up to 30 ms.
const MAX_PATTERNS: usize = 200;
const MAX_LARGE_PATTERNS: usize = 16;

/// How many places a pattern counts for that names of properties are matched with.
const PATTERN_WEIGHT: usize = 256;

/// What `Rewriter`'s methods take and make.
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

/// Where a schema stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// In how many other schemas of its part.
    depth: usize,
    /// How long its path is, in bytes.
    path: usize,
    /// Whether other schemas describe properties of the same object.
    open: bool,
    /// Whether it must be taken over as a whole or not at all.
    exact: bool,
}

/// Why a schema is not taken over.
enum Failure {
    /// Something in it has no clear meaning, or none that can be decided for sure.
    Inexact,
    /// The document is too large.
    TooLarge(&'static str),
}

/// Rewrites a document.
///
/// # Errors
/// The reason why nothing can be checked against it.
pub(super) fn rewrite(root: &Value) -> Result<Rewritten, String> {
    if !root.is_object() {
        return Err("the schema is no object".to_owned());
    }
    if size(root, MAX_VALUE_DEPTH).is_none_or(|size| size > MAX_PLACES) {
        return Err(format!("the schema has more than {MAX_PLACES} places"));
    }
    let mut rewriter = Rewriter::new(root);
    rewriter.target(root, false);
    let mut parts = Vec::new();
    while let Some((target, open)) = rewriter.queue.pop_front() {
        let part = rewriter.part(target, open).map_err(|failure| match failure {
            Failure::Inexact => "the schema has no clear meaning".to_owned(),
            Failure::TooLarge(reason) => format!("the schema {reason}"),
        })?;
        parts.push(part);
    }
    Ok(Rewritten { parts, patterns: rewriter.patterns })
}

struct Rewriter<'a> {
    document: Document<'a>,
    /// Whether keywords beside `$ref` count. Up to draft 7 they don't.
    siblings_count: bool,
    /// The index of the part of each target, by its address and [`Place::open`].
    indices: HashMap<(usize, bool), usize>,
    queue: VecDeque<(&'a Value, bool)>,
    patterns: Vec<Arc<Pattern>>,
    pattern_indices: HashMap<&'a str, Option<usize>>,
    places: usize,
    path_bytes: usize,
    /// The greatest depth within the part at hand.
    depth: usize,
    /// How many of its places are choices that cost nothing, because they are looked up.
    choices: usize,
    /// How many patterns for names of properties it has.
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

    fn part(&mut self, target: &'a Value, open: bool) -> Result<Part, Failure> {
        if self.indices.len() > MAX_PARTS {
            return Err(Failure::TooLarge("has too many references"));
        }
        (self.depth, self.choices, self.name_patterns) = (0, 0, 0);
        let schema = self.schema(target, Place { depth: 0, path: 0, open, exact: false })?;
        let places = size(&schema, usize::MAX).unwrap_or(usize::MAX);
        let weight = places.saturating_sub(self.choices) + PATTERN_WEIGHT * self.name_patterns;
        Ok(Part { schema, weight, depth: self.depth + 1 })
    }

    /// Notes that something is left out, if that is possible here.
    fn leave_out(place: Place) -> Result<(), Failure> {
        if place.exact { Err(Failure::Inexact) } else { Ok(()) }
    }

    fn schema(&mut self, schema: &'a Value, place: Place) -> Result<Value, Failure> {
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

    /// Counts places that are taken over.
    fn spend(&mut self, places: usize, place: Place) -> Result<(), Failure> {
        self.places += places;
        self.path_bytes += places * place.path;
        if self.places > MAX_PLACES {
            return Err(Failure::TooLarge("has too many places, counted once for each reference to them"));
        }
        if self.path_bytes > MAX_PATH_BYTES {
            return Err(Failure::TooLarge("has names that are too long"));
        }
        Ok(())
    }

    fn object(&mut self, schema: &'a Schema, place: Place) -> Result<Value, Failure> {
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
        // OpenAPI 3.0 means by this that null is fine, whatever else the schema says.
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            self.depth = self.depth.max(place.depth + 1);
            return Ok(json!({ "anyOf": [{ "type": "null" }, made] }));
        }
        Ok(Value::Object(made))
    }

    /// References become parts. Says whether there is one.
    fn references(&mut self, schema: &'a Schema, place: Place, made: &mut Schema) -> Result<bool, Failure> {
        let keywords = ["$ref", "$dynamicRef", "$recursiveRef"];
        // Within one document, a dynamic reference leads where a static one does.
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
    fn unions(&mut self, schema: &'a Schema, place: Place, made: &mut Schema) -> Result<(), Failure> {
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

    /// The schemas of a keyword that has several.
    fn list(&mut self, schema: &'a Schema, keyword: &str, place: Place) -> Result<Option<Value>, Failure> {
        match schema.get(keyword) {
            None => Ok(None),
            Some(Value::Array(schemas)) if !schemas.is_empty() => {
                let place = Place { depth: place.depth + 1, path: place.path + keyword.len() + 4, ..place };
                let made: Result<Vec<Value>, Failure> =
                    schemas.iter().map(|schema| self.schema(schema, place)).collect();
                Ok(Some(Value::Array(made?)))
            }
            Some(_) => Self::leave_out(place).map(|()| None),
        }
    }

    /// `not`, and `if` with what follows from it.
    fn conditions(&mut self, schema: &'a Schema, place: Place, made: &mut Schema) -> Result<(), Failure> {
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

    /// The schema of a keyword, if it can be taken over as a whole.
    fn exactly(&mut self, schema: &'a Schema, keyword: &str, place: Place) -> Result<Option<Value>, Failure> {
        let Some(inner) = schema.get(keyword) else { return Ok(None) };
        match self.below(inner, keyword, Place { open: false, exact: true, ..place }) {
            Ok(made) => Ok(Some(made)),
            Err(Failure::Inexact) => Self::leave_out(place).map(|()| None),
            Err(failure) => Err(failure),
        }
    }

    /// A schema that is one step below another one, about the same value.
    fn below(&mut self, schema: &'a Value, step: &str, place: Place) -> Result<Value, Failure> {
        self.schema(schema, Place { depth: place.depth + 1, path: place.path + step.len() + 1, ..place })
    }

    /// A schema that is one step below another one, about a part of its value.
    fn inside(&mut self, schema: &'a Value, step: &str, place: Place) -> Result<Value, Failure> {
        // As it stands in the path: after its keyword.
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

/// How many schemas describe properties of the same object, the one at hand among them.
fn sources(schema: &Schema) -> usize {
    let has = |keyword: &&str| schema.contains_key(*keyword);
    let own = ["properties", "patternProperties"].iter().any(has);
    let others = ["$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "then", "else"];
    let others = others.iter().chain(&["dependentSchemas", "dependencies"]);
    let all = schema.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
    usize::from(own) + others.filter(|keyword| has(keyword)).count() + all
}

/// How many places a value has; none if it is deeper than that.
fn size(value: &Value, depth: usize) -> Option<usize> {
    let inner = |value| size(value, depth.checked_sub(1)?);
    match value {
        Value::Array(items) => items.iter().try_fold(1, |sum, item| Some(sum + inner(item)?)),
        Value::Object(members) => members.values().try_fold(1, |sum, member| Some(sum + inner(member)?)),
        _ => Some(1),
    }
}
