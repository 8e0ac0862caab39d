//! Reads a value, and records the first mismatch with its position.

use serde_json::{Map, Number, Value, map};

use super::Mismatch;
use super::mismatch::{Step, Texts, quote, shortened};
use super::number::Unheld;
use super::written::Written;
use crate::warning::warn;

/// The input of reading.
///
/// Reading always runs to the end: the first mismatch is recorded, and the type is filled with any value. The caller
/// then takes the mismatch and discards the value. So generated code needs no early return, which after each field
/// would be most of the code to compile.
#[derive(Debug, Default)]
pub struct Reader {
    /// The whole input, for messages; null if not needed.
    whole: Value,
    /// Numbers in it that a `Value` can't hold.
    unheld: Unheld,
    /// Server and tool of an answer, for messages.
    whose: String,
    /// The open containers, outermost first.
    open: Vec<Container>,
    /// Whether the current value is missing.
    missing: bool,
    mismatch: Option<Mismatch>,
    /// The answer, if it is not an object.
    instead: Option<Value>,
    /// The written form of the object whose rest is to be read next.
    written: Option<Box<Written>>,
    /// Whether the input may be the only item of a list.
    may_be_item: bool,
    /// Whether the input is an answer, of which something declared must have come.
    is_answer: bool,
    /// Whether all further input is ignored: after a mismatch, or if there is none.
    pub(crate) stopped: bool,
}

/// An object or array being read: the rest of it, and the current position.
#[derive(Debug)]
struct Container {
    rest: Rest,
    step: Step,
}

#[derive(Debug)]
enum Rest {
    /// An object; a field that was taken is null.
    Fields {
        fields: Map<String, Value>,
        /// The number of declared fields that were found.
        found: usize,
        /// The members that were null.
        nulls: Vec<&'static str>,
        /// The members that did not fit, and belong to the rest.
        misfits: Vec<&'static str>,
    },
    Entries(map::IntoIter),
    Items(std::vec::IntoIter<Value>),
}

impl Reader {
    /// A reader of an answer, in which some doubles are placeholders for numbers.
    #[must_use]
    pub(crate) fn new(whole: Value, unheld: Unheld, whose: &str) -> Self {
        Reader { whole, unheld, whose: whose.to_owned(), is_answer: true, ..Reader::default() }
    }

    /// Like [`Reader::new`], for what text blocks say: a single value may be the only item of a list.
    #[must_use]
    pub(crate) fn of_texts(whole: Value, unheld: Unheld, whose: &str) -> Self {
        Reader { may_be_item: true, ..Reader::new(whole, unheld, whose) }
    }

    /// The input.
    pub(crate) fn input(&self) -> &Value {
        &self.whole
    }

    /// A reader without input, whose results are ignored.
    #[must_use]
    pub fn stopped() -> Self {
        Reader { stopped: true, ..Reader::default() }
    }

    /// A copy of the input.
    #[must_use]
    pub fn whole(&self) -> Value {
        self.whole.clone()
    }

    /// Records that `found`, the current value, is not what is `expected`.
    pub fn mismatch(&mut self, expected: &str, found: &Value) {
        self.note(None, expected, Some(found).filter(|_| !self.missing));
    }

    /// Whether the value is a number whose double is a placeholder.
    pub(crate) fn is_unheld(&self, value: &Value) -> bool {
        matches!(value, Value::Number(number) if self.unheld.text(number).is_some())
    }

    /// Whether the value is a number whose double has lost its fraction.
    pub(crate) fn is_fraction(&self, value: &Value) -> bool {
        matches!(value, Value::Number(number) if self.unheld.fraction(number).is_some())
    }

    /// The text of a number whose double is a placeholder.
    pub(crate) fn unheld_text(&self, number: &Number) -> Option<&str> {
        self.unheld.text(number)
    }

    /// Records a mismatch for a placeholder in the current value.
    pub(crate) fn require_held(&mut self, value: &Value) {
        if let Some(text) = self.unheld.find(value) {
            let found = text.to_owned();
            self.keep(None, "64-bit numbers or doubles", found);
        }
    }

    /// Names the value that is read, for messages.
    pub(crate) fn whose(&self) -> &str {
        if self.whose.is_empty() { "an answer" } else { &self.whose }
    }

    /// The current value as any value, without placeholders.
    #[must_use]
    pub fn held(&self, mut value: Value) -> Value {
        self.unheld.settle(&mut value, self.whose());
        value
    }

    /// Records that the string is not one of `texts`.
    pub fn unknown_text(&mut self, texts: &[&str], text: String) {
        self.mismatch(&format!("one of {}", Texts(texts)), &Value::String(text));
    }

