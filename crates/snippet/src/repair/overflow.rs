//! Integer literals that exceed `i32`, the type that the compiler assumes if nothing determines another: they get the
//! suffix of the type that holds them. The number stays the same.

use std::ops::Range;

use super::edit::Edit;
use crate::hints::Slip;
use crate::tokens::{Kind, Tokens};
use syn::{BinOp, Expr, Lit};

/// The lints about numbers that exceed their type.
const LINTS: [&str; 2] = ["overflowing_literals", "arithmetic_overflow"];

/// Types of integers, as suffixes of literals.
const SUFFIXES: [&str; 12] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

/// The edits for a number that exceeds `i32`.
pub(super) fn edits(slip: &Slip<'_>) -> Option<Vec<Edit>> {
    let message = slip.message;
    let is_of_default = match message.code() {
        "overflowing_literals" => message.message.contains("`i32`"),
        code => LINTS.contains(&code),
    };
    let range = slip.source.range(message.primary()?).filter(|_| is_of_default)?;
    let tokens = slip.tokens;
    let part = tokens.at(range.start)..tokens.at(range.end.checked_sub(1)?) + 1;
    let literal = in_product(tokens, part.clone()).or_else(|| {
        // Of a variable that is nothing else: `let day = 24 * 60 * 60 * 1000; day * 30`.
        part.filter(|index| tokens.is_plain(*index)).find_map(|index| declared(tokens, tokens.word(index)))
    })?;
    let number = integer(tokens.literal_text(literal)?)?;
    let suffix = if i64::try_from(number).is_ok() || number == 1 << 63 { "i64" } else { "u64" };
    (number <= u128::from(u64::MAX))
        .then(|| vec![Edit::insert(tokens.range(literal).end, format!("_{suffix}"))])
}

/// The edits for products of literals that exceed `i32`, though the compiler does not see it: it checks none in `async`
/// code. The program would panic.
pub(super) fn computed(text: &str, tokens: &Tokens<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut next = 0;
    while next < tokens.len() {
        let start = next;
        next += 1;
        let begins = start.checked_sub(1).is_none_or(|before| match tokens.kind(before) {
            Some(Kind::Open(_)) => true,
            Some(Kind::Sign(sign)) => ",=:;".contains(sign),
            _ => false,
        });
        if !begins || tokens.literal_text(start).and_then(integer).is_none() {
            continue;
        }
        let mut end = start + 1;
        while matches!(tokens.kind(end), Some(Kind::Literal))
            || matches!(tokens.kind(end), Some(Kind::Sign(sign)) if "+-*<".contains(sign))
        {
            end += 1;
        }
        next = end;
        let is_typed = tokens
            .statement(start)
            .any(|index| SUFFIXES.iter().any(|suffix| *suffix != "i32" && tokens.word(index) == *suffix));
        let ends = matches!(tokens.kind(end), None | Some(Kind::Close(_) | Kind::Sign(',' | ';')));
        let range = tokens.range(start).start..tokens.range(end - 1).end;
        if ends && !is_typed && text.get(range).is_some_and(exceeds) {
            edits.push(Edit::insert(tokens.range(start).end, "_i64"));
        }
    }
    edits
}

/// Whether a computation with literals exceeds `i32`, and not `i64`.
fn exceeds(text: &str) -> bool {
    let Ok(expression) = syn::parse_str::<Expr>(text) else { return false };
    let mut most = 0;
    evaluate(&expression, &mut most).is_some()
        && i32::try_from(most).is_err()
        && i64::try_from(most).is_ok()
        && matches!(expression, Expr::Binary(_))
}

