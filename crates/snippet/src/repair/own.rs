//! Corrections that follow from how tools are called, which the compiler does not know.

use std::ops::Range;

use super::edit::Edit;
use super::{certain, mismatch};
use crate::hints::Slip;
use crate::hints::literal;
use crate::hints::lookup::Known;
use crate::hints::values::is_result_method;

/// The edits of a message that shows a known mistake; `tail` is the snippet's last value.
pub(super) fn edits(slip: &Slip<'_>, tail: Option<&Range<usize>>) -> Option<Vec<Edit>> {
    let edit = match slip.message.code() {
        "E0063" => fields(slip),
        "E0027" => pattern(slip),
        "E0609" | "E0616" => field(slip),
        "E0599" => method(slip),
        "E0308" => return mismatch::edits(slip),
        "E0277" => bound(slip, tail),
        _ => None,
    };
    edit.map(|edit| vec![edit])
}

/// A literal that lacks only optional fields: they become `None`.
fn fields(slip: &Slip<'_>) -> Option<Edit> {
    let literal = literal::incomplete(slip)?;
    if literal.missing.iter().any(|field| !field.optional) {
        return None;
    }
    let fields: Vec<String> =
        literal.missing.iter().map(|field| format!("{}: {}", field.name, field.absent())).collect();
    Some(Edit::insert(literal.end, format!("{}{}", literal.before, fields.join(", "))))
}

/// A pattern of a generated type that lacks only the field for undeclared members, which no signature shows.
fn pattern(slip: &Slip<'_>) -> Option<Edit> {
    let path = slip.source.slice(slip.message.primary()?).split('{').next()?.trim();
    let Known::Generated(found, name) = slip.lookup.known(path) else { return None };
    let form = found.form();
    let shown = form.fields(&name)?;
    let is_hidden =
        |field: &&str| field.starts_with("extra") && shown.iter().all(|shown| shown.name != **field);
    if !slip.message.quoted().iter().all(is_hidden) {
        return None;
    }
    let mut spans = slip.message.children.iter().flat_map(|child| &child.spans);
    let ignored =
        spans.find(|span| span.suggested_replacement.as_deref().is_some_and(|text| text.contains("..")))?;
    let range = slip.source.range(ignored)?;
    Some(Edit { start: range.start, end: range.end, text: ignored.suggested_replacement.clone()? })
}

/// A field of a call or result, where its value has a field of that name.
fn field(slip: &Slip<'_>) -> Option<Edit> {
    let names = slip.message.quoted();
    let known = names.iter().filter(|name| !name.starts_with('&')).map(|name| slip.lookup.known(name));
    let known = known.into_iter().find(|known| matches!(known, Known::Call(_) | Known::Result(..)))?;
    match &known {
        Known::Call(found) if found.form().has_output_field(slip.name) => {
            Some(Edit::insert(dot(slip)?, ".await?"))
        }
        // The compiler found the field in the value: it suggests `unwrap().`.
        Known::Result(..) if known.is_result_of_call() && suggests(slip, "unwrap().") => {
            Some(Edit::insert(dot(slip)?, "?"))
        }
        _ => None,
    }
}

fn suggests(slip: &Slip<'_>, replacement: &str) -> bool {
    let mut spans = slip.message.children.iter().flat_map(|child| &child.spans);
    spans.any(|span| span.suggested_replacement.as_deref() == Some(replacement))
}

/// The position of the `.` before the name.
fn dot(slip: &Slip<'_>) -> Option<usize> {
    // In a macro of the snippet, the value is at another position.
    let in_macro = slip.message.primary()?.expansion.as_ref().is_some_and(|from| !from.is_of_compiler());
    let dot = slip.at.checked_sub(1).filter(|dot| slip.tokens.is_sign(*dot, '.') && !in_macro)?;
    Some(slip.tokens.range(dot).start)
}

/// Methods of results that futures have too.
const LAZY: [&str; 6] = ["and_then", "inspect_err", "map", "map_err", "or_else", "unwrap_or_else"];

/// Whether a result is taken from the chain of methods that continues at the message's position.
fn is_taken(slip: &Slip<'_>) -> bool {
    let tokens = slip.tokens;
    let mut index = slip.at;
    loop {
        let name = tokens.word(index);
        let Some(close) = tokens.close(index + 1).filter(|close| *close > index + 1) else { return false };
        let is_value = is_result_method(name) && !LAZY.contains(&name);
        if is_value || tokens.is_sign(close + 1, '?') {
            return true;
        }
        if !tokens.is_sign(close + 1, '.') {
            return false;
        }
        index = close + 2;
    }
}

/// A method of a result or its value, on a call.
fn method(slip: &Slip<'_>) -> Option<Edit> {
    let found = slip.message.quoted().into_iter().find_map(|name| slip.call(name))?;
    let is_text = found.form().output == "ToolResult" && matches!(slip.name, "text" | "json");
    let text = match slip.name {
        // A future may have it too, and then it does nothing until it is awaited.
        name if LAZY.contains(&name) && !is_taken(slip) => return None,
        name if is_result_method(name) => ".await",
        _ if is_text => ".await?",
        _ => return None,
    };
    Some(Edit::insert(dot(slip)?, text))
}

/// A call as the snippet's last value, and arguments awaited without a call.
fn bound(slip: &Slip<'_>, tail: Option<&Range<usize>>) -> Option<Edit> {
    let message = &slip.message.message;
    let names = slip.message.quoted();
    let name = *names.first()?;
    if message.starts_with("the snippet's result") {
        slip.call(name)?;
        let tail = tail.filter(|tail| certain::is_simple(slip, tail))?;
        return Some(Edit::insert(tail.end, ".await?"));
    }
    let is_input = matches!(slip.lookup.known(name), Known::Input(_));
    if is_input && message.ends_with("is not a future") && slip.name == "await" {
        return Some(Edit::insert(dot(slip)?, ".call()"));
    }
    None
}
