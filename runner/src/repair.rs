//! Slips that the compiler knows the correction of, corrected before the snippet is compiled once more.
//!
//! Applied is what rustc itself calls machine-applicable, and a list of others that it marks as a guess but that
//! can only mean one thing here: a missing `.await`, `Some(…)`, `.to_string()`, `&`, or the error type of an `Ok`
//! that nothing determines. Never a name: a tool that sounds alike does something else.

use crate::messages::{Message, Span, errors};
use crate::outcome::Fix;
use crate::splice::Spliced;

/// A corrected text.
#[derive(Debug)]
pub(crate) struct Repaired {
    /// The spliced text with the corrections.
    pub(crate) spliced: Spliced,
    /// The lines that were changed.
    pub(crate) fixes: Vec<Fix>,
}

/// A replacement of bytes in the spliced text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// Replacements that are applied although rustc calls them guesses, each with the error that it corrects.
const GUESSES: [(&str, &[&str]); 4] = [
    ("E0277", &[".await"]),
    ("E0308", &[".await", "Some(", ")", ".to_string()", ".to_owned()"]),
    ("E0599", &[".await"]),
    ("E0382", &["&"]),
];

/// The text of `spliced` with what the compiler's `messages` suggest; `None` where nothing is to be done.
pub(crate) fn repair(messages: &str, spliced: &Spliced) -> Option<Repaired> {
    let mut edits: Vec<Edit> = Vec::new();
    for message in errors(messages) {
        let suggested = message.children.iter().find_map(|child| edits_of(&message, child, spliced));
        for edit in suggested.into_iter().flatten() {
            // Of two suggestions for one place the first is taken: often both are the same.
            if edits.iter().all(|other| edit.end < other.start || other.end < edit.start) {
                edits.push(edit);
            }
        }
    }
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|edit| edit.start);
    let mut text = spliced.text.clone();
    for edit in edits.iter().rev() {
        text.replace_range(edit.start..edit.end, &edit.text);
    }
    let fixes = fixes(spliced, &text);
    Some(Repaired { spliced: spliced.with_text(text), fixes })
}

/// The edits of one suggestion, if all of them may be applied.
fn edits_of(message: &Message, child: &Message, spliced: &Spliced) -> Option<Vec<Edit>> {
    let spans: Vec<&Span> = child.spans.iter().filter(|span| span.suggested_replacement.is_some()).collect();
    // Alternatives stand in one suggestion as spans of the same place.
    let alternatives = spans.windows(2).any(|pair| pair[0].byte_start == pair[1].byte_start);
    if spans.is_empty() || alternatives {
        return None;
    }
    spans.into_iter().map(|span| edit(message, span, spliced)).collect()
}

fn edit(message: &Message, span: &Span, spliced: &Spliced) -> Option<Edit> {
    let own = spliced.own_bytes();
    let (start, end) = (span.byte_start, span.byte_end);
    if span.file_name != "snippet.rs" || span.expansion.is_some() || start < own.start || end > own.end {
        return None;
    }
    let replacement = span.suggested_replacement.as_deref()?;
    let text = match span.suggestion_applicability.as_deref()? {
        "MachineApplicable" => replacement.to_owned(),
        "HasPlaceholders" => error_type(message, span, replacement, spliced)?,
        _ => {
            let mut guesses = GUESSES.iter().filter(|(code, _)| *code == message.code());
            guesses.any(|(_, texts)| texts.contains(&replacement)).then(|| replacement.to_owned())?
        }
    };
    // Lines keep their numbers.
    (!text.contains('\n') && !spliced.text[start..end].contains('\n')).then_some(Edit { start, end, text })
}

/// `Ok(…)` in an `async` block whose error type nothing determines: any error converts into `anyhow::Error`.
fn error_type(message: &Message, span: &Span, replacement: &str, spliced: &Spliced) -> Option<String> {
    let untyped = matches!(message.code(), "E0282" | "E0283") && replacement.ends_with(", E>");
    let is_ok = spliced.text[..span.byte_start].ends_with("Ok") && span.byte_start == span.byte_end;
    (untyped && is_ok).then(|| "::<_, ::anyhow::Error>".to_owned())
}

