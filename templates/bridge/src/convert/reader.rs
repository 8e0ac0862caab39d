//! Reads a value, and records the first mismatch with its position.

use serde_json::{Map, Value, map};

use super::Mismatch;
use super::mismatch::{Step, Texts, quote};
use super::number::Unheld;

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
    /// The open containers, outermost first.
    open: Vec<Container>,
    /// Whether the current value is missing.
    missing: bool,
    mismatch: Option<Mismatch>,
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
    Fields(Map<String, Value>),
    Entries(map::IntoIter),
    Items(std::vec::IntoIter<Value>),
}

impl Reader {
    /// A reader of `whole`, in which some doubles are placeholders for numbers.
    #[must_use]
    pub(crate) fn new(whole: Value, unheld: Unheld) -> Self {
        Reader { whole, unheld, ..Reader::default() }
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

    /// Records a mismatch for a placeholder in the current value.
    pub(crate) fn require_held(&mut self, value: &Value) {
        if let Some(text) = self.unheld.find(value) {
            let found = text.to_owned();
            self.keep(None, "64-bit numbers or doubles", found);
        }
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
        self.enter(Rest::Fields(fields))
    }

    /// Takes a field from the object at `level`. A missing one reads as null, which optional types accept.
    pub fn take(&mut self, level: usize, key: &'static str) -> Value {
        match self.at(level) {
            Some(Container { rest: Rest::Fields(fields), step }) => {
                let value = fields.remove(key);
                *step = Step::Field(key);
                self.missing = value.is_none();
                value.unwrap_or_default()
            }
            _ => Value::Null,
        }
    }

    /// Discards fields whose value is fixed by the schema, so that they are not in the rest.
    pub fn skip(&mut self, level: usize, keys: &[&str]) {
        if let Some(Container { rest: Rest::Fields(fields), .. }) = self.at(level) {
            fields.retain(|key, _| !keys.contains(&key.as_str()));
        }
    }

    /// Takes all remaining fields.
    pub fn rest(&mut self, level: usize) -> Value {
        match self.at(level) {
            Some(Container { rest: Rest::Fields(fields), step }) => {
                *step = Step::Stay;
                Value::Object(std::mem::take(fields))
            }
            _ => Value::Null,
        }
    }

    /// Opens an array; returns its level for [`Reader::item`].
    pub fn items(&mut self, value: Value) -> usize {
        let items = match value {
            Value::Array(items) => items,
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
            Some(Value::Number(number)) if let Some(text) = self.unheld.text(number) => text.to_owned(),
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
