//! Numbers in the place of wider ones: whether a conversion keeps what was meant.

use crate::hints::Slip;
use crate::messages::mismatch;
use crate::tokens::{Kind, Tokens};

/// A type of numbers by its kind and width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Signed(u32),
    Unsigned(u32),
    Float(u32),
}

/// `usize` is none: nothing is known of its width.
fn number(name: &str) -> Option<Number> {
    let width = |digits: &str| digits.parse().ok();
    match name.split_at_checked(1)? {
        ("i", digits) => width(digits).map(Number::Signed),
        ("u", digits) => width(digits).map(Number::Unsigned),
        ("f", digits) => width(digits).map(Number::Float),
        _ => None,
    }
}

/// Whether a suggestion converts a number into a wider type without a loss, where nothing was computed in the narrower
/// one that the wider one would compute otherwise.
///
/// Never applied is what may panic (`.try_into().unwrap()`), and what may come after a division of integers.
pub(super) fn is_widened(slip: &Slip<'_>, texts: &[(&str, &str)]) -> bool {
    let Some((expected, found)) = mismatch(slip.message.label()) else { return false };
    let (from, to) = match texts {
        // The type in the text itself: `1_u32`.
        [(before, after)] if number(before).is_some() && number(after).is_some() => {
            return is_literal(before, after);
        }
        [("", ".into()")] => (found, expected),
        // The other side of a comparison.
        [("", wrapped), ("", ")")] => match wrapped.strip_suffix("::from(") {
            Some(to) if to == found => (expected, found),
            Some(to) if to == expected => (found, expected),
            _ => return false,
        },
        _ => return false,
    };
    let (Some(from), Some(to)) = (number(from), number(to)) else { return false };
    let keeps_fractions = !matches!(to, Number::Float(_)) || !divides(slip.tokens);
    keeps(from, to) && keeps_fractions && is_plain(slip, from, texts)
}

/// Whether the number's type may be rewritten in a literal: not from a float to what has none of its digits.
fn is_literal(before: &str, after: &str) -> bool {
    match (number(before), number(after)) {
        (Some(Number::Float(_)), Some(Number::Float(_))) => true,
        (Some(Number::Float(_)), _) | (_, Some(Number::Float(_))) => false,
        _ => true,
    }
}

/// Whether every number of the one type is one of the other.
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

/// Whether what is converted is a place or a call: an operator would have computed in the narrower type.
fn is_plain(slip: &Slip<'_>, from: Number, texts: &[(&str, &str)]) -> bool {
    let is_other_side = texts.len() == 2;
    let span = match is_other_side {
        // The place of the message is the side that stays.
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
    from != Number::Float(32) && (tokens.at(range.start)..tokens.at(range.end)).all(is_part)
}

#[cfg(test)]
mod tests {
    use super::{keeps, number};

    #[test]
    fn only_conversions_without_a_loss_are_known() {
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
