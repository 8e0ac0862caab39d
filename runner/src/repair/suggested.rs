//! What the compiler suggests, as far as it may be applied.

use super::Edit;
use crate::hints::Slip;
use crate::hints::lookup::Known;
use crate::messages::{Message, Span, mismatch};

/// Replacements that are applied although rustc calls them guesses, each with the error that it corrects.
pub(super) const GUESSES: [(&str, &[&str]); 6] = [
    ("E0277", &[".await"]),
    ("E0308", &[".await", "Some(", "Ok(", ")", ".to_string()", ".to_owned()", ".to_vec()", ".into()"]),
    ("E0382", &["&"]),
    // `demo.echo()`.
    ("E0423", &["::"]),
    ("E0599", &[".await"]),
    // `result.text`, which is a method.
    ("E0615", &["()"]),
];

/// Errors of names and members: a replacement of one name by another is a guess there, whatever rustc calls it.
const NAMES: [&str; 12] = [
    "E0026", "E0405", "E0412", "E0422", "E0425", "E0432", "E0433", "E0531", "E0559", "E0560", "E0599",
    "E0609",
];

/// The edits of one suggestion of the compiler's, if all of them may be applied.
pub(super) fn edits(slip: &Slip<'_>, child: &Message) -> Option<Vec<Edit>> {
    let spans = child.spans.iter().filter(|span| span.suggested_replacement.is_some());
    let spans: Vec<&Span> = spans.collect();
    // Alternatives stand in one suggestion as spans of the same place.
    let alternatives = spans.windows(2).any(|pair| pair[0].byte_start == pair[1].byte_start);
    if spans.is_empty() || alternatives {
        return None;
    }
    spans.into_iter().map(|span| edit(slip, span)).collect()
}

fn edit(slip: &Slip<'_>, span: &Span) -> Option<Edit> {
    if span.expansion.as_ref().is_some_and(|expansion| !expansion.is_of_compiler()) {
        return None;
    }
    let range = slip.source.range(span)?;
    let before = slip.source.text.get(range.clone())?;
    let replacement = span.suggested_replacement.as_deref()?;
    let code = slip.message.code();
    let text = match span.suggestion_applicability.as_deref()? {
        "MachineApplicable" if NAMES.contains(&code) && is_name(before) && is_name(replacement) => {
            return None;
        }
        // It would drop a call before it is made, or its failure.
        "MachineApplicable" if replacement == ";" && is_call_or_result(slip) => return None,
        "MachineApplicable" => replacement.to_owned(),
        "HasPlaceholders" if before.is_empty() => filled(slip, range.start, replacement)?,
        _ => {
            let mut guesses = GUESSES.iter().filter(|(guess, _)| *guess == code);
            guesses.any(|(_, texts)| texts.contains(&replacement)).then(|| replacement.to_owned())?
        }
    };
    // Lines keep their numbers.
    (!text.contains('\n') && !before.contains('\n')).then_some(Edit {
        start: range.start,
        end: range.end,
        text,
    })
}

/// Whether the message found a call, or what one gives.
fn is_call_or_result(slip: &Slip<'_>) -> bool {
    let found = mismatch(slip.message.label()).map(|(_, found)| slip.lookup.known(found));
    found.is_some_and(|found| matches!(found, Known::Call(_)) || found.is_result_of_call())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// A suggestion with a gap, where only one thing fits into it.
fn filled(slip: &Slip<'_>, at: usize, replacement: &str) -> Option<String> {
    let before = slip.source.text.get(..at)?;
    match (slip.message.code(), replacement) {
        // `Ok(…)` whose error type nothing determines: any error converts into `anyhow::Error`.
        ("E0282" | "E0283", text) if text.ends_with(", E>") && before.ends_with("Ok") => {
            Some("::<_, ::anyhow::Error>".to_owned())
        }
        ("E0069", " Ok(/* value */)") => Some(" Ok(())".to_owned()),
        ("E0308", "?") => is_call_or_result(slip).then(|| "?".to_owned()),
        _ => None,
    }
}
