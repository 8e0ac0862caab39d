//! Compares two normalised schemas.

use super::change::Change;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use crate::form::{Body, Definition, Fact, Form, Kind, Note, Struct};
use crate::normalise::DEEPEST;
use crate::text::clean;

/// Maximum number of pairs of definitions compared.
const MAX_PAIRS: usize = 10_000;
/// The longest name or value in a line, in characters.
const MAX_SHOWN: usize = 60;

/// The comparison of two documents.
pub(super) struct Comparison<'a> {
    old: &'a [Definition],
    new: &'a [Definition],
    /// Pairs that are compared or queued.
    seen: BTreeSet<(usize, usize)>,
    open: VecDeque<(Path, usize, usize)>,
    lines: Vec<Change>,
}

/// A place in both documents.
#[derive(Debug, Clone)]
struct Path {
    text: String,
    depth: usize,
}

impl Path {
    fn step(&self, part: &str) -> Path {
        Path { text: format!("{}{part}", self.text), depth: self.depth + 1 }
    }

    fn field(&self, key: &str) -> Path {
        self.step(&format!(".{}", clean(key, MAX_SHOWN)))
    }
}

/// A property of an object.
enum Property<'a> {
    Field { form: &'a Form, required: bool, note: &'a Note },
    Constant(&'a Value),
}

impl<'a> Comparison<'a> {
    pub(super) fn new(old: &'a [Definition], new: &'a [Definition]) -> Self {
        Comparison { old, new, seen: BTreeSet::new(), open: VecDeque::new(), lines: Vec::new() }
    }

    pub(super) fn inputs(self, old: usize, new: usize) -> Vec<Change> {
        self.run("input", &Form::Named(old), &Form::Named(new))
    }

    pub(super) fn outputs(self, old: &Form, new: &Form) -> Vec<Change> {
        self.run("output", old, new)
    }

    fn run(mut self, name: &str, old: &Form, new: &Form) -> Vec<Change> {
        self.form(&Path { text: name.to_owned(), depth: 0 }, old, new);
        while let Some((path, old, new)) = self.open.pop_front() {
            let pair = self.old.get(old).zip(self.new.get(new));
            if let Some((old, new)) = pair {
                self.definition(&path, old, new);
            }
        }
        self.lines
    }

    fn report(&mut self, path: &Path, change: &str) {
        self.lines.push(Change::new(format!("{}: {change}", path.text)));
    }

    fn form(&mut self, path: &Path, old: &Form, new: &Form) {
        let ((old, null_before), (new, null_after)) = (without_null(old), without_null(new));
        match (null_before, null_after) {
            (false, true) => self.report(path, "null now allowed"),
            (true, false) => self.report(path, "null no longer allowed"),
            _ => {}
        }
        match (old, new) {
            (Form::Named(old), Form::Named(new)) => {
                let depth = path.depth <= 2 * DEEPEST && self.seen.len() < MAX_PAIRS;
                if depth && self.seen.insert((*old, *new)) {
                    self.open.push_back((path.clone(), *old, *new));
                }
            }
            (Form::List(old), Form::List(new)) => self.form(&path.step("[]"), old, new),
            (Form::Map(old), Form::Map(new)) => self.form(&path.step(".*"), old, new),
            (Form::Tuple(old), Form::Tuple(new)) if old.len() == new.len() => {
                for (index, (old, new)) in old.iter().zip(new).enumerate() {
                    self.form(&path.step(&format!("[{index}]")), old, new);
                }
            }
            (old, new) if old == new => {}
            (old, new) => self.type_changed(path, &words(old, self.old, 0), &words(new, self.new, 0)),
        }
    }

    fn type_changed(&mut self, path: &Path, old: &str, new: &str) {
        self.report(path, &format!("type changed from {old} to {new}"));
    }

