//! Conversions to wider number types: whether they keep the meaning.

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
            return is_literal(before, after);
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

/// Whether the type suffix of a literal may be changed: not from a float to a type without its fraction.
fn is_literal(before: &str, after: &str) -> bool {
    match (number(before), number(after)) {
        (Some(Number::Float(_)), Some(Number::Float(_))) => true,
        (Some(Number::Float(_)), _) | (_, Some(Number::Float(_))) => false,
        _ => true,
    }
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
    let by_name =
        |word: &str| ["div", "rem", "sqrt", "log", "midpoint"].iter().any(|part| word.contains(part));
    by_sign || tokens.words().any(|(_, word)| by_name(word))
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
    let tokens = slip.tokens;
    let is_part = |index: usize| match tokens.kind(index) {
        Some(Kind::Sign(sign)) => {
            matches!(sign, '.' | ':' | '?' | ',') || (sign == '*' && index == tokens.at(range.start))
        }
        Some(Kind::Word) => !matches!(tokens.word(index), "as" | "if" | "match" | "loop" | "unsafe"),
        Some(Kind::Literal | Kind::Open('(' | '[') | Kind::Close('(' | '[')) => true,
        _ => false,
    };
    (tokens.at(range.start)..tokens.at(range.end)).all(is_part)
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
}