    /// Records that the value is not an object whose field `tag` is one of `tags`.
    pub fn unknown_tag(&mut self, tag: &'static str, tags: &[&str], value: &Value) {
        if !value.is_object() {
            self.mismatch("object", value);
        } else if value.get(tag).is_some_and(Value::is_string) {
            self.mismatch(&format!("{tag} of one of {}", Texts(tags)), value);
        } else {
            self.note(Some(&Step::Field(tag)), "string", value.get(tag));
        }
    }

    /// Ends reading: returns the input and the first mismatch, if any. Numbers that a `Value` can't hold are strings in
    /// it.
    #[must_use]
    pub fn end(mut self) -> (Value, Option<Mismatch>) {
        self.unheld.spell_out(&mut self.whole);
        (self.whole, self.mismatch)
    }

    /// Opens an object; returns its level for [`Reader::take`].
    pub fn object(&mut self, value: Value) -> usize {
        let fields = self.fields(value);
        self.enter(Rest::Fields { fields, found: 0, nulls: Vec::new(), misfits: Vec::new() })
    }

    /// Like [`Reader::object`], for a type that accepts anything: an answer that is not an object is kept as it is.
    pub fn any_object(&mut self, value: Value) -> usize {
        self.is_answer = false;
        if value.is_object() || !self.open.is_empty() {
            return self.object(value);
        }
        self.mismatch("object", &value);
        self.accept();
        let level = self.object(Value::Object(Map::new()));
        self.instead = Some(value);
        level
    }

    /// Keeps a field that does not fit among the rest, with a warning instead of the mismatch.
    pub(super) fn keep_misfit(&mut self, level: usize, key: &'static str, value: Value) {
        self.accept();
        if let Some(Container { rest: Rest::Fields { fields, misfits, .. }, .. }) = self.at(level) {
            fields.insert(key.to_owned(), value);
            misfits.push(key);
        }
    }

    /// Turns a mismatch into a warning.
    fn accept(&mut self) {
        self.stopped = false;
        if let Some(mismatch) = self.mismatch.take() {
            let whose = &self.whose;
            warn(
                format!(
                    "{whose} answered what does not fit its output schema, and was not checked: {mismatch}"
                ),
                None,
            );
        }
    }

    /// Whether the field that was taken last is missing.
    pub(super) fn is_missing(&self) -> bool {
        self.missing
    }

    /// Takes a field from the object at `level`. A missing one reads as null, which optional types accept.
    pub fn take(&mut self, level: usize, key: &'static str) -> Value {
        match self.at(level) {
            Some(Container { rest: Rest::Fields { fields, found, nulls, .. }, step }) => {
                *step = Step::Field(key);
                let value = fields.get_mut(key).map(Value::take);
                if let Some(value) = &value {
                    *found += 1;
                    if value.is_null() {
                        nulls.push(key);
                    }
                }
                self.missing = value.is_none();
                value.unwrap_or_default()
            }
            _ => Value::Null,
        }
    }

    /// The object of a variant, without the field that chose the variant.
    pub fn untagged(&mut self, mut value: Value, tag: &str) -> Value {
        if let Value::Object(fields) = &mut value {
            fields.shift_remove(tag);
            // This declared field has come.
            self.is_answer &= !self.open.is_empty();
        }
        value
    }

    /// Takes the fields that are not `declared`, and notes how the object was written. `declared` has the order in which
    /// the type writes its fields.
    pub fn rest(&mut self, level: usize, declared: &[&str]) -> Value {
        let is_answer = self.is_answer;
        let Some(container) = self.at(level) else { return Value::Null };
        container.step = Step::Stay;
        let Rest::Fields { fields, found, nulls, misfits } = &mut container.rest else { return Value::Null };
        let (found, nulls, fields) = (*found, std::mem::take(nulls), std::mem::take(fields));
        let mut rest = Map::new();
        let mut names = Vec::with_capacity(fields.len());
        let (mut next, mut in_order) = (0, nulls.is_empty());
        for (name, value) in fields {
            match declared.iter().position(|declared| *declared == name) {
                Some(at) if !misfits.contains(&name.as_str()) => {
                    in_order &= at >= next && rest.is_empty();
                    next = at + 1;
                    let was_null = nulls.contains(&name.as_str());
                    names.push((name, was_null));
                }
                _ => {
                    names.push((name.clone(), false));
                    rest.insert(name, value);
                }
            }
        }
        self.written = match self.instead.take() {
            Some(value) => Some(Box::new(Written::Other(value))),
            None => (!in_order).then(|| Box::new(Written::Object(names))),
        };
        if is_answer && found == 0 && !rest.is_empty() && !declared.is_empty() && self.is_whole_answer() {
            self.none_declared(declared, &rest);
        }
        Value::Object(rest)
    }

