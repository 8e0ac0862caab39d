//! One pass over a JSON text, token by token, without recursion.
//!
//! It does not check the grammar: serde_json has read the text, or will. Text that is not JSON ends the pass or passes
//! through, and never causes a panic.

use std::borrow::Cow;

use memchr::memchr2;

use crate::error::Error;
use crate::layout::Layout;
use crate::mark::mark;
use crate::names::{Names, OPEN_NAMES_LIMIT};
use crate::rules::Rules;

/// Maximum number of characters of a repeated name to quote in an error.
const QUOTED: usize = 80;

/// Numbers with this many digits or fewer are in the range of doubles.
const SURELY_IN_RANGE: usize = 300;

/// A pass over a text.
pub(crate) struct Scan<'a> {
    text: &'a str,
    at: usize,
    rules: Rules,
    layout: Layout,
    open: Vec<Level>,
    names: Names,
    /// Whether the next string is a name.
    wants_name: bool,
    /// Whether the previous token opened an object or a list.
    has_opened: bool,
}

/// An open object or list.
#[derive(Clone, Copy)]
enum Level {
    List,
    /// With the base of its names.
    Object(u32),
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str, rules: Rules, layout: Layout) -> Self {
        let (open, names) = (Vec::new(), Names::new());
        Scan { text, at: 0, rules, layout, open, names, wants_name: false, has_opened: false }
    }

    /// The output for the whole text.
    pub(crate) fn run(self) -> Result<String, Error> {
        self.run_up_to_limit().map(|(text, _)| text)
    }

    /// The output up to the limit, and whether it was cut off.
    pub(crate) fn run_up_to_limit(mut self) -> Result<(String, bool), Error> {
        while let Some(byte) = self.next_byte() {
            if self.layout.is_full() {
                return Ok((self.layout.finish(), true));
            }
            match byte {
                b'{' | b'[' => self.opens(byte)?,
                b'}' | b']' => self.closes(byte)?,
                b',' => self.separates(),
                b':' => {
                    self.layout.colon();
                    self.at += 1;
                }
                b'"' => self.quoted()?,
                _ => self.scalar()?,
            }
        }
        Ok((self.layout.finish(), false))
    }

    /// The first byte of the next token.
    fn next_byte(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let blank = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))?;
        self.at += blank;
        rest.get(blank).copied()
    }

    fn opens(&mut self, bracket: u8) -> Result<(), Error> {
        if self.open.len() >= self.rules.depth {
            return Err(self.error(format!("nesting deeper than {} levels", self.rules.depth), self.at));
        }
        self.at += 1;
        self.wants_name = bracket == b'{';
        let base = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.open.push(if self.wants_name { Level::Object(base) } else { Level::List });
        let is_empty = matches!(self.next_byte(), Some(b'}' | b']'));
        self.layout.open(bracket, is_empty, self.open.len());
        self.has_opened = true;
        Ok(())
    }

    fn closes(&mut self, bracket: u8) -> Result<(), Error> {
        if let Some(Level::Object(base)) = self.open.pop() {
            let text = self.text;
            if let Some(second) =
                self.names.close(base as usize, |one, other| name_at(text, one) == name_at(text, other))
            {
                let name: String = name_at(text, second).unwrap_or_default().chars().take(QUOTED).collect();
                return Err(self.error(format!("the name {name:?} appears twice in one object"), second));
            }
        }
        self.at += 1;
        self.layout.close(bracket, self.has_opened, self.open.len());
        (self.has_opened, self.wants_name) = (false, false);
        Ok(())
    }

    fn separates(&mut self) {
        self.at += 1;
        self.wants_name = matches!(self.open.last(), Some(Level::Object(_)));
        self.layout.comma(self.open.len());
    }

    /// A string or a name.
    fn quoted(&mut self) -> Result<(), Error> {
        let start = self.at;
        let token = quoted_at(self.text, start);
        let is_name = std::mem::take(&mut self.wants_name);
        self.has_opened = false;
        self.at += token.len();
        if !is_name && !self.rules.checks_scalars {
            self.layout.token(token);
            return Ok(());
        }
        let Some(text) = unescaped(token) else {
            return Err(self.error("half of a surrogate pair, which is not Unicode text", start));
        };
        if is_name && !self.names.push(&text, start) {
            return Err(self.error(format!("more than {OPEN_NAMES_LIMIT} members in nested objects"), start));
        }
        match text {
            Cow::Borrowed(_) => self.layout.token(token),
            Cow::Owned(text) => self.layout.text(&text),
        }
        Ok(())
    }

    /// A number or a literal.
    fn scalar(&mut self) -> Result<(), Error> {
        let start = self.at;
        let rest = self.text.get(start..).unwrap_or_default();
        let ends = |character: char| {
            matches!(character, ',' | '}' | ']' | ':' | '"' | '{' | '[') || character.is_ascii_whitespace()
        };
        let token = rest.find(ends).and_then(|end| rest.get(..end)).unwrap_or(rest);
        // At least one character, so that the scan always advances.
        self.at += token.len().max(1);
        self.has_opened = false;
        if self.rules.checks_scalars && !is_in_range(token) {
            return Err(self.error("a number out of range: a double holds -1.8e308 to 1.8e308", start));
        }
        let looks_at_numbers = self.rules.keeps_numbers || self.rules.marks_numbers;
        if looks_at_numbers && is_number(token) && written_again(token).as_deref() != Some(token) {
            if self.rules.keeps_numbers {
                return Err(self.error("a number that would be written differently", start));
            }
            self.layout.token(&format!("\"{}{token}\"", mark()));
            return Ok(());
        }
        self.layout.token(token);
        Ok(())
    }

    fn error(&self, what: impl Into<String>, at: usize) -> Error {
        Error::at(what, self.text, at)
    }
}

/// The quoted string that starts at a byte offset, including its quotes.
fn quoted_at(text: &str, start: usize) -> &str {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return text.get(start..=at).unwrap_or_default();
        }
        at += 2;
    }
    text.get(start..).unwrap_or_default()
}

/// The contents of a quoted string; borrowed if it has no escapes.
fn unescaped(token: &str) -> Option<Cow<'_, str>> {
    let inner = token.strip_prefix('"').unwrap_or(token);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if inner.contains('\\') {
        return serde_json::from_str(token).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

fn name_at(text: &str, at: usize) -> Option<Cow<'_, str>> {
    unescaped(quoted_at(text, at))
}

/// Whether a number is finite as a double; `true`, `false` and `null` always pass.
fn is_in_range(token: &str) -> bool {
    let may_be_large = token.len() > SURELY_IN_RANGE || token.contains(['e', 'E']);
    !is_number(token) || !may_be_large || token.parse().is_ok_and(f64::is_finite)
}

fn is_number(token: &str) -> bool {
    token.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

/// A number as serde_json writes it after reading it.
fn written_again(token: &str) -> Option<String> {
    serde_json::from_str::<serde_json::Number>(token).ok().map(|number| number.to_string())
}
