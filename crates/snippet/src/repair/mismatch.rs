//! Corrections of mismatched types, where the two types show what is meant.

use std::ops::Range;

use super::edit::Edit;
use super::{certain, numbers, order};
use crate::hints::Slip;
use crate::hints::lookup::{Found, Known};
use crate::messages::{mismatch, quoted};
use crate::tokens::{Kind, Tokens};

/// The edits of a message about mismatched types (`E0308`).
pub(super) fn edits(slip: &Slip<'_>) -> Option<Vec<Edit>> {
    let primary = slip.message.primary()?;
    let (expected, found) = mismatch(primary.label.as_deref()?)?;
    let range = slip.source.use_range(primary)?;
    // Code in a macro of the snippet may fit at its other uses.
    let in_macro = primary.expansion.as_ref().is_some_and(|from| !from.is_of_compiler());
    if in_macro && slip.source.range(primary).is_some() {
        return None;
    }
    if let Some(pattern) = slip.call(expected) {
        return matched(slip, pattern, found);
    }
    let simple = certain::is_simple(slip, &range);
    match slip.lookup.known(found) {
        Known::Call(found) if simple => awaited(slip, found, expected, &range),
        Known::Result(value, _) if simple && is_result_of_call(slip, found) => {
            opened(slip, &value, expected, &range)
        }
        // A failure ends the loop and is reported; no value is lost.
        Known::Result(value, _) if expected == "()" && value == "()" => {
            let fits = simple && ends_block(slip, &range) && in_loop(slip, &range);
            fits.then(|| around(&range, "", "?;"))
        }
        _ if simple && is_other_map(expected, found) => Some(around(&range, "", ".into_iter().collect()")),
        _ => numbers::equal(slip, (expected, found), &range).or_else(|| texts(slip, expected, found, &range)),
    }
}

/// Whether a type is the result of a call: its failure must not be lost.
fn is_result_of_call(slip: &Slip<'_>, name: &str) -> bool {
    slip.lookup.known(name).is_result_of_call()
}

/// Whether a map of an answer is used as one of the standard library, which can have the same entries.
fn is_other_map(expected: &str, found: &str) -> bool {
    let kind = |name: &str| base(name.split('<').next().unwrap_or(name)).to_owned();
    matches!(&*kind(expected), "BTreeMap" | "HashMap") && kind(found) == "IndexMap"
}

