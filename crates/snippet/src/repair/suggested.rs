//! The compiler's suggestions, if they have only one meaning; docs/internals/corrections.md lists them.
//!
//! Whatever rustc calls a suggestion, it is applied only if a rule here knows its form: an error code and the texts it
//! replaces. Rules that depend on the surrounding code use `certain`, `numbers` or `capture`.

use std::ops::Range;

use super::edit::Edit;
use super::origins::Origins;
use super::{awaited, capture, certain, numbers};
use crate::hints::Slip;
use crate::hints::lookup::Known;
use crate::messages::{Message, Span, mismatch};

/// One replacement of a suggestion.
pub(super) struct Change<'a> {
    pub(super) range: Range<usize>,
    before: &'a str,
    after: &'a str,
}

/// The edits of one compiler suggestion, if it is certain.
pub(super) fn edits(slip: &Slip<'_>, origins: &Origins, child: &Message) -> Option<Vec<Edit>> {
    let spans: Vec<&Span> = child.spans.iter().filter(|span| span.suggested_replacement.is_some()).collect();
    // Alternatives are spans of the same position in one suggestion.
    let alternatives = spans.windows(2).any(|pair| pair[0].byte_start == pair[1].byte_start);
    if spans.is_empty() || alternatives {
        return None;
    }
    if spans.iter().any(|span| span.suggestion_applicability.as_deref() == Some("HasPlaceholders")) {
        return spans.into_iter().map(|span| filled(slip, span)).collect();
    }
    let changes = spans.into_iter().map(|span| change(slip, span)).collect::<Option<Vec<_>>>()?;
    let is_certain = is_certain(slip, origins, child, &changes);
    let edit = |change: Change<'_>| Edit {
        start: change.range.start,
        end: change.range.end,
        text: change.after.to_owned(),
    };
    is_certain.then(|| changes.into_iter().map(edit).collect())
}

fn change<'a>(slip: &Slip<'a>, span: &'a Span) -> Option<Change<'a>> {
    if span.expansion.as_ref().is_some_and(|expansion| !expansion.is_of_compiler()) {
        return None;
    }
    let is_known = matches!(
        span.suggestion_applicability.as_deref(),
        Some("MachineApplicable" | "MaybeIncorrect" | "HasPlaceholders")
    );
    let range = slip.source.range(span).filter(|_| is_known)?;
    let before = slip.source.text.get(range.clone())?;
    let after = span.suggested_replacement.as_deref()?;
    // Line numbers must not change.
    (!after.contains('\n') && !before.contains('\n')).then_some(Change { range, before, after })
}

/// Whether a suggestion has only one meaning.
fn is_certain(slip: &Slip<'_>, origins: &Origins, child: &Message, changes: &[Change<'_>]) -> bool {
    // `Input { subject }` becomes `Input { subject: subject… }`.
    let changes = match changes {
        [field, rest @ ..] if !rest.is_empty() && names_field(slip, field) => rest,
        all => all,
    };
    let texts: Vec<(&str, &str)> = changes.iter().map(|change| (change.before, change.after)).collect();
    let Some(first) = changes.first() else { return false };
    let Some(last) = changes.last() else { return false };
    let at = first.range.start;
    match (slip.message.code(), &texts[..]) {
        ("E0308", _) => is_certain_mismatch(slip, origins, &texts, at..last.range.end),
        ("E0277" | "E0369", [("", "&")])
        | ("E0277" | "E0599" | "E0609", [("", ".await")])
        | ("E0368" | "E0606", [("", "*")])
        | ("E0369", [("", ".to_owned()")])
        | ("E0423", [(".", "::")])
        | ("E0605", [("", "String::from("), (" as String", ")")])
        | ("E0594" | "E0596", [("iter()", "iter_mut()")])
        | ("E0782", [("", "dyn ")]) => true,
        ("E0277", [(".await", "")]) => awaited::is_data(slip),
        ("E0054", [(" as bool", " != 0")]) => certain::is_operand(slip, at),
        ("E0615" | "E0616", [("", "()")]) => READING.contains(&slip.name),
        ("E0618", [("()", "")]) => ends_upper(slip, at),
        ("E0277" | "E0369", [("", "*")] | [("&", "")]) => !certain::is_for_changing(slip, at),
        ("E0277" | "E0369" | "E0599" | "E0310", [("", bound)]) => {
            bound.starts_with(": ") || bound.starts_with(" + ")
        }
        ("E0373", [("", "move " | " move")]) => capture::reads_only(slip, at),
        ("E0382", [("", "&")]) => {
            child.message.contains("iterating over a slice")
                || child.message.starts_with("consider borrowing")
        }
        ("E0382" | "E0507", [("", "ref ")]) => slip.tokens.word(slip.tokens.at(at)) != "mut",
        ("E0382", [("", ".clone()")]) => {
            slip.message.label().starts_with("value used here after")
                && certain::is_snapshot(slip, origins, last.range.end)
        }
        ("E0507", [("", ".clone()")] | [("*", ""), ("", ".clone()")]) => {
            certain::is_snapshot(slip, origins, last.range.end)
        }
        ("E0384" | "E0594" | "E0596", [("", "mut ")]) => certain::is_fresh(slip, origins, at),
        ("E0608", [(index, member)]) => is_member(index, member),
        ("", [(place, "0"), ("", argument)]) => argument.strip_prefix(", ") == Some(*place),
        _ => false,
    }
}

