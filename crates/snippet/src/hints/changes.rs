//! Advice for errors where the compiler's own suggestion could lose a change, a failure or a fraction, and is not
//! applied.

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
    let changes = tokens.words().any(|(index, word)| word == name && tokens.word_before(index, 1) == "mut");
    changes.then(|| {
        format!(
                "with `move` this gets its own copy of {}, and changes to the copy would be lost: return the new \
                 value and use it where the future or thread is awaited or joined, or share it in an `Arc<Mutex<_>>` or an atomic",
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
        "a `.clone()` is a separate value: changes to one do not affect the other. To change the original, \
             borrow it with `&mut {place}`; to read it, with `&{place}`; write `.clone()` only where a copy is intended"
    )
}

/// `mut` for a parameter, a loop variable, or a copy.
fn made_mutable(slip: &Slip<'_>) -> Option<String> {
    let what = slip.message.quoted().last().copied().unwrap_or("it");
    let is_behind_reference = slip.message.message.contains("reference");
    (!is_behind_reference).then(|| {
        format!(
                "with `mut`, this would change {}, not the value it was copied from. To change the original, take a reference: \
                 `&mut` before the value, `get_mut(…)`, `iter_mut()` in a loop, or a parameter of type `&mut`; \
                 otherwise write `let mut`",
            quoted(what)
        )
    })
}

fn mismatched(slip: &Slip<'_>) -> Option<String> {
    let (expected, found) = mismatch(slip.message.label())?;
    let is_future = found.contains("future") || found.contains("Future<");
    if expected == "()" && is_future {
        let line = "a future does nothing until it is awaited: add `.await`, or `.await?;` for a `Result`";
        return Some(line.to_owned());
    }
    if expected == "()" && found.starts_with("Result<") {
        return Some(
                "it is a `Result`, and `;` would lose its failure: write `?;`, or handle it with `match` or `if let Err`"
                .to_owned(),
        );
    }
    if found.starts_with("&mut ") && slip.notes("removing the borrow") {
        let line = "the function takes its own value, and changes to it are lost: let it take `&mut`, or \
                    return the value";
        return Some(line.to_owned());
    }
    if suggests(slip, "&mut ") {
        let line = "this would change a copy, not what it was copied from: to change the original, take a reference to it, \
                    as in `&mut list[0]` or `iter_mut()`; otherwise write `&mut` here";
        return Some(line.to_owned());
    }
    if expected == "Value" && (found.ends_with("str") || found.ends_with("String")) {
        let line = "a text is not read as JSON: use `.json::<Value>()?` of a tool's result, or `serde_json::from_str(…)?`; \
                    for a JSON string with this text, `json!(…)`";
        return Some(line.to_owned());
    }
    if expected == "String" && found.ends_with("Value") {
        let line = "get the text of a `Value` with `.as_str()`, which returns an `Option<&str>`; `.to_string()` returns JSON, in \
                    quotes";
        return Some(line.to_owned());
    }
    if expected.starts_with("Option<") && slip.tokens.follows_order(slip.at) {
        return Some(
                "`None` is less than every `Some`: compare the value inside with `is_some_and(|value| value < …)`"
                .to_owned(),
        );
    }
    number(slip, expected, found)
}

/// Whether the message is about the right side of `==` or `!=`.
fn follows_equality(slip: &Slip<'_>) -> bool {
    slip.tokens.is_sign_before(slip.at, 1, &['=']) && slip.tokens.is_sign_before(slip.at, 2, &['=', '!'])
}

fn number(slip: &Slip<'_>, expected: &str, found: &str) -> Option<String> {
    let is_integer = |name: &str| {
        name == "integer"
            || name
                .strip_prefix(['i', 'u'])
                .is_some_and(|width| width == "size" || width.parse::<u8>().is_ok())
    };
    let is_float = |name: &str| matches!(name, "f32" | "f64");
    if is_float(expected) && found == "integer" && suggests(slip, ".0") {
        return Some(format!(
            "`{expected}` has no such number, only the nearest one: write the literal with `.0` if that is meant"
        ));
    }
    if is_float(expected) && is_integer(found) {
        return Some(
                "convert an integer to a float with `as f64`, or `f64::from(…)` if it fits; do so before a division, because \
                 integers are divided without a fraction (`7 / 2` is 3): `a as f64 / b as f64`"
                .to_owned(),
        );
    }
    if is_integer(expected) && is_integer(found) && follows_equality(slip) {
        return Some(format!(
            "both sides need one type: convert one of them, as in `{found}::try_from(a)? == b` or `a == {expected}::try_from(b)?`"
        ));
    }
    (is_integer(expected) && is_integer(found) && suggests(slip, ".try_into()")).then(|| {
        format!(
                "converting `{found}` to `{expected}` fails for values that do not fit: convert the narrower side to the wider type, \
                 or both, as in `i128::from(a) < i128::from(b)`; use `{expected}::try_from(a)?` if the value must fit"
        )
    })
}