/// The last segment of a path: messages print types with and without their crate.
fn base(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

fn around(range: &Range<usize>, before: &str, after: &str) -> Vec<Edit> {
    let mut edits = vec![Edit::insert(range.end, after)];
    if !before.is_empty() {
        edits.insert(0, Edit::insert(range.start, before));
    }
    edits
}

/// Whether the expression at `range` is the last one of a block, and nothing suggests that it may be the return value.
fn ends_block(slip: &Slip<'_>, range: &Range<usize>) -> bool {
    let is_last = slip.tokens.kind(slip.tokens.at(range.end)) == Some(Kind::Close('{'));
    is_last && (in_loop(slip, range) || !certain::may_be_returned(slip.message))
}

/// Whether the block that the expression at `range` ends is a loop body, so that it can't be a return value.
fn in_loop(slip: &Slip<'_>, range: &Range<usize>) -> bool {
    let tokens = slip.tokens;
    let mut before = tokens.enclosing(tokens.at(range.start)).and_then(|body| body.checked_sub(1));
    while let Some(index) = before {
        match tokens.kind(index) {
            Some(Kind::Close('(' | '[')) => before = tokens.open(index).and_then(|open| open.checked_sub(1)),
            Some(Kind::Word) if matches!(tokens.word(index), "for" | "while" | "loop") => return true,
            Some(Kind::Word) if matches!(tokens.word(index), "if" | "else" | "match" | "fn") => {
                return false;
            }
            Some(Kind::Word | Kind::Literal) => before = index.checked_sub(1),
            Some(Kind::Sign(sign)) if sign != ';' => before = index.checked_sub(1),
            _ => return false,
        }
    }
    false
}

/// A call used as its value or its result.
fn awaited(slip: &Slip<'_>, found: Found<'_>, expected: &str, range: &Range<usize>) -> Option<Vec<Edit>> {
    let output = found.form().output;
    if output.is_empty() {
        return None;
    }
    match slip.lookup.known(expected) {
        // A `;` alone, as the compiler suggests, would drop the call before it is made.
        _ if expected == "()" => ends_block(slip, range).then(|| around(range, "", ".await?;")),
        Known::Result(value, error) if base(&value) == output || value == "_" => match base(&error) {
            "ToolError" => Some(around(range, "", ".await")),
            _ => Some(around(range, "Ok(", ".await?)")),
        },
        _ if base(expected) == output => Some(around(range, "", ".await?")),
        _ => None,
    }
}

/// A result of a call, where nothing or a result with another error is expected.
fn opened(slip: &Slip<'_>, value: &str, expected: &str, range: &Range<usize>) -> Option<Vec<Edit>> {
    match slip.lookup.known(expected) {
        // A `;` alone would drop the failure.
        _ if expected == "()" => ends_block(slip, range).then(|| around(range, "", "?;")),
        Known::Result(other, error) if base(&other) == base(value) && base(&error) != "ToolError" => {
            Some(around(range, "Ok(", "?)"))
        }
        _ => None,
    }
}

/// `match demo::echo("a") { Ok(…) => …`: the message is about the patterns; the correction goes to the matched
/// expression.
fn matched(slip: &Slip<'_>, pattern: Found<'_>, found: &str) -> Option<Vec<Edit>> {
    let span = slip.labelled("this expression has type")?;
    let same = quoted(span.label.as_deref()?).into_iter().find_map(|name| slip.call(name))?;
    let range = slip.source.range(span)?;
    let is_result = matches!(slip.lookup.known(found), Known::Result(..));
    let fits = is_result && same.key() == pattern.key() && certain::is_simple(slip, &range);
    fits.then(|| around(&range, "", ".await"))
}

/// Borrowed strings where owned ones are expected: single, in lists, and in optional fields.
fn texts(slip: &Slip<'_>, expected: &str, found: &str, range: &Range<usize>) -> Option<Vec<Edit>> {
    let (inner, is_optional) = match expected.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>'))
    {
        Some(inner) => (inner, true),
        None => (expected, false),
    };
    if is_optional && order::is_ordered(slip.tokens, range) {
        return None;
    }
    let (some, end) = if is_optional { ("Some(", ")") } else { ("", "") };
    match (inner, found) {
        ("String", "&String") if !is_optional && !certain::is_for_changing(slip, range.start) => {
            // Without the `&` alone, the string would be moved out of its owner.
            let borrow = range.start..range.start + 1;
            let inner = borrow.end..range.end;
            let is_path = slip.source.text.get(borrow.clone()) == Some("&") && is_path(slip.tokens, &inner);
            is_path.then(|| {
                let removed = Edit { start: borrow.start, end: borrow.end, text: String::new() };
                vec![removed, Edit::insert(range.end, ".clone()")]
            })
        }
        ("String", "&str") if is_optional => {
            let is_literal =
                slip.tokens.kind(slip.at) == Some(Kind::Literal) && slip.tokens.range(slip.at) == *range;
            let is_one = is_literal || certain::is_simple(slip, range);
            is_one.then(|| around(range, some, &format!(".to_string(){end}")))
        }
        ("String", "&str") => list(slip.tokens, slip.at).map(owned),
        ("Vec<String>", "Vec<&str>") if is_optional => {
            let open =
                (slip.at..slip.at + 3).find(|index| slip.tokens.kind(*index) == Some(Kind::Open('[')))?;
            let mut edits = owned(list(slip.tokens, open + 1)?);
            edits.extend(around(range, some, end));
            Some(edits)
        }
        ("Vec<String>", array) if array.starts_with("[&str; ") => {
            let is_array = slip.tokens.kind(slip.at) == Some(Kind::Open('['));
            let mut edits = owned(list(slip.tokens, slip.at + 1).filter(|_| is_array)?);
            // `vec!` in front does not copy the array.
            edits.extend(
                around(range, &format!("{some}vec!"), end).into_iter().filter(|edit| !edit.text.is_empty()),
            );
            Some(edits)
        }
        _ => None,
    }
}

/// Whether a range is a variable with fields or indices: `order.items[0].sku`.
fn is_path(tokens: &Tokens<'_>, range: &Range<usize>) -> bool {
    let (first, last) = (tokens.at(range.start), tokens.at(range.end));
    (first..last).all(|index| match tokens.kind(index) {
        Some(Kind::Word | Kind::Literal | Kind::Open('[') | Kind::Close('[')) => true,
        Some(Kind::Sign(sign)) => sign == '.',
        _ => false,
    })
}

/// The ends of the strings in the list around the token at `index`, if it has only strings.
///
/// The compiler reports only the first one.
fn list(tokens: &Tokens<'_>, index: usize) -> Option<Vec<usize>> {
    let open = (0..index)
        .rev()
        .find(|before| !(tokens.kind(*before) == Some(Kind::Literal) || tokens.is_sign(*before, ',')))?;
    let close = tokens.close(open).filter(|_| tokens.kind(open) == Some(Kind::Open('[')))?;
    let mut ends = Vec::new();
    for index in open + 1..close {
        let is_text = tokens.literal_text(index).is_some_and(|text| text.starts_with(['"', 'r']));
        match tokens.kind(index) {
            Some(Kind::Literal) if is_text => ends.push(tokens.range(index).end),
            Some(Kind::Sign(',')) => {}
            _ => return None,
        }
    }
    (!ends.is_empty()).then_some(ends)
}

fn owned(ends: Vec<usize>) -> Vec<Edit> {
    ends.into_iter().map(|end| Edit::insert(end, ".to_string()")).collect()
}
