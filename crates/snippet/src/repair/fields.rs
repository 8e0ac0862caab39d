//! Fields of the types of tools: a value that a call would accept, written where the field's own type is needed.
//!
//! A stub converts its arguments; a struct literal does not. `permission: "r"`, `amount: 5` and `note: "a"` have one
//! meaning there too: the variant with these letters, the same number, the same text.

use std::ops::Range;

use super::certain;
use super::edit::Edit;
use crate::hints::Slip;
use crate::hints::arguments::in_module;
use crate::hints::lookup::{Found, Known};
use crate::hints::signature::{Shape, Variant, letters};
use crate::messages::mismatch;
use crate::tokens::{Kind, Tokens};

/// A type that is expected, and the `Option`s around it.
struct Expected<'a> {
    kind: &'a str,
    options: usize,
}

impl<'a> Expected<'a> {
    fn read(kind: &'a str) -> Self {
        let mut expected = Expected { kind, options: 0 };
        while let Some(some) = expected.kind.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
            expected = Expected { kind: some, options: expected.options + 1 };
        }
        expected
    }

    /// A value in its `Option`s.
    fn wrapped(&self, value: &str) -> String {
        format!("{}{value}{}", "Some(".repeat(self.options), ")".repeat(self.options))
    }
}

/// The edits for a value of another type than its field.
pub(super) fn edits(slip: &Slip<'_>) -> Option<Vec<Edit>> {
    let primary = slip.message.primary()?;
    if primary.expansion.as_ref().is_some_and(|from| !from.is_of_compiler()) {
        return listed(slip).or_else(|| wrapped(slip));
    }
    let range = slip.source.range(primary)?;
    match slip.message.code() {
        "E0308" => {
            let (expected, found) = mismatch(primary.label.as_deref()?)?;
            let expected = Expected::read(expected);
            value(slip, &expected, found, &range).or_else(|| listed(slip)).or_else(|| wrapped(slip))
        }
        // `"r".into()`: nothing converts a text into an enum of texts.
        "E0277" => {
            let quoted = slip.message.quoted();
            let (kind, _) = quoted.first()?.split_once(": From<&str")?;
            let dot = slip.at.checked_sub(1).filter(|dot| slip.tokens.is_sign(*dot, '.'))?;
            let literal = slip.tokens.range(dot.checked_sub(1)?);
            let call = literal.start..slip.tokens.range(slip.at + 2).end;
            value(slip, &Expected { kind, options: 0 }, "&str", &call)
        }
        _ => None,
    }
}

/// The edits for one value.
fn value(slip: &Slip<'_>, expected: &Expected<'_>, found: &str, range: &Range<usize>) -> Option<Vec<Edit>> {
    let text = slip.source.text.get(range.clone())?;
    let replaced = |value: &str| {
        let text = expected.wrapped(value);
        Some(vec![Edit { start: range.start, end: range.end, text }])
    };
    match expected.kind {
        "f64" if found == "integer" => {
            let is_number =
                text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
            // A longer number may not be a double.
            (is_number && text.len() <= 15).then(|| replaced(&format!("{text}.0")))?
        }
        "String" if expected.options > 1 && found == "&str" => {
            is_one(slip, range).then(|| replaced(&format!("{text}.to_string()")))?
        }
        "Scalar" => from(slip, expected, found, range),
        kind => {
            let Known::Generated(owner, name) = slip.lookup.known(kind) else { return None };
            let Shape::Enum(variants) = owner.shape(&name)? else { return None };
            match is_of_texts(&variants) {
                true => of_texts(slip, owner, &name, &variants, expected, range)
                    .or_else(|| parsed(slip, &variants, expected, found, range)),
                false => from(slip, expected, found, range),
            }
        }
    }
}

/// A union from the value of one of its variants.
fn from(slip: &Slip<'_>, expected: &Expected<'_>, found: &str, range: &Range<usize>) -> Option<Vec<Edit>> {
    let is_value = !matches!(slip.lookup.known(found), Known::Call(_) | Known::Input(_) | Known::Result(..))
        && !["Option<", "future", "closure", "impl ", "()"].iter().any(|part| found.starts_with(part));
    (is_value && is_one(slip, range)).then(|| around(range, expected, ".into()"))
}

fn around(range: &Range<usize>, expected: &Expected<'_>, suffix: &str) -> Vec<Edit> {
    let some = "Some(".repeat(expected.options);
    let end = format!("{suffix}{}", ")".repeat(expected.options));
    let mut edits = vec![Edit::insert(range.end, end)];
    if !some.is_empty() {
        edits.insert(0, Edit::insert(range.start, some));
    }
    edits
}

/// Whether a suffix applies to the whole expression at `range`.
fn is_one(slip: &Slip<'_>, range: &Range<usize>) -> bool {
    slip.tokens.range(slip.at) == *range || certain::is_simple(slip, range)
}

fn is_of_texts(variants: &[Variant]) -> bool {
    variants.iter().all(|variant| variant.held.is_none() || variant.is_any_text())
}

/// The variant of the literal at `range`, which may be made a `String`.
fn of_texts(
    slip: &Slip<'_>,
    owner: Found<'_>,
    name: &str,
    variants: &[Variant],
    expected: &Expected<'_>,
    range: &Range<usize>,
) -> Option<Vec<Edit>> {
    let tokens = slip.tokens;
    let literal = tokens.at(range.start);
    let is_text = match tokens.at(range.end.checked_sub(1)?) - literal {
        0 => true,
        // `"r".to_string()`
        4 => matches!(tokens.word(literal + 2), "into" | "to_owned" | "to_string"),
        _ => false,
    };
    let text = literal_text(tokens, literal).filter(|_| is_text)?;
    let variant = written(&text, variants)?;
    let path = format!("{}::{variant}", in_module(name, owner.module.name()));
    Some(vec![Edit { start: range.start, end: range.end, text: expected.wrapped(&path) }])
}