    /// Like [`Reader::rest`], for fields that the schema describes: an answer may consist of them alone.
    pub fn described_rest(&mut self, level: usize, declared: &[&str]) -> Value {
        let is_answer = std::mem::take(&mut self.is_answer);
        let rest = self.rest(level, declared);
        self.is_answer = is_answer;
        rest
    }

    /// Whether the innermost open object is the answer itself, or the only value that SDKs wrap as `result`.
    fn is_whole_answer(&self) -> bool {
        match self.open.as_slice() {
            [_] => true,
            [outer, _] => matches!(outer.step, Step::Field("result")),
            _ => false,
        }
    }

    /// Records that an answer has other fields than the declared ones, but none of these.
    fn none_declared(&mut self, declared: &[&str], rest: &Map<String, Value>) {
        /// Maximum length of the fields that are shown, in bytes of JSON: a reason for a failure is shown in full.
        const SHOWN: usize = 1_000;
        let found = shortened(Value::Object(rest.clone()).to_string(), SHOWN);
        self.keep(None, &format!("an object with any of {}", Texts(declared)), found);
    }

    /// Takes how the object was written whose rest was taken last.
    pub(super) fn take_written(&mut self) -> Option<Box<Written>> {
        self.written.take()
    }

    /// Opens an array; returns its level for [`Reader::item`].
    pub fn items(&mut self, value: Value) -> usize {
        let items = match value {
            Value::Array(items) => items,
            item @ Value::Object(_) if self.may_be_item && self.open.is_empty() => vec![item],
            other => {
                self.mismatch("array", &other);
                Vec::new()
            }
        };
        self.enter(Rest::Items(items.into_iter()))
    }

    /// Whether the array at `level` has another item.
    pub fn more(&mut self, level: usize) -> bool {
        match self.at(level) {
            Some(Container { rest: Rest::Items(items), .. }) => items.len() > 0,
            _ => false,
        }
    }

    /// Takes the next item of the array at `level`.
    pub fn item(&mut self, level: usize) -> Value {
        match self.at(level) {
            Some(Container { rest: Rest::Items(items), step }) => {
                *step = Step::Item(match step {
                    Step::Item(index) => *index + 1,
                    _ => 0,
                });
                let item = items.next().unwrap_or_default();
                self.missing = false;
                item
            }
            _ => Value::Null,
        }
    }

    /// Opens an object with arbitrary keys; returns its level for [`Reader::entry`].
    pub fn entries(&mut self, value: Value) -> usize {
        let fields = self.fields(value);
        self.enter(Rest::Entries(fields.into_iter()))
    }

    /// The next field of the object at `level`; `None` after a mismatch.
    pub fn entry(&mut self, level: usize) -> Option<(String, Value)> {
        match self.at(level) {
            Some(Container { rest: Rest::Entries(entries), step }) => {
                let (key, value) = entries.next()?;
                *step = Step::Entry(key.clone());
                self.missing = false;
                Some((key, value))
            }
            _ => None,
        }
    }

    /// Records the first mismatch, of the current value or of the one a `step` further.
    fn note(&mut self, step: Option<&Step>, expected: &str, found: Option<&Value>) {
        let found = match found {
            None => "nothing".to_owned(),
            Some(Value::Number(number)) if let Some(text) = self.unheld_text(number) => text.to_owned(),
            Some(Value::Number(number)) if let Some(text) = self.unheld.fraction(number) => text.to_owned(),
            Some(found) => quote(found),
        };
        self.keep(step, expected, found);
    }

    fn keep(&mut self, step: Option<&Step>, expected: &str, found: String) {
        if !self.stopped {
            let steps = self.open.iter().map(|container| &container.step).chain(step);
            self.mismatch = Some(Mismatch::new(steps, expected, found));
            self.stopped = true;
        }
    }

    fn fields(&mut self, value: Value) -> Map<String, Value> {
        match value {
            Value::Object(fields) => fields,
            other => {
                self.mismatch("object", &other);
                Map::new()
            }
        }
    }

    fn enter(&mut self, rest: Rest) -> usize {
        self.missing = false;
        self.open.push(Container { rest, step: Step::Stay });
        self.open.len()
    }

    /// The container at `level`, after closing those inside it; `None` once reading has stopped, so that it ends soon.
    fn at(&mut self, level: usize) -> Option<&mut Container> {
        if self.stopped {
            return None;
        }
        self.open.truncate(level);
        self.open.last_mut()
    }
}
