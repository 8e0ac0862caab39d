//! Converts Python literals, as `repr` and `print` write dictionaries and lists, to JSON.
//!
//! It is strict: values that JSON does not support (bytes, sets, complex numbers, `nan`, keys that are tuples), and
//! expressions that are not literals, are refused. The grammar is that of The Python Language Reference, "Literals".

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::Value;

/// Maximum nesting, like serde_json's.
const DEEPEST: usize = 127;

/// Converts a literal to JSON; `None` if `text` is not a literal.
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

    /// Consumes `sign` after spaces, if it comes next.
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

    /// The items after the first one, and the closing bracket.
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

    /// A tuple, or a value in parentheses: a comma makes the difference.
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
            // Which of two equal keys is meant is unknown.
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

    /// A key: a string, or an integer, `True`, `False` or `None`, written like Python's `json.dumps`.
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
        // `1j`, `0x1` and `1_000` continue with a letter.
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        self.json.push_str(&json_number(number)?);
        self.rest = rest;
        Some(())
    }

    /// A string in one or three quotes.
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

    /// The character after a backslash. Unknown escapes are kept unchanged, as in Python.
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

    /// Parses a character code of `digits` digits at the start of `rest`; fails for half of a surrogate pair.
    fn code(&mut self, rest: &'a str, digits: usize, radix: u32, text: &mut String) -> Option<()> {
        let (number, rest) = rest.split_at_checked(digits)?;
        let is_number = number.chars().all(|digit| digit.is_digit(radix));
        text.push(char::from_u32(u32::from_str_radix(number, radix).ok().filter(|_| is_number)?)?);
        self.rest = rest;
        Some(())
    }
}

/// A number in JSON's notation: Python also has `+1`, `1.` and `.5`, and no integers with leading zeros.
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
