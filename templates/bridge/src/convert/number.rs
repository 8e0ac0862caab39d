//! JSON's numbers, and which of them a `serde_json::Value` can hold.
//!
//! JSON's numbers are unbounded. A `Value` holds 64-bit integers and doubles, so serde_json silently changes others.
//! This module examines their texts first:
//!
//! - A 64-bit integer with a fraction or exponent, such as `9007199254740993.0`, is read as that integer if serializing
//!   a double would change it.
//! - A larger integer is read as a double if it equals the double exactly (2 to the power of 64), if the double is
//!   serialized as it (`1e22`), or if it has a fraction or an exponent and is the double rounded to as many digits. Any
//!   other is [`Unheld`]: an integer type refuses it; everything else reads the nearest double, with a warning. A number
//!   beyond the range of doubles is read as its text where any value is allowed, and does not fit a number.
//! - A number with a fraction is read as the nearest double, as RFC 8259, section 6, allows all readers to expect. If
//!   its text is not that double rounded to as many digits, a warning is reported.

use std::borrow::Cow;

use serde_json::{Number, Value};

use crate::warning::warn;

/// Maximum number of significant decimal digits of a double.
const MAX_DIGITS: usize = 767;

/// Maximum number of characters of a number to quote in a message.
const QUOTED: usize = 80;

/// The texts of numbers that a `Value` can't hold unchanged, each with the bits of the double that replaces it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unheld {
    /// The numbers for which the double is only a placeholder.
    numbers: Vec<(u64, String)>,
    /// The numbers with a fraction that the nearest double does not have.
    fractions: Vec<(u64, String)>,
}

/// JSON text whose numbers serde_json reads unchanged.
#[derive(Debug)]
pub(crate) struct Readable<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) unheld: Unheld,
    /// The first number that is rounded when read.
    pub(crate) rounded: Option<&'a str>,
}

/// A way to read a number.
enum Reading {
    /// With serde_json.
    AsItStands,
    /// From another text.
    Integer(String),
    /// With serde_json, as the nearest double, which is this one.
    Rounded(f64),
    /// Not at all; a double is its placeholder.
    None(f64),
}

impl Unheld {
    /// The text of a number whose double is a placeholder.
    pub(crate) fn text(&self, number: &Number) -> Option<&str> {
        text_of(&self.numbers, number)
    }

    /// Resolves the placeholders in a value: to the nearest double, or to the number's text beyond the range of doubles.
    pub(crate) fn settle(&self, value: &mut Value, whose: &str) {
        if self.numbers.is_empty() {
            return;
        }
        match value {
            Value::Number(number) => {
                let Some(text) = self.text(number) else { return };
                match nearest(number, text) {
                    Some(double) => warn_of_rounding(whose, text, double),
                    None => {
                        let message = format!(
                            "{whose} has the number {text}, which no double holds: it is read as its text"
                        );
                        warn(message, None);
                        *value = Value::String(text.to_owned());
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.settle(item, whose)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.settle(field, whose)),
            _ => {}
        }
    }

    /// The text of a number with a fraction whose double is integral.
    pub(crate) fn fraction(&self, number: &Number) -> Option<&str> {
        text_of(&self.fractions, number)
    }

    /// The first number in a value that is replaced by a placeholder.
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

    /// Replaces the placeholders by the texts.
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

/// The double nearest to a number, which has `text` and a placeholder; `None` beyond the range of doubles.
pub(crate) fn nearest(number: &Number, text: &str) -> Option<f64> {
    // A long text is shortened, but not one beyond the range.
    let double = text.parse().ok().or_else(|| number.as_f64())?;
    Some(double).filter(|double: &f64| double.is_finite() && *double != 0.0)
}

/// Warns that a number is read as a double that differs from it.
pub(crate) fn warn_of_rounding(whose: &str, number: &str, double: f64) {
    /// Up to this limit, an integral double is shorter without an exponent.
    const WRITTEN_OUT: f64 = 1e25;
    let double = match double.fract() == 0.0 && double.abs() < WRITTEN_OUT {
        true => format!("{double:.0}"),
        false => format!("{double:?}"),
    };
    warn(format!("{whose} has the number {number}, which is read as the nearest double, {double}"), None);
}

/// Describes a number that fits neither 64 bits nor a double.
pub(crate) fn too_large(number: &str) -> String {
    format!(
        "the number {number}, which a `serde_json::Value` can't hold: it fits neither 64 bits nor a double"
    )
}

/// Warns of a number that was rounded, if there is one.
pub(crate) fn warn_of_rounded(whose: &str, number: Option<&str>) {
    if let Some(number) = number {
        warn_of_rounding(whose, &shortened(number), number.parse().unwrap_or(f64::NAN));
    }
}

/// Prepares a JSON document for serde_json. Text that is not JSON is unchanged.
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

/// Shortens a number for a message.
pub(crate) fn shortened(number: &str) -> String {
    match number.get(..QUOTED) {
        Some(beginning) if number.len() > QUOTED => format!("{beginning}… ({} characters)", number.len()),
        _ => number.to_owned(),
    }
}

/// The offset after the quoted string that starts at `start`.
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
    /// Any integer with at most this many digits fits both 64 bits and a double.
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

/// The 64-bit integer that a double is serialized as.
pub(super) fn written_integer(double: f64) -> Option<i128> {
    /// Up to this limit, every integer is a double (2 to the power of 53).
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if double.fract() != 0.0 {
        return None;
    }
    if double.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it fits")]
        return Some(double as i128);
    }
    Decimal::read(&format!("{double:e}"))?.integer()
}

/// The integer value of a double, if it is integral and fits 128 bits.
pub(super) fn exact_integer(double: f64) -> Option<i128> {
    /// 2 to the power of 127.
    const BOUND: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if double.fract() != 0.0 || double.abs() >= BOUND {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it fits")]
    Some(double as i128)
}

/// A number: its significant digits, times a power of ten.
struct Decimal {
    is_negative: bool,
    /// Without leading and trailing zeros.
    digits: String,
    /// The exponent of the last digit.
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

    /// Its value as a 64-bit integer, signed or unsigned.
    fn integer(&self) -> Option<i128> {
        let zeros = usize::try_from(self.exponent).ok()?;
        if self.digits.len().saturating_add(zeros) > 20 {
            return None;
        }
        let magnitude: i128 = format!("{}{}", self.digits, "0".repeat(zeros)).parse().ok()?;
        let integer = if self.is_negative { -magnitude } else { magnitude };
        (integer >= i128::from(i64::MIN) && integer <= i128::from(u64::MAX)).then_some(integer)
    }

    /// Whether it is the shortest text that parses as `double`, and therefore its serialized form.
    fn is_written_for(&self, double: f64) -> bool {
        self.is_of(&format!("{double:e}"))
    }

    /// Whether it equals the integral double exactly.
    fn is_exactly(&self, double: f64) -> bool {
        self.exponent >= 0 && self.digits.len() <= MAX_DIGITS && self.is_of(&format!("{double:.0}"))
    }

    /// Whether it is the double rounded to as many digits.
    fn is_rounded_from(&self, double: f64) -> bool {
        let count = self.digits.len();
        count <= MAX_DIGITS && self.is_of(&format!("{double:.*e}", count - 1))
    }

    fn is_of(&self, text: &str) -> bool {
        Decimal::read(text)
            .is_some_and(|other| other.digits == self.digits && other.exponent == self.exponent)
    }
}

/// The exponent after the `e`; one that exceeds 64 bits saturates.
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