/// The value of a literal text.
fn literal_text(tokens: &Tokens<'_>, index: usize) -> Option<String> {
    let literal: syn::LitStr = syn::parse_str(tokens.literal_text(index)?).ok()?;
    Some(literal.value())
}

/// The only variant whose text is `text`, or has the same letters and digits.
fn written<'a>(text: &str, variants: &'a [Variant]) -> Option<&'a str> {
    let given = letters(text);
    let exact = variants.iter().find(|variant| variant.text.as_deref() == Some(text));
    if let Some(exact) = exact {
        return Some(&exact.name);
    }
    let mut found = variants.iter().filter(|variant| match &variant.text {
        Some(own) => own == text,
        None => variant.held.is_none() && !given.is_empty() && letters(&variant.name) == given,
    });
    let only = found.next()?;
    found.next().is_none().then_some(only.name.as_str())
}

/// A text that is not a literal: any text is a value of an enum with `Other`; of another one, if it is listed.
fn parsed(
    slip: &Slip<'_>,
    variants: &[Variant],
    expected: &Expected<'_>,
    found: &str,
    range: &Range<usize>,
) -> Option<Vec<Edit>> {
    let is_literal = slip.tokens.kind(slip.at) == Some(Kind::Literal);
    if is_literal || !matches!(found, "&str" | "String" | "&String") || !certain::is_simple(slip, range) {
        return None;
    }
    let is_open = variants.iter().any(Variant::is_any_text);
    Some(around(range, expected, if is_open { ".as_str().into()" } else { ".parse()?" }))
        .filter(|_| !(is_open && found == "&str"))
        .or_else(|| Some(around(range, expected, ".into()")))
}

/// A list of literals where a list of variants or numbers is expected.
fn listed(slip: &Slip<'_>) -> Option<Vec<Edit>> {
    let tokens = slip.tokens;
    let primary = slip.message.primary().filter(|_| slip.message.code() == "E0308")?;
    let (expected, found) = mismatch(primary.label.as_deref()?)?;
    let expected = Expected::read(expected);
    let item = expected.kind.strip_prefix("Vec<")?.strip_suffix('>')?;
    let range = slip.source.use_range(primary)?;
    let first = tokens.at(range.start);
    let is_array = found.starts_with('[') && tokens.kind(first) == Some(Kind::Open('['));
    let is_vec = found.starts_with("Vec<") && tokens.word(first) == "vec" && tokens.is_sign(first + 1, '!');
    let open = if is_array { first } else { first + 2 };
    let close = tokens.close(open).filter(|_| is_array || is_vec)?;
    // With fewer `Option`s, `mismatch` and the compiler's suggestions make the texts owned.
    let is_owned = item == "String" && expected.options > 1 && certain::may_wrap(slip, &range);
    let item = Expected { kind: item, options: 0 };
    let mut edits = Vec::new();
    for index in (open + 1..close).filter(|index| !tokens.is_sign(*index, ',')) {
        let place = tokens.range(index);
        let found = if literal_text(tokens, index).is_some() { "&str" } else { "integer" };
        let literal = tokens.literal_text(index)?;
        let is_text = found == "&str" || literal.bytes().all(|byte| byte.is_ascii_digit());
        let edit = match found {
            "&str" if is_owned => Some(vec![Edit::insert(place.end, ".to_string()")]),
            _ => value(slip, &item, found, &place).filter(|_| is_text),
        };
        edits.extend(edit?);
    }
    let (before, after) = ("Some(".repeat(expected.options), ")".repeat(expected.options));
    let before = if is_array { format!("{before}vec!") } else { before };
    let sides = [Edit::insert(range.start, before), Edit::insert(range.end, after)];
    edits.extend(sides.into_iter().filter(|edit| !edit.text.is_empty()));
    edits.sort_by_key(|edit| edit.start);
    Some(edits)
}

/// A value without the `Option`s of its type: an optional field that may be null has two, which rustc does not suggest.
fn wrapped(slip: &Slip<'_>) -> Option<Vec<Edit>> {
    let primary = slip.message.primary().filter(|_| slip.message.code() == "E0308")?;
    let (expected, found) = mismatch(primary.label.as_deref()?)?;
    let expected = Expected::read(expected);
    let is_same = match (expected.kind, found) {
        ("i64" | "u64", "integer") | ("f64", "floating-point number") => true,
        (kind, "Vec<_>") => kind.starts_with("Vec<"),
        (kind, found) => kind == found,
    };
    let range = slip.source.use_range(primary)?;
    let fits = expected.options > 1 && is_same && certain::may_wrap(slip, &range);
    fits.then(|| around(&range, &expected, ""))
}

#[cfg(test)]
mod tests {
    use super::written;
    use crate::hints::signature::Variant;

    #[test]
    fn a_text_is_the_variant_with_its_letters() {
        let variants = [
            Variant::of("R", None, None),
            Variant::of("InProgress", None, None),
            Variant::of("DarkBlue", Some("dark blue"), None),
            Variant::of("A", Some("a!"), None),
            Variant::of("A2", Some("a?"), None),
        ];
        for (text, found) in [
            ("r", Some("R")),
            ("in_progress", Some("InProgress")),
            ("IN-PROGRESS", Some("InProgress")),
            ("dark blue", Some("DarkBlue")),
            ("dark-blue", None),
            ("a", None),
            ("progress", None),
            ("", None),
        ] {
            assert_eq!(written(text, &variants), found, "{text}");
        }
    }
}