/// Whether a suggestion for a mismatched type is certain: `texts` are the replacements in `range`.
fn is_certain_mismatch(
    slip: &Slip<'_>,
    origins: &Origins,
    texts: &[(&str, &str)],
    range: Range<usize>,
) -> bool {
    match texts {
        [("", "&")] | [("", "&("), ("", ")")] | [("", ".await")] => true,
        [("", ".as_str()" | ".as_ref()" | ".as_deref()" | ".as_slice()")]
        | [("", ".as_ref()"), ("&", "")] => true,
        [("", "&mut ")] => certain::is_place(slip, origins),
        [("", "*")] | [("&", "")] => certain::is_read(slip, range.start),
        [("", "Some(" | "Ok("), ("", ")")] => certain::may_wrap(slip, &range),
        [("", ";")] => certain::is_dropped(slip, range.start),
        [(";", "")] => certain::is_last_value(slip, range.start),
        [("", returned)] if returned.trim().starts_with("-> ") => {
            certain::is_returned(slip, returned, range.start)
        }
        [("", ".clone()" | ".to_vec()" | ".cloned()" | ".copied()")] => {
            certain::is_snapshot(slip, origins, range.end)
        }
        [("", ".0")] => numbers::is_exact(slip),
        [("'", "\""), ("'", "\"")] => true,
        [(text, character)] if is_character(text, character) => true,
        [("", ".to_string()" | ".to_owned()" | ".into()")]
            if certain::is_text_of(slip, &found(slip, &range)) =>
        {
            true
        }
        _ => numbers::is_widened(slip, texts),
    }
}

/// The expression that a message is about; `range` if it is in a macro.
fn found(slip: &Slip<'_>, range: &Range<usize>) -> Range<usize> {
    let own = slip.message.primary().and_then(|span| slip.source.range(span));
    own.unwrap_or_else(|| range.clone())
}

/// Methods that only read: without `()`, they can't be meant as functions to call later.
const READING: [&str; 40] = [
    "abs",
    "as_bool",
    "as_bytes",
    "as_f64",
    "as_i64",
    "as_ref",
    "as_str",
    "as_u64",
    "bytes",
    "ceil",
    "chars",
    "clone",
    "count",
    "day",
    "first",
    "floor",
    "is_empty",
    "is_err",
    "is_none",
    "is_ok",
    "is_some",
    "iter",
    "keys",
    "last",
    "len",
    "lines",
    "max",
    "min",
    "month",
    "round",
    "sqrt",
    "text",
    "to_lowercase",
    "to_owned",
    "to_string",
    "to_uppercase",
    "trim",
    "unwrap",
    "values",
    "year",
];

/// Whether the name that ends at byte `at` is that of a variant.
fn ends_upper(slip: &Slip<'_>, at: usize) -> bool {
    let last = slip.tokens.at(at).checked_sub(1);
    last.is_some_and(|last| slip.tokens.word(last).starts_with(char::is_uppercase))
}

/// Whether a change adds the field name before the shorthand for it.
fn names_field(slip: &Slip<'_>, change: &Change<'_>) -> bool {
    let name = change.after.strip_suffix(": ").filter(|_| change.before.is_empty());
    name.is_some_and(|name| slip.tokens.word(slip.tokens.at(change.range.start)) == name)
}

/// Whether `"a"` becomes `'a'`.
fn is_character(text: &str, character: &str) -> bool {
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.is_some_and(|inside| {
        character.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) == Some(inside)
    })
}

/// Whether `[0]` becomes `.0`.
fn is_member(index: &str, member: &str) -> bool {
    let number = index.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    number.is_some() && number == member.strip_prefix('.')
}

/// Whether the message found a call or the result of one.
fn is_call_or_result(slip: &Slip<'_>) -> bool {
    let found = mismatch(slip.message.label()).map(|(_, found)| slip.lookup.known(found));
    found.is_some_and(|found| matches!(found, Known::Call(_)) || found.is_result_of_call())
}

/// A suggestion with a placeholder, if only one thing fits.
fn filled(slip: &Slip<'_>, span: &Span) -> Option<Edit> {
    let Change { range, before, after } = change(slip, span).filter(|change| change.before.is_empty())?;
    debug_assert!(before.is_empty());
    let text = match (slip.message.code(), after) {
        // `Ok(…)` with an undetermined error type: any error converts into `anyhow::Error`.
        ("E0282" | "E0283", text) if text.ends_with(", E>") => {
            slip.source.text.get(..range.start)?.ends_with("Ok").then_some("::<_, ::anyhow::Error>")?
        }
        ("E0069", " Ok(/* value */)") => " Ok(())",
        ("E0308", "?") if is_call_or_result(slip) => "?",
        _ => return None,
    };
    Some(Edit::insert(range.start, text))
}
