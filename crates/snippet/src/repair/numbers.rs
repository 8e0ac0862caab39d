//! Conversions to wider number types: whether they keep the meaning.

use std::ops::Range;

use super::edit::Edit;
use crate::hints::Slip;
use crate::messages::mismatch;
use crate::tokens::{Kind, Tokens};

/// A number type by kind and width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Signed(u32),
    Unsigned(u32),
    Float(u32),
}

/// Except `usize`, whose width is unknown.
fn number(name: &str) -> Option<Number> {
    let width = |digits: &str| digits.parse().ok();
    match name.split_at_checked(1)? {
        ("i", digits) => width(digits).map(Number::Signed),
        ("u", digits) => width(digits).map(Number::Unsigned),
        ("f", digits) => width(digits).map(Number::Float),
        _ => None,
    }
}

/// Whether a suggestion converts a number to a wider type without loss, where nothing was computed in the narrower type
/// that would differ in the wider one.
///
/// Conversions that may panic (`.try_into().unwrap()`), or that may follow an integer division, are never applied.
pub(super) fn is_widened(slip: &Slip<'_>, texts: &[(&str, &str)]) -> bool {
    let Some((expected, found)) = mismatch(slip.message.label()) else { return false };
    let (from, to) = match texts {
        // The type suffix of the literal: `1_u32`.
        [(before, after)] if number(before).is_some() && number(after).is_some() => {
            return is_literal(slip, before, after);
        }
        [("", ".into()")] => (found, expected),
        // The other side of a comparison.
        [("", wrapped), ("", ")")] if wrapped.strip_suffix("::from(") == Some(found) => (expected, found),
        _ => return false,
    };
    let (Some(from), Some(to)) = (number(from), number(to)) else { return false };
    let keeps_fractions = !matches!(to, Number::Float(_)) || !divides(slip.tokens);
    keeps(from, to) && keeps_fractions && is_plain(slip, texts)
}

/// The edits of `a == b` or `a != b`, where `b` is at `right` and one side has a wider type of integers: the other side
/// is converted. rustc suggests that only for `<` and the like.
pub(super) fn equal(slip: &Slip<'_>, types: (&str, &str), right: &Range<usize>) -> Option<Vec<Edit>> {
    let tokens = slip.tokens;
    let first = tokens.at(right.start);
    let operator = first.checked_sub(2)?;
    let is_equality =
        tokens.is_sign(operator + 1, '=') && matches!(tokens.kind(operator), Some(Kind::Sign('=' | '!')));
    let (of_left, of_right) = (number(types.0)?, number(types.1)?);
    if !is_equality || [of_left, of_right].iter().any(|side| matches!(side, Number::Float(_))) {
        return None;
    }
    let (side, wider) = if keeps(of_right, of_left) {
        (first..tokens.at(right.end), types.0)
    } else if keeps(of_left, of_right) {
        (operand_before(tokens, operator)?, types.1)
    } else {
        return None;
    };
    let range = tokens.range(side.start).start..tokens.range(side.end.checked_sub(1)?).end;
    let fits = !side.is_empty() && are_plain(tokens, side);
    fits.then(|| vec![Edit::insert(range.start, format!("{wider}::from(")), Edit::insert(range.end, ")")])
}

/// The tokens of the place or call that ends before the token `end`, if it is the whole operand of an `==`.
fn operand_before(tokens: &Tokens<'_>, end: usize) -> Option<Range<usize>> {
    const KEYWORDS: [&str; 8] = ["if", "while", "return", "match", "in", "break", "else", "move"];
    let mut start = end;
    while let Some(before) = start.checked_sub(1) {
        match tokens.kind(before)? {
            Kind::Close('(' | '[') => start = tokens.open(before)?,
            Kind::Word if KEYWORDS.contains(&tokens.word(before)) => return Some(start..end),
            Kind::Word | Kind::Literal | Kind::Sign('.' | ':' | '?') => start = before,
            Kind::Open(_) | Kind::Close(_) | Kind::Sign(';' | ',' | '=') => return Some(start..end),
            // `a || b == c`, `a && b == c`, `|a| a == b`.
            Kind::Sign('|') => return Some(start..end),
            Kind::Sign('&') => {
                return before.checked_sub(1).filter(|index| tokens.is_sign(*index, '&')).map(|_| start..end);
            }
            Kind::Sign(_) => return None,
        }
    }
    Some(start..end)
}

/// Whether the type suffix of a literal may be changed: not from a float to a type without its fraction, and not if the
/// number differs with another precision.
fn is_literal(slip: &Slip<'_>, before: &str, after: &str) -> bool {
    match (number(before), number(after)) {
        (Some(Number::Float(_)), Some(Number::Float(_))) => {
            let written = literal(slip).map(|text| text.trim_end_matches(before).replace('_', ""));
            let number = written.and_then(|text| text.parse::<f64>().ok());
            number.is_some_and(has_single_precision)
        }
        (Some(Number::Float(_)), _) | (_, Some(Number::Float(_))) => false,
        _ => true,
    }
}

/// Whether a float of single precision can be this number.
#[expect(clippy::cast_possible_truncation, clippy::float_cmp, reason = "compares what is lost")]
fn has_single_precision(number: f64) -> bool {
    f64::from(number as f32) == number
}