    fn definition(&mut self, path: &Path, old: &Definition, new: &Definition) {
        if old.description != new.description {
            self.report(path, "description of the type changed");
        }
        match (&old.body, &new.body) {
            (Body::Struct(old), Body::Struct(new)) => self.structs(path, old, new),
            (Body::Texts { values: old, loose }, Body::Texts { values: new, loose: now_loose }) => {
                self.listed(path, "enum value", old.iter(), new.iter());
                match (loose, now_loose) {
                    (false, true) => self.report(path, "other values now allowed"),
                    (true, false) => self.report(path, "other values no longer allowed"),
                    _ => {}
                }
            }
            (Body::Tagged { tag, variants: old }, Body::Tagged { tag: now_tag, variants: new })
                if tag == now_tag =>
            {
                let tags = |variants: &'_ [(String, Form)]| -> Vec<String> {
                    variants.iter().map(|(tag, _)| tag.clone()).collect()
                };
                self.listed(path, "variant", tags(old).iter(), tags(new).iter());
                let known: BTreeMap<&String, &Form> = old.iter().map(|(tag, form)| (tag, form)).collect();
                for (tag, new) in new {
                    if let Some(old) = known.get(tag) {
                        self.form(&path.step(&format!("<{}>", clean(tag, MAX_SHOWN))), old, new);
                    }
                }
            }
            (Body::Kinds(old), Body::Kinds(new)) => self.kinds(path, old, new),
            (Body::Whole, Body::Whole) => {}
            (old, new) => self.type_changed(path, &body_words(old), &body_words(new)),
        }
    }

    /// Reports the names that were added or removed.
    fn listed<'t>(
        &mut self,
        path: &Path,
        what: &str,
        old: impl Iterator<Item = &'t String>,
        new: impl Iterator<Item = &'t String>,
    ) {
        let (old, new): (BTreeSet<&String>, BTreeSet<&String>) = (old.collect(), new.collect());
        for name in old.difference(&new) {
            self.report(path, &format!("{what} {:?} removed", clean(name, MAX_SHOWN)));
        }
        for name in new.difference(&old) {
            self.report(path, &format!("{what} {:?} added", clean(name, MAX_SHOWN)));
        }
    }

    fn kinds(&mut self, path: &Path, old: &[(Kind, Form)], new: &[(Kind, Form)]) {
        let find = |forms: &'_ [(Kind, Form)], kind: Kind| {
            forms.iter().find(|(known, _)| *known == kind).map(|(_, form)| form.clone())
        };
        for kind in [Kind::Text, Kind::Number, Kind::Boolean, Kind::List, Kind::Object] {
            match (find(old, kind), find(new, kind)) {
                (Some(old), Some(new)) => self.form(path, &old, &new),
                (Some(_), None) => self.report(path, &format!("{} no longer allowed", kind.name())),
                (None, Some(_)) => self.report(path, &format!("{} now allowed", kind.name())),
                (None, None) => {}
            }
        }
    }

    fn structs(&mut self, path: &Path, old: &Struct, new: &Struct) {
        let (before, after) = (properties(old), properties(new));
        let keys: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
        for key in keys {
            let path = path.field(key);
            match (before.get(key), after.get(key)) {
                (Some(old), Some(new)) => self.property(&path, old, new),
                (Some(_), None) => self.report(&path, "removed"),
                (None, Some(Property::Field { required: false, .. })) => {
                    self.report(&path, "added, optional");
                }
                (None, Some(_)) => self.report(&path, "added, required"),
                (None, None) => {}
            }
        }
        match (&old.extra, &new.extra) {
            (Some(old), Some(new)) => self.form(&path.step(".*"), old, new),
            (Some(_), None) => self.report(path, "further properties no longer described"),
            (None, Some(extra)) => {
                let of = words(extra, self.new, 0);
                self.report(path, &format!("further properties now allowed: {of}"));
            }
            (None, None) => {}
        }
    }

    fn property(&mut self, path: &Path, old: &Property<'_>, new: &Property<'_>) {
        let (was_required, is_required) = (old.is_required(), new.is_required());
        match (was_required, is_required) {
            (false, true) => self.report(path, "now required"),
            (true, false) => self.report(path, "now optional"),
            _ => {}
        }
        match (old, new) {
            (Property::Constant(old), Property::Constant(new)) if old == new => {}
            (Property::Constant(old), Property::Constant(new)) => {
                self.report(path, &format!("value changed from {} to {}", shown(old), shown(new)));
            }
            (Property::Constant(old), Property::Field { form, .. }) => {
                self.type_changed(path, &format!("only {}", shown(old)), &words(form, self.new, 0));
            }
            (Property::Field { form, .. }, Property::Constant(new)) => {
                self.type_changed(path, &words(form, self.old, 0), &format!("only {}", shown(new)));
            }
            (Property::Field { form: old, note, .. }, Property::Field { form: new, note: now, .. }) => {
                self.form(path, old, new);
                if note.description != now.description {
                    self.lines.push(Change::of_description(&format!("{}: ", path.text)));
                }
                self.facts(path, &note.facts, &now.facts);
            }
        }
    }

    fn facts(&mut self, path: &Path, old: &[Fact], new: &[Fact]) {
        let find =
            |facts: &'_ [Fact], keyword: &str| facts.iter().find(|fact| fact.keyword == keyword).cloned();
        let value = |fact: &Fact| clean(&fact.value, MAX_SHOWN);
        // Changes of the type are reported already.
        let facts = old.iter().chain(new).filter(|fact| fact.keyword != "type");
        let keywords: BTreeSet<&str> = facts.map(|fact| fact.keyword).collect();
        for keyword in keywords {
            let change = match (find(old, keyword), find(new, keyword)) {
                (Some(old), Some(new)) if old.value == new.value && old.words == new.words => continue,
                (Some(old), Some(new)) => {
                    format!("{keyword} changed from {} to {}", value(&old), value(&new))
                }
                (Some(old), None) => format!("{keyword} {} removed", value(&old)),
                (None, Some(new)) => format!("{keyword} {} added", value(&new)),
                (None, None) => continue,
            };
            self.report(path, &change.replace("  ", " "));
        }
    }
}

