//! Advice where the compiler's own suggestion could lose a change, a failure or a fraction: it is not applied.

use super::advice::Advice;
use super::shown::quoted;
use super::slip::Slip;
use crate::messages::mismatch;

pub(super) fn advice<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let line = match slip.message.code() {
        "E0373" => captured(slip)?,
        "E0382" | "E0507" if suggests(slip, ".clone()") => copied(slip),
        "E0384" | "E0594" | "E0596" if suggests(slip, "mut ") || suggests(slip, "(mut ") => {
            made_mutable(slip)?
        }
        "E0308" => mismatched(slip)?,
        _ => return None,
    };
    Some(Advice::new(line))
}

fn suggests(slip: &Slip<'_>, start: &str) -> bool {
    let mut spans = slip.message.children.iter().flat_map(|child| &child.spans);
    spans.any(|span| span.suggested_replacement.as_deref().is_some_and(|text| text.starts_with(start)))
}

/// `move` for a variable that may change.
fn captured(slip: &Slip<'_>) -> Option<String> {
    let name = *slip.message.quoted().first()?;
    let tokens = slip.tokens;
    let changes = tokens.words().any(|(index, word)| {
        word == name && index.checked_sub(1).is_some_and(|before| tokens.word(before) == "mut")
    });
    changes.then(|| {
        format!(
            "with `move` this would have a copy of {} of its own, and what it changes in it would be lost: return the new \
             value from it and take it where it is awaited or joined, or share it in an `Arc<Mutex<_>>` or an atomic",
            quoted(name)
        )
    })
}

fn copied(slip: &Slip<'_>) -> String {
    let place = match slip.name.chars().count() {
        1..=60 if !slip.name.contains('\n') => slip.name,
        _ => "value",
    };
    format!(
        "a `.clone()` is a value of its own: what changes in one of them does not change in the other. To change it where it \
         is, borrow it with `&mut {place}`; to read it, with `&{place}`; write `.clone()` only where a copy is meant"
    )
}

/// `mut` for a parameter, the variable of a loop, or a copy.
fn made_mutable(slip: &Slip<'_>) -> Option<String> {
    let what = slip.message.quoted().last().copied().unwrap_or("it");
    let is_behind_reference = slip.message.message.contains("reference");
    (!is_behind_reference).then(|| {
        format!(
            "with `mut`, {} would be changed, and not what it was copied from: take `&mut` in the function, go over the items \
             with `iter_mut()`, or borrow with `&mut`, where that is meant; else write `let mut`",
            quoted(what)
        )
    })
}

fn mismatched(slip: &Slip<'_>) -> Option<String> {
    let (expected, found) = mismatch(slip.message.label())?;
    let is_future = found.contains("future") || found.contains("Future<");
    if expected == "()" && is_future {
        let line = "nothing is done before a future is awaited: put `.await` behind it, or `.await?;` for a `Result`";
        return Some(line.to_owned());
    }
    if expected == "()" && found.starts_with("Result<") {
        return Some(
            "it is a `Result`, and its failure would be lost with a `;`: write `?;`, or handle it with `match` or `if let Err`"
                .to_owned(),
        );
    }
    if found.starts_with("&mut ") && slip.notes("removing the borrow") {
        let line = "the function takes a value of its own, and what it changes in it is lost: let it take `&mut`, or \
                    return it";
        return Some(line.to_owned());
    }
    if expected == "String" && found.ends_with("Value") {
        let line = "the text in a `Value` is `.as_str()`, which is an `Option<&str>`: `.to_string()` would be JSON, in \
                    quotes";
        return Some(line.to_owned());
    }
    if expected.starts_with("Option<") && slip.tokens.follows_order(slip.at) {
        return Some(
            "`None` is less than every `Some`: compare what is in it, with `is_some_and(|value| value < …)`"
                .to_owned(),
        );
    }
    number(slip, expected, found)
}

fn number(slip: &Slip<'_>, expected: &str, found: &str) -> Option<String> {
    let is_integer = |name: &str| {
        name == "integer"
            || name
                .strip_prefix(['i', 'u'])
                .is_some_and(|width| width == "size" || width.parse::<u8>().is_ok())
    };
    let is_float = |name: &str| matches!(name, "f32" | "f64");
    if is_float(expected) && is_integer(found) {
        return Some(
            "an integer becomes a float with `as f64`, or `f64::from(…)` where it fits: before a division, since \
             integers are divided without a fraction (`7 / 2` is 3), as in `a as f64 / b as f64`"
                .to_owned(),
        );
    }
    (is_integer(expected) && is_integer(found) && suggests(slip, ".try_into()")).then(|| {
        format!(
            "a conversion from `{found}` to `{expected}` fails for what does not fit: convert the narrower side to the wider type, \
             or both, as in `i128::from(a) < i128::from(b)`; `{expected}::try_from(a)?` where the value must fit"
        )
    })
}
