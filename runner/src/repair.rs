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
    /// The snippet's text with the corrections.
    pub(crate) text: String,
    /// The lines that were changed.
    pub(crate) fixes: Vec<Fix>,
    /// Whether the last expression must be turned into JSON where it is.
    pub(crate) tail_in_place: bool,
}

/// A replacement of bytes in the snippet's text.
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

/// Errors of values that outlive what they borrow from.
const BORROWED: [&str; 3] = ["E0515", "E0597", "E0716"];

/// The `text` of a snippet with what the compiler's `messages` about it, as spliced, suggest; `None` where nothing is
/// to be done.
pub(crate) fn repair(messages: &str, text: &str, spliced: &Spliced) -> Option<Repaired> {
    let own = Own { text, offset: spliced.offset as usize };
    let mut edits: Vec<Edit> = Vec::new();
    let mut tail_in_place = false;
    for message in errors(messages) {
        tail_in_place |= BORROWED.contains(&message.code());
        let suggested = message.children.iter().find_map(|child| own.edits(&message, child));
        for edit in suggested.into_iter().flatten() {
            // Of two suggestions for one place the first is taken: often both are the same.
            if edits.iter().all(|other| edit.end < other.start || other.end < edit.start) {
                edits.push(edit);
            }
        }
    }
    if edits.is_empty() && !tail_in_place {
        return None;
    }
    edits.sort_by_key(|edit| edit.start);
    let mut repaired = text.to_owned();
    for edit in edits.iter().rev() {
        repaired.replace_range(edit.start..edit.end, &edit.text);
    }
    let fixes = fixes(text, &repaired);
    Some(Repaired { text: repaired, fixes, tail_in_place })
}

/// A snippet's own text, and the bytes before it in the file that the compiler read.
struct Own<'a> {
    text: &'a str,
    offset: usize,
}

impl Own<'_> {
    /// The edits of one suggestion, if all of them may be applied.
    fn edits(&self, message: &Message, child: &Message) -> Option<Vec<Edit>> {
        let suggested = child.spans.iter().filter(|span| span.suggested_replacement.is_some());
        let spans: Vec<&Span> = suggested.collect();
        // Alternatives stand in one suggestion as spans of the same place.
        let alternatives = spans.windows(2).any(|pair| pair[0].byte_start == pair[1].byte_start);
        if spans.is_empty() || alternatives {
            return None;
        }
        spans.into_iter().map(|span| self.edit(message, span)).collect()
    }

    fn edit(&self, message: &Message, span: &Span) -> Option<Edit> {
        let start = span.byte_start.checked_sub(self.offset)?;
        let end = span.byte_end.checked_sub(self.offset)?;
        let before = self.text.get(start..end)?;
        if span.file_name != "snippet.rs" || span.expansion.is_some() {
            return None;
        }
        let replacement = span.suggested_replacement.as_deref()?;
        let text = match span.suggestion_applicability.as_deref()? {
            "MachineApplicable" => replacement.to_owned(),
            "HasPlaceholders" if before.is_empty() => self.error_type(message, start, replacement)?,
            _ => {
                let mut guesses = GUESSES.iter().filter(|(code, _)| *code == message.code());
                guesses.any(|(_, texts)| texts.contains(&replacement)).then(|| replacement.to_owned())?
            }
        };
        // Lines keep their numbers.
        (!text.contains('\n') && !before.contains('\n')).then_some(Edit { start, end, text })
    }

    /// `Ok(…)` in an `async` block whose error type nothing determines: any error converts into `anyhow::Error`.
    fn error_type(&self, message: &Message, start: usize, replacement: &str) -> Option<String> {
        let untyped = matches!(message.code(), "E0282" | "E0283") && replacement.ends_with(", E>");
        (untyped && self.text[..start].ends_with("Ok")).then(|| "::<_, ::anyhow::Error>".to_owned())
    }
}

