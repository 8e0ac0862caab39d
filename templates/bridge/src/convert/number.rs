//! Numbers as JSON writes them, and which of them a `serde_json::Value` holds.
//!
//! JSON's numbers have no bounds. A `Value` holds integers of 64 bits and doubles, so serde_json changes others without a
//! word. Here their texts are looked at before it reads them:
//!
//! - An integer of 64 bits that is written with a fraction or an exponent, such as `9007199254740993.0`, is read as that
//!   integer where a double would be written as another one.
//! - A larger integer is read as a double where that is this very integer, such as 2 to the power of 64, or is written as it,
//!   such as `1e22`, or where the text is the double rounded to as many digits and has a fraction or an exponent. Any other is
//!   [`Unheld`], as is a number out of a double's range: whoever wants it gets an error.
//! - A number with a fraction is the nearest double, as RFC 8259, section 6, lets all readers expect. Where the text is none
//!   of the spellings of that double, rounded to as many digits, it is told as a warning.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// Most digits that a double has in decimal.
const MOST_DIGITS: usize = 767;

/// Most characters of a number that a message quotes.
const QUOTED: usize = 80;

/// The texts of numbers that no `Value` holds as they are, each with the bits of the double that it holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unheld {
    /// Those that a double only stands in for.
    numbers: Vec<(u64, String)>,
    /// Those with a fraction, of which the nearest double has none.
    fractions: Vec<(u64, String)>,
}

/// A JSON text whose numbers serde_json reads without a change.
#[derive(Debug)]
pub(crate) struct Readable<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) unheld: Unheld,
    /// The first number that is rounded in reading.
    pub(crate) rounded: Option<&'a str>,
}

/// What reads a number as it is.
enum Reading {
    /// serde_json.
    AsItStands,
    /// Another text.
    Integer(String),
    /// serde_json, as the nearest double, which is this one.
    Rounded(f64),
    /// Nothing; a double stands in for it.
    None(f64),
}

impl Unheld {
    /// The text of a number that a double stands in for.
    pub(crate) fn text(&self, number: &Number) -> Option<&str> {
        text_of(&self.numbers, number)
    }

    /// The text of a number that is no integer, though its double is one.
    pub(crate) fn fraction(&self, number: &Number) -> Option<&str> {
        text_of(&self.fractions, number)
    }

    /// The first number in a value that a double stands in for.
    pub(crate) fn find(&self, value: &Value) -> Option<&str> {
        if self.numbers.is_empty() {
            return None;
        }
        match value {
            Value::Number(number) => self.text(number),
            Value::Array(items) => items.iter().find_map(|item| self.find(item)),
            Value::Object(fields) => fields.values().find_map(|field| self.find(field)),
            _ => None,
        }
    }

    /// Puts the texts in the places of the doubles.
    pub(crate) fn spell_out(&self, value: &mut Value) {
        match value {
            Value::Number(number) => {
                if let Some(text) = self.text(number) {
                    *value = Value::String(text.to_owned());
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.spell_out(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.spell_out(field)),
            _ => {}
        }
    }
}

fn text_of<'a>(texts: &'a [(u64, String)], number: &Number) -> Option<&'a str> {
    if texts.is_empty() || !number.is_f64() {
        return None;
    }
    let bits = number.as_f64()?.to_bits();
    texts.iter().find(|(double, _)| *double == bits).map(|(_, text)| text.as_str())
}

/// The text of a JSON document for serde_json. What is no JSON is left as it is.
pub(crate) fn readable(text: &str) -> Readable<'_> {
    let bytes = text.as_bytes();
    let (mut at, mut copied) = (0, 0);
    let mut out = String::new();
    let mut unheld = Unheld::default();
    let mut rounded = None;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = behind_text(bytes, at),
            b'-' | b'0'..=b'9' => {
                let end = behind_number(bytes, at);
                let number = text.get(at..end).unwrap_or_default();
                let instead = match reading(number) {
                    Reading::AsItStands => None,
                    Reading::Integer(integer) => Some(integer),
                    Reading::Rounded(double) => {
                        rounded.get_or_insert(number);
                        if double.fract() == 0.0 {
                            unheld.fractions.push((double.to_bits(), shortened(number)));
                        }
                        None
                    }
                    Reading::None(stand_in) => {
                        unheld.numbers.push((stand_in.to_bits(), shortened(number)));
                        Some(format!("{stand_in:e}"))
                    }
                };
                if let Some(instead) = instead {
                    out.push_str(text.get(copied..at).unwrap_or_default());
                    out.push_str(&instead);
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    let text = match copied {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + text.get(copied..).unwrap_or_default()),
    };
    Readable { text, unheld, rounded }
}