impl Property<'_> {
    fn is_required(&self) -> bool {
        matches!(self, Property::Constant(_) | Property::Field { required: true, .. })
    }
}

fn properties(body: &Struct) -> BTreeMap<&str, Property<'_>> {
    let fields = body.fields.iter().map(|field| {
        let property = Property::Field { form: &field.form, required: field.required, note: &field.note };
        (field.key.as_str(), property)
    });
    let constants = body.constants.iter().map(|(key, value)| (key.as_str(), Property::Constant(value)));
    fields.chain(constants).collect()
}

fn without_null(form: &Form) -> (&Form, bool) {
    match form {
        Form::Nullable(inner) => (inner, true),
        other => (other, false),
    }
}

fn shown(value: &Value) -> String {
    clean(&value.to_string(), MAX_SHOWN)
}

/// A type in JSON Schema terms.
fn words(form: &Form, definitions: &[Definition], depth: usize) -> String {
    let inner = |form: &Form| words(form, definitions, depth + 1);
    match form {
        _ if depth > DEEPEST => "…".to_owned(),
        Form::Any | Form::Lost(_) | Form::Pending(_) => "any value".to_owned(),
        Form::Null => "null".to_owned(),
        Form::Boolean => "boolean".to_owned(),
        Form::Integer => "integer".to_owned(),
        Form::Unsigned => "unsigned integer".to_owned(),
        Form::Number => "number".to_owned(),
        Form::Text => "string".to_owned(),
        Form::Scalar(kinds) => Kind::any_of(kinds),
        Form::List(item) => format!("array of {}", inner(item)),
        Form::Tuple(items) => {
            let items: Vec<String> = items.iter().map(inner).collect();
            format!("array of exactly {}", items.join(", "))
        }
        Form::Map(value) => format!("map of {}", inner(value)),
        Form::Nullable(some) => format!("{} or null", inner(some)),
        Form::Named(index) => {
            definitions.get(*index).map_or_else(|| "any value".to_owned(), |found| body_words(&found.body))
        }
    }
}

fn body_words(body: &Body) -> String {
    match body {
        Body::Struct(_) => "object".to_owned(),
        Body::Texts { .. } => "enum".to_owned(),
        Body::Tagged { tag, .. } => format!("union of objects by {:?}", clean(tag, MAX_SHOWN)),
        Body::Kinds(variants) => Kind::any_of(variants.iter().map(|(kind, _)| kind)),
        Body::Whole => "any value".to_owned(),
    }
}