/// The snippet's own lines that differ.
fn fixes(spliced: &Spliced, repaired: &str) -> Vec<Fix> {
    let offset = spliced.own_bytes().start;
    let own = |text: &str| text[offset..].split('\n').map(str::to_owned).collect::<Vec<_>>();
    let (before, after) = (own(&spliced.text), own(repaired));
    let lines = before.into_iter().zip(after).zip(1..=spliced.lines);
    lines
        .filter(|((before, after), _)| before != after)
        .map(|((before, after), line)| Fix { line, before, after })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::repair;
    use crate::snippet::Snippet;
    use crate::splice::{Spliced, splice};

    /// A message about the first `place` in the snippet, with a suggestion to replace it.
    fn suggestion(spliced: &Spliced, code: &str, place: &str, text: &str, applicability: &str) -> String {
        let own = spliced.own_bytes();
        let start = own.start + spliced.text[own].find(place).unwrap();
        let span = json!({
            "file_name": "snippet.rs", "byte_start": start, "byte_end": start + place.len(),
            "line_start": 1, "line_end": 1, "column_start": 1, "column_end": 1, "is_primary": true,
            "label": null, "suggested_replacement": text, "suggestion_applicability": applicability,
            "expansion": null,
        });
        let message = |level: &str, spans: Value, children: Value| {
            json!({
                "message": "it is wrong", "code": { "code": code }, "level": level,
                "spans": spans, "children": children,
            })
        };
        message("error", json!([]), json!([message("help", json!([span]), json!([]))])).to_string()
    }

    fn spliced(text: &str) -> Spliced {
        splice(&Snippet::read(text).unwrap())
    }

    #[test]
    fn what_is_certain_is_applied_and_told() {
        let spliced = spliced("let n = 1;\nf(n)");
        let repaired =
            repair(&suggestion(&spliced, "E0308", "n)", "&n)", "MachineApplicable"), &spliced).unwrap();
        assert!(repaired.spliced.text.contains("\nf(&n)\n"), "{}", repaired.spliced.text);
        let fix = &repaired.fixes[0];
        assert_eq!((fix.line, fix.before.as_str(), fix.after.as_str()), (2, "f(n)", "f(&n)"));
        assert_eq!(repaired.fixes.len(), 1);
    }

    #[test]
    fn the_first_line_is_told_without_the_wrapper() {
        let spliced = spliced("f(1)");
        let messages = suggestion(&spliced, "E0308", "1", "Some(", "MaybeIncorrect");
        let fixes = repair(&messages, &spliced).unwrap().fixes;
        assert_eq!((fixes[0].before.as_str(), fixes[0].after.as_str()), ("f(1)", "f(Some()"));
    }

    #[test]
    fn a_guess_is_applied_only_from_the_list() {
        let spliced = spliced("demo::get_custmer(1)");
        for (code, text, applicability) in [
            ("E0425", "get_customer", "MaybeIncorrect"),
            ("E0425", ".await", "MaybeIncorrect"),
            ("E0308", "unwrap()", "MaybeIncorrect"),
            ("E0308", ".await", "Unspecified\n"),
            ("E0282", "::<T, E>", "HasPlaceholders"),
            ("E0308", "a\nb", "MachineApplicable"),
        ] {
            let messages = suggestion(&spliced, code, "get_custmer", text, applicability);
            let applied = repair(&messages, &spliced).is_some();
            assert_eq!(applied, applicability.starts_with("Unspecified"), "{code} {text} {applicability}");
        }
    }

    #[test]
    fn nothing_outside_the_snippet_is_touched() {
        let spliced = spliced("1");
        let messages = suggestion(&spliced, "E0308", "1", "2", "MachineApplicable");
        let moved = messages.replace(
            &format!("\"byte_start\":{}", spliced.own_bytes().start),
            &format!("\"byte_start\":{}", spliced.own_bytes().start - 1),
        );
        assert_ne!(messages, moved);
        assert!(repair(&messages, &spliced).is_some());
        assert!(repair(&moved, &spliced).is_none());
    }
}