/// The value of a computation with literals; `most` is the largest magnitude on the way.
fn evaluate(expression: &Expr, most: &mut i128) -> Option<i128> {
    let value = match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) if number.suffix().is_empty() => number.base10_parse().ok()?,
            _ => return None,
        },
        Expr::Binary(binary) => {
            let (left, right) = (evaluate(&binary.left, most)?, evaluate(&binary.right, most)?);
            match binary.op {
                BinOp::Add(_) => left.checked_add(right)?,
                BinOp::Sub(_) => left.checked_sub(right)?,
                BinOp::Mul(_) => left.checked_mul(right)?,
                BinOp::Shl(_) => left.checked_mul(1_i128.checked_shl(u32::try_from(right).ok()?)?)?,
                _ => return None,
            }
        }
        _ => return None,
    };
    *most = (*most).max(value.checked_abs()?);
    Some(value)
}

/// The first literal among tokens that are only integers and their operators.
fn in_product(tokens: &Tokens<'_>, mut part: Range<usize>) -> Option<usize> {
    let mut first = None;
    let is_computed = part.all(|index| match tokens.kind(index) {
        Some(Kind::Literal) => {
            let is_integer = tokens.literal_text(index).and_then(integer).is_some();
            first = first.or(Some(index));
            is_integer
        }
        Some(Kind::Sign(sign)) => "+-*".contains(sign),
        Some(Kind::Open('(') | Kind::Close('(')) => true,
        _ => false,
    });
    first.filter(|_| is_computed)
}

/// The literal of the variable `name`, if its only `let` has no type and computes with literals.
fn declared(tokens: &Tokens<'_>, name: &str) -> Option<usize> {
    let mut places = tokens.words().filter(|(index, word)| *word == name && tokens.is_declared(*index));
    let (place, _) = places.next().filter(|_| places.next().is_none())?;
    let value = Some(place + 2).filter(|_| tokens.is_sign(place + 1, '='))?;
    in_product(tokens, value..tokens.statement(place).end)
}

/// The value of an integer literal without a suffix.
fn integer(literal: &str) -> Option<u128> {
    let digits = literal.replace('_', "");
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0o") => (&digits[2..], 8),
        Some("0b") => (&digits[2..], 2),
        _ => (digits.as_str(), 10),
    };
    let is_typed = radix != 16 && SUFFIXES.iter().any(|suffix| digits.ends_with(suffix));
    u128::from_str_radix(digits, radix).ok().filter(|_| !is_typed)
}

#[cfg(test)]
mod tests {
    use super::{computed, declared, in_product, integer};
    use crate::tokens::Tokens;

    #[test]
    fn integers_are_read() {
        for (text, number) in [("1_700", Some(1700)), ("0xff", Some(255)), ("5_i64", None), ("1.5", None)] {
            assert_eq!(integer(text), number, "{text}");
        }
    }

    #[test]
    fn products_that_exceed_the_default_type_are_found() {
        for (text, is) in [
            ("f(24*60*60*1000*30)", true),
            ("let a = 1 << 40;", true),
            ("json!({ \"at\": 24 * 60 * 60 * 1000 * 30 })", true),
            ("f(24 * 60)", false),
            ("let a: i64 = 24*60*60*1000*30;", false),
            ("f(a * 24*60*60*1000*30)", false),
            ("f(24*60*60*1000*30 / 7)", false),
        ] {
            assert_eq!(computed(text, &Tokens::read(text)).len(), usize::from(is), "{text}");
        }
    }

    #[test]
    fn only_computed_literals_have_one_type() {
        let first = |text: &str| in_product(&Tokens::read(text), 0..Tokens::read(text).len());
        assert_eq!(first("24 * (60 + 60)"), Some(0));
        assert_eq!(first("-1"), Some(1));
        for text in ["a * 2", "2 * 1.5", "f(2)", "2 / 3"] {
            assert_eq!(first(text), None, "{text}");
        }
        let value = |text: &str| declared(&Tokens::read(text), "day");
        assert_eq!(value("let day = 24 * 60; day * 30"), Some(3));
        assert_eq!(value("let day: i32 = 24; day * 30"), None);
        assert_eq!(value("let day = 24; let day = 25; day"), None);
    }
}
