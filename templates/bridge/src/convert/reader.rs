//! A value while it is read: the place that was reached, and the first thing that does not fit.

use serde_json::{Map, Value, map};

use super::Mismatch;
use super::mismatch::{Step, Texts, quote};
use super::number::Unheld;

/// What values are read from.
///
/// Reading always comes to its end: where something does not fit, the first such place is kept, and the
/// type stands with whatever value it has at hand. Whoever started then takes the mismatch and drops the
/// value. So generated code has no way out but its end; a way out after each field would be most of what
/// there is to compile.
#[derive(Debug, Default)]
pub struct Reader {
    /// What is read, for messages; null where nobody asks.
    whole: Value,
    /// Numbers in it that no `Value` holds.
    unheld: Unheld,
    /// The containers that are open, from the outermost.
    open: Vec<Container>,
    /// Whether the value that is read now is not there at all.
    missing: bool,
    mismatch: Option<Mismatch>,
    /// Whether everything else reads as nothing: after a mismatch, or where there is nothing to read.
    pub(crate) stopped: bool,
}

/// An object or array that is being read: what is left of it, and where in it the reader is.
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
    /// A reader of `whole`, in which doubles stand in for some numbers.
    #[must_use]
    pub(crate) fn new(whole: Value, unheld: Unheld) -> Self {
        Reader { whole, unheld, ..Reader::default() }
    }

    /// A reader of nothing, whatever is made of it.
    #[must_use]
    pub fn stopped() -> Self {
        Reader { stopped: true, ..Reader::default() }
    }

    /// A copy of what is read.
    #[must_use]
    pub fn whole(&self) -> Value {
        self.whole.clone()
    }

    /// Notes that `found`, the value that is read now, is not what is `expected`.
    pub fn mismatch(&mut self, expected: &str, found: &Value) {
        self.note(None, expected, Some(found).filter(|_| !self.missing));
    }

    /// Whether a double stands in for the value, which is a number.
    pub(crate) fn is_unheld(&self, value: &Value) -> bool {
        matches!(value, Value::Number(number) if self.unheld.text(number).is_some())
    }

    /// Whether the value is a number with a fraction that its double has lost.
    pub(crate) fn is_fraction(&self, value: &Value) -> bool {
        matches!(value, Value::Number(number) if self.unheld.fraction(number).is_some())
    }

    /// Notes where a double stands in for a number of the value that is read now.
    pub(crate) fn require_held(&mut self, value: &Value) {
        if let Some(text) = self.unheld.find(value) {
            let found = text.to_owned();
            self.keep(None, "numbers of 64 bits or doubles", found);
        }
    }

    /// Notes that the value is a text that is none of `texts`.
    pub fn unknown_text(&mut self, texts: &[&str], text: String) {
        self.mismatch(&format!("one of {}", Texts(texts)), &Value::String(text));
    }

    /// Notes that the value is no object whose field `tag` is one of `tags`.
    pub fn unknown_tag(&mut self, tag: &'static str, tags: &[&str], value: &Value) {
        if !value.is_object() {
            self.mismatch("object", value);
        } else if value.get(tag).is_some_and(Value::is_string) {
            self.mismatch(&format!("{tag} of one of {}", Texts(tags)), value);
        } else {
            self.note(Some(&Step::Field(tag)), "string", value.get(tag));
        }
    }

    /// The end: what was read and the first mismatch, if there was one. A number that no `Value` holds stands there as a
    /// text.
    #[must_use]
    pub fn end(mut self) -> (Value, Option<Mismatch>) {
        self.unheld.spell_out(&mut self.whole);
        (self.whole, self.mismatch)
    }

    /// Opens an object; gives its level for [`Reader::take`].
    pub fn object(&mut self, value: Value) -> usize {
        let fields = self.fields(value);
        self.enter(Rest::Fields(fields))
    }

    /// Takes a field out of the object at `level`. A missing one reads as null, which optional types
    /// accept.
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

    /// Drops fields whose value is fixed by the schema, so that they are not among the rest.
    pub fn skip(&mut self, level: usize, keys: &[&str]) {
        if let Some(Container { rest: Rest::Fields(fields), .. }) = self.at(level) {
            fields.retain(|key, _| !keys.contains(&key.as_str()));
        }
    }

    /// Takes all fields that were not taken.
    pub fn rest(&mut self, level: usize) -> Value {
        match self.at(level) {
            Some(Container { rest: Rest::Fields(fields), step }) => {
                *step = Step::Stay;
                Value::Object(std::mem::take(fields))
            }
            _ => Value::Null,
        }
    }

    /// Opens an array; gives its level for [`Reader::item`].
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

    /// Opens an object whose keys are anything; gives its level for [`Reader::entry`].
    pub fn entries(&mut self, value: Value) -> usize {
        let fields = self.fields(value);
        self.enter(Rest::Entries(fields.into_iter()))
    }

    /// The next field of the object at `level`; none after a mismatch.
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

    /// Keeps the first mismatch, of the value that is read now or of the one a `step` further.
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

    /// The container at `level`, after closing those in it; none once reading has stopped, so that it ends
    /// soon.
    fn at(&mut self, level: usize) -> Option<&mut Container> {
        if self.stopped {
            return None;
        }
        self.open.truncate(level);
        self.open.last_mut()
    }
}
