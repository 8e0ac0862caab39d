//! Literals of Python, as `repr` and `print` write dictionaries and lists, turned into JSON.
//!
//! It is strict: what JSON has no form for (bytes, sets, complex numbers, `nan`, keys that are tuples), and what is an
//! expression rather than a literal, is no literal here. The grammar is that of The Python Language Reference, "Literals".

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::Value;

/// Deepest nesting that is read: that of serde_json.
const DEEPEST: usize = 127;

/// The JSON of a literal; `None` where `text` is none.
pub(crate) fn to_json(text: &str) -> Option<String> {
    let mut parser = Parser { rest: text, json: String::with_capacity(text.len()), depth: 0 };
    parser.value()?;
    parser.skip_space();
    parser.rest.is_empty().then_some(parser.json)
}

struct Parser<'a> {
    rest: &'a str,
    json: String,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']);
    }

    /// Takes `sign` behind spaces, if it comes next.
    fn take(&mut self, sign: char) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Option<()> {
        self.skip_space();
        match self.rest.chars().next()? {
            '{' => self.nested(Self::dictionary),
            '[' => self.nested(Self::list),
            '(' => self.nested(Self::tuple),
            '\'' | '"' => {
                let text = self.text()?;
                self.json.push_str(&Value::String(text).to_string());
                Some(())
            }
            '+' | '-' | '.' | '0'..='9' => self.number(),
            _ => self.word(),
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        self.rest = self.rest.get(1..)?;
        read(self)?;
        self.depth -= 1;
        Some(())
    }

    fn list(&mut self) -> Option<()> {
        self.json.push('[');
        if !self.take(']') {
            self.value()?;
            self.items(']')?;
        }
        self.json.push(']');
        Some(())
    }

    /// The items that follow the first one, and what closes them.
    fn items(&mut self, close: char) -> Option<()> {
        while !self.take(close) {
            self.take(',').then_some(())?;
            if self.take(close) {
                break;
            }
            self.json.push(',');
            self.value()?;
        }
        Some(())
    }

    /// A tuple, or a value in parentheses: what tells them apart is a comma.
    fn tuple(&mut self) -> Option<()> {
        let start = self.json.len();
        self.json.push('[');
        if !self.take(')') {
            self.value()?;
            if self.take(')') {
                self.json.remove(start);
                return Some(());
            }
            self.items(')')?;
        }
        self.json.push(']');
        Some(())
    }

    fn dictionary(&mut self) -> Option<()> {
        let mut keys = HashSet::new();
        self.json.push('{');
        while !self.take('}') {
            if !keys.is_empty() {
                self.json.push(',');
            }
            let key = self.key()?;
            let _ = write!(self.json, "{}:", Value::String(key.clone()));
            // Which of two is meant, nobody can tell.
            keys.insert(key).then_some(())?;
            self.take(':').then_some(())?;
            self.value()?;
            if !self.take(',') {
                self.take('}').then_some(())?;
                break;
            }
        }
        self.json.push('}');
        Some(())
    }

    /// A key: a text, or an integer, `True`, `False` or `None`, written as Python's `json.dumps` writes it.
    fn key(&mut self) -> Option<String> {
        self.skip_space();
        if self.rest.starts_with(['\'', '"']) {
            return self.text();
        }
        let start = self.json.len();
        self.value()?;
        let key = self.json.split_off(start);
        let is_integer =
            !key.is_empty() && key.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        (is_integer || matches!(key.as_str(), "true" | "false" | "null")).then_some(key)
    }

    fn word(&mut self) -> Option<()> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.json.push_str(match word {
            "True" => "true",
            "False" => "false",
            "None" => "null",
            _ => return None,
        });
        self.rest = rest;
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let end = self.rest.find(|c: char| !matches!(c, '0'..='9' | '.' | 'e' | 'E' | '+' | '-'));
        let (number, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        // `1j`, `0x1` and `1_000` go on with a letter.
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        self.json.push_str(&json_number(number)?);
        self.rest = rest;
        Some(())
    }

    /// A text in one or three quotes.
    fn text(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let three: String = [quote; 3].iter().collect();
        let long = self.rest.starts_with(&three);
        let close = if long { three } else { quote.to_string() };
        self.rest = self.rest.get(close.len()..)?;
        let mut text = String::new();
        loop {
            if let Some(rest) = self.rest.strip_prefix(close.as_str()) {
                self.rest = rest;
                return Some(text);
            }
            let mut characters = self.rest.chars();
            let character = characters.next()?;
            self.rest = characters.as_str();
            match character {
                '\\' => self.escape(&mut text)?,
                '\n' | '\r' if !long => return None,
                other => text.push(other),
            }
        }
    }

    /// What follows a backslash. One that Python does not know stays as it is.
    fn escape(&mut self, text: &mut String) -> Option<()> {
        let mut characters = self.rest.chars();
        let character = characters.next()?;
        let after = characters.as_str();
        let simple = match character {
            '\n' => None,
            '\\' | '\'' | '"' => Some(character),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            'x' => return self.code(after, 2, 16, text),
            'u' => return self.code(after, 4, 16, text),
            'U' => return self.code(after, 8, 16, text),
            '0'..='7' => {
                let digits = self.rest.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
                return self.code(self.rest, digits, 8, text);
            }
            'N' => return None,
            other => {
                text.push('\\');
                Some(other)
            }
        };
        text.extend(simple);
        self.rest = after;
        Some(())
    }

    /// The character of a number in `digits` digits at the beginning of `rest`; half of a surrogate pair is none.
    fn code(&mut self, rest: &'a str, digits: usize, radix: u32, text: &mut String) -> Option<()> {
        let (number, rest) = rest.split_at_checked(digits)?;
        let is_number = number.chars().all(|digit| digit.is_digit(radix));
        text.push(char::from_u32(u32::from_str_radix(number, radix).ok().filter(|_| is_number)?)?);
        self.rest = rest;
        Some(())
    }
}

/// A number as JSON writes it: Python also has `+1`, `1.` and `.5`, and no integer that begins with a zero.
fn json_number(number: &str) -> Option<String> {
    let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at)?, Some(unsigned.get(at + 1..)?)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let is_empty = whole.is_empty() && fraction.is_none_or(str::is_empty);
    if is_empty || !digits(whole) || !fraction.is_none_or(digits) {
        return None;
    }
    let is_integer = fraction.is_none() && exponent.is_none();
    let trimmed = whole.trim_start_matches('0');
    if is_integer && whole.len() > 1 && whole.starts_with('0') && !trimmed.is_empty() {
        return None;
    }
    let mut json = String::new();
    json.push_str(if number.starts_with('-') { "-" } else { "" });
    json.push_str(if trimmed.is_empty() { "0" } else { trimmed });
    if let Some(fraction) = fraction {
        json.push('.');
        json.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    if let Some(exponent) = exponent {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        (!unsigned.is_empty() && digits(unsigned)).then_some(())?;
        json.push('e');
        json.push_str(exponent);
    }
    Some(json)
}

#[cfg(test)]
mod tests;