/// A number as a message quotes it.
pub(crate) fn shortened(number: &str) -> String {
    match number.get(..QUOTED) {
        Some(beginning) if number.len() > QUOTED => format!("{beginning}… ({} characters)", number.len()),
        _ => number.to_owned(),
    }
}

/// The byte behind the text in quotation marks that begins at `start`.
fn behind_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

fn behind_number(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while matches!(bytes.get(at), Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) {
        at += 1;
    }
    at
}

fn reading(text: &str) -> Reading {
    /// Digits that both an integer of 64 bits and a double hold.
    const SURELY: usize = 15;
    if text.len() <= SURELY && !text.contains(['e', 'E']) {
        return Reading::AsItStands;
    }
    let Some(decimal) = Decimal::read(text) else { return Reading::AsItStands };
    if decimal.digits.is_empty() {
        return Reading::AsItStands;
    }
    let Ok(double) = text.parse::<f64>() else { return Reading::AsItStands };
    let is_plain = !text.contains(['.', 'e', 'E']);
    if let Some(integer) = decimal.integer() {
        return match is_plain || decimal.is_written_for(double) {
            true => Reading::AsItStands,
            false => Reading::Integer(integer.to_string()),
        };
    }
    if double.is_infinite() {
        return Reading::None(f64::MAX.copysign(double));
    }
    if double == 0.0 {
        return Reading::None(f64::from_bits(1).copysign(double));
    }
    let is_double = decimal.is_exactly(double)
        || decimal.is_written_for(double)
        || (!is_plain && decimal.is_rounded_from(double));
    match is_double {
        true => Reading::AsItStands,
        false if decimal.exponent < 0 => Reading::Rounded(double),
        false => Reading::None(double),
    }
}

/// The integer of 64 bits that a double is written as.
pub(super) fn written_integer(double: f64) -> Option<i128> {
    /// Up to here every integer is a double (2 to the power of 53).
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if double.fract() != 0.0 {
        return None;
    }
    if double.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "there is room for it")]
        return Some(double as i128);
    }
    Decimal::read(&format!("{double:e}"))?.integer()
}

/// The integer that a double is, if it is one and has less than 128 bits.
pub(super) fn exact_integer(double: f64) -> Option<i128> {
    /// 2 to the power of 127.
    const BOUND: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if double.fract() != 0.0 || double.abs() >= BOUND {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "there is room for it")]
    Some(double as i128)
}

/// A number: its significant digits, times a power of ten.
struct Decimal {
    is_negative: bool,
    /// Without zeros at the beginning and at the end.
    digits: String,
    /// Of the last digit.
    exponent: i64,
}

impl Decimal {
    fn read(text: &str) -> Option<Self> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, power(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let without_end = all.trim_end_matches('0');
        let zeros = i64::try_from(all.len() - without_end.len()).ok()?;
        let exponent = exponent.saturating_sub(i64::try_from(fraction.len()).ok()?).saturating_add(zeros);
        Some(Decimal { is_negative, digits: without_end.trim_start_matches('0').to_owned(), exponent })
    }

    /// The integer of 64 bits, with or without a sign, that it is.
    fn integer(&self) -> Option<i128> {
        let zeros = usize::try_from(self.exponent).ok()?;
        if self.digits.len().saturating_add(zeros) > 20 {
            return None;
        }
        let magnitude: i128 = format!("{}{}", self.digits, "0".repeat(zeros)).parse().ok()?;
        let integer = if self.is_negative { -magnitude } else { magnitude };
        (integer >= i128::from(i64::MIN) && integer <= i128::from(u64::MAX)).then_some(integer)
    }

    /// Whether it is the shortest text that reads as a double, which is written for it.
    fn is_written_for(&self, double: f64) -> bool {
        self.is_of(&format!("{double:e}"))
    }

    /// Whether it is the integer that a double is, to the last digit.
    fn is_exactly(&self, double: f64) -> bool {
        self.exponent >= 0 && self.digits.len() <= MOST_DIGITS && self.is_of(&format!("{double:.0}"))
    }

    /// Whether it is what a double is in as many digits.
    fn is_rounded_from(&self, double: f64) -> bool {
        let count = self.digits.len();
        count <= MOST_DIGITS && self.is_of(&format!("{double:.*e}", count - 1))
    }

    fn is_of(&self, text: &str) -> bool {
        Decimal::read(text)
            .is_some_and(|other| other.digits == self.digits && other.exponent == self.exponent)
    }
}

/// The number behind the `e`; one that no 64 bits hold is as good as endless.
fn power(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let power = digits.parse::<i64>().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
    Some(if is_negative { -power } else { power })
}