/// The literal that the message is about.
fn literal<'a>(slip: &Slip<'a>) -> Option<&'a str> {
    let range = slip.message.primary().and_then(|span| slip.source.range(span))?;
    let last = slip.tokens.at(range.end).checked_sub(1)?;
    slip.tokens.literal_text(last)
}

/// Whether `.0` after an integer literal makes the float that it looks like, or reads the value of a `Reverse`.
pub(super) fn is_exact(slip: &Slip<'_>) -> bool {
    let Some((expected, found)) = mismatch(slip.message.label()) else { return false };
    let integer = literal(slip).and_then(|text| text.replace('_', "").parse::<u128>().ok());
    match (integer, expected) {
        (Some(integer), "f64") => is_float(integer, f64::MANTISSA_DIGITS),
        (Some(integer), "f32") => is_float(integer, f32::MANTISSA_DIGITS),
        _ => found.starts_with("Reverse<"),
    }
}

/// Whether a float with this many binary digits can be this integer.
fn is_float(integer: u128, digits: u32) -> bool {
    u128::BITS - integer.leading_zeros() - integer.trailing_zeros().min(u128::BITS - integer.leading_zeros())
        <= digits
}

/// Whether every number of one type is also one of the other.
fn keeps(from: Number, to: Number) -> bool {
    match (from, to) {
        (Number::Unsigned(from), Number::Unsigned(to)) | (Number::Signed(from), Number::Signed(to)) => {
            from < to
        }
        (Number::Unsigned(from), Number::Signed(to)) => from < to,
        // 24 and 53 binary digits.
        (Number::Unsigned(from) | Number::Signed(from), Number::Float(to)) => from * 2 <= to,
        _ => false,
    }
}

/// Whether integers are divided anywhere: a quotient may go through variables before it becomes a float.
fn divides(tokens: &Tokens<'_>) -> bool {
    let by_sign = (0..tokens.len()).any(|index| tokens.is_sign(index, '/') || tokens.is_sign(index, '%'));
    by_sign
        || tokens
            .words()
            .any(|(_, word)| ["div", "rem", "sqrt", "log", "midpoint"].iter().any(|part| word.contains(part)))
}

/// Whether the converted expression is a place or a call: an operator would have computed in the narrower type.
fn is_plain(slip: &Slip<'_>, texts: &[(&str, &str)]) -> bool {
    let is_other_side = texts.len() == 2;
    let span = match is_other_side {
        // The message is about the side that stays.
        true => slip.labelled("expected because this is"),
        false => slip.message.primary(),
    };
    let Some(range) = span.and_then(|span| slip.source.range(span)) else { return false };
    are_plain(slip.tokens, slip.tokens.at(range.start)..slip.tokens.at(range.end))
}

/// Whether a method computes in the type of its receiver, so that its result may not fit.
fn computes(method: &str) -> bool {
    let starts = ["wrapping_", "saturating_", "overflowing_", "checked_", "strict_", "abs", "pow"];
    starts.iter().any(|start| method.starts_with(start))
        || matches!(method, "add" | "mul" | "neg" | "not" | "product" | "shl" | "sub" | "sum")
}

/// Whether these tokens are a place or a call, perhaps after one `*`.
fn are_plain(tokens: &Tokens<'_>, mut part: Range<usize>) -> bool {
    let first = part.start;
    part.all(|index| match tokens.kind(index) {
        Some(Kind::Sign(sign)) => matches!(sign, '.' | ':' | '?' | ',') || (sign == '*' && index == first),
        Some(Kind::Word) => {
            !matches!(tokens.word(index), "as" | "if" | "match" | "loop" | "unsafe")
                && !computes(tokens.word(index))
        }
        Some(Kind::Literal | Kind::Open('(' | '[') | Kind::Close('(' | '[')) => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{keeps, number};

    #[test]
    fn only_lossless_conversions_are_accepted() {
        let known = |from, to| keeps(number(from).unwrap(), number(to).unwrap());
        for (from, to) in
            [("u8", "u32"), ("u32", "u64"), ("u32", "i64"), ("i32", "i64"), ("i32", "f64"), ("u16", "f32")]
        {
            assert!(known(from, to), "{from} {to}");
            assert!(!known(to, from), "{to} {from}");
        }
        for (from, to) in
            [("u32", "i32"), ("i32", "u64"), ("i64", "f64"), ("u32", "f32"), ("f32", "f64"), ("u8", "u8")]
        {
            assert!(!known(from, to), "{from} {to}");
        }
        for other in ["usize", "isize", "char", "", "bool", "u", "integer", "&u32"] {
            assert_eq!(number(other), None, "{other}");
        }
    }

    #[test]
    fn integers_are_floats_up_to_their_precision() {
        for (integer, digits, is) in [
            (0, 53, true),
            (5, 53, true),
            (1 << 53, 53, true),
            ((1 << 53) + 1, 53, false),
            (3 << 80, 53, true),
            (16_777_216, 24, true),
            (16_777_217, 24, false),
            (u128::MAX, 53, false),
        ] {
            assert_eq!(super::is_float(integer, digits), is, "{integer} {digits}");
        }
    }
}