/// The lines that differ.
fn fixes(before: &str, after: &str) -> Vec<Fix> {
    let lines = before.split('\n').zip(after.split('\n')).zip(1..);
    lines
        .filter(|((before, after), _)| before != after)
        .map(|((before, after), line)| Fix { line, before: before.to_owned(), after: after.to_owned() })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Repaired, repair};
    use crate::snippet::Snippet;
    use crate::splice::splice;

    /// What is made of `text` with a suggestion to replace the first `place` in it.
    fn repaired(text: &str, code: &str, place: &str, new: &str, applicability: &str) -> Option<Repaired> {
        let start = text.find(place).unwrap();
        repaired_at(text, code, start..start + place.len(), new, applicability, 0)
    }

    fn repaired_at(
        text: &str,
        code: &str,
        place: std::ops::Range<usize>,
        new: &str,
        applicability: &str,
        back: usize,
    ) -> Option<Repaired> {
        let spliced = splice(&Snippet::read(text).unwrap(), false);
        let offset = spliced.offset as usize - back;
        let span = json!({
            "file_name": "snippet.rs", "byte_start": offset + place.start, "byte_end": offset + place.end,
            "line_start": 1, "line_end": 1, "column_start": 1, "column_end": 1, "is_primary": true,
            "label": null, "suggested_replacement": new, "suggestion_applicability": applicability,
            "expansion": null,
        });
        let message = |level: &str, spans: Value, children: Value| {
            json!({
                "message": "it is wrong", "code": { "code": code }, "level": level,
                "spans": spans, "children": children,
            })
        };
        let help = message("help", json!([span]), json!([]));
        repair(&message("error", json!([]), json!([help])).to_string(), text, &spliced)
    }

    #[test]
    fn what_is_certain_is_applied_and_told() {
        let repaired = repaired("let n = 1;\nf(n)", "E0308", "n)", "&n)", "MachineApplicable").unwrap();
        assert_eq!(repaired.text, "let n = 1;\nf(&n)");
        let fix = &repaired.fixes[0];
        assert_eq!((fix.line, fix.before.as_str(), fix.after.as_str()), (2, "f(n)", "f(&n)"));
        assert_eq!((repaired.fixes.len(), repaired.tail_in_place), (1, false));
    }

    #[test]
    fn a_guess_is_applied_only_from_the_list() {
        let text = "demo::get_custmer(1)";
        for (code, place, new, applicability) in [
            ("E0425", "get_custmer", "get_customer", "MaybeIncorrect"),
            ("E0425", "get_custmer", ".await", "MaybeIncorrect"),
            ("E0308", "get_custmer", "unwrap()", "MaybeIncorrect"),
            ("E0282", "get_custmer", "::<T, E>", "HasPlaceholders"),
            ("E0308", "get_custmer", "a\nb", "MachineApplicable"),
        ] {
            assert!(repaired(text, code, place, new, applicability).is_none(), "{code} {new}");
        }
        assert!(repaired(text, "E0308", "1", "Some(", "MaybeIncorrect").is_some());
    }

    #[test]
    fn an_ok_gets_an_error_type() {
        let repaired = repaired_at("Ok(1)", "E0282", 2..2, "::<i32, E>", "HasPlaceholders", 0).unwrap();
        assert_eq!(repaired.text, "Ok::<_, ::anyhow::Error>(1)");
    }

    #[test]
    fn nothing_outside_the_snippet_is_touched() {
        assert!(repaired_at("1", "E0308", 0..1, "2", "MachineApplicable", 0).is_some());
        assert!(repaired_at("1", "E0308", 0..1, "2", "MachineApplicable", 1).is_none());
        assert!(repaired_at("1", "E0308", 0..9, "2", "MachineApplicable", 0).is_none());
    }

    #[test]
    fn a_tail_that_borrows_is_taken_where_it_is() {
        let repaired = repaired("a.trim()", "E0597", "a", "b", "Unspecified").unwrap();
        assert_eq!((repaired.text.as_str(), repaired.tail_in_place), ("a.trim()", true));
    }
}
