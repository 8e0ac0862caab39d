//! Other ways to take a snippet's last value, if the compiler does not know its type in time or says that it has none.

use crate::messages::{Message, Source, errors};
use crate::snippet::{Ending, Shape, Snippet};
use crate::splice::{Finish, Spliced};

/// Errors about types that are not known where they are needed.
const UNDETERMINED: [&str; 4] = ["E0271", "E0282", "E0283", "E0284"];

/// The variants to try after the compiler's `messages` about `snippet`, as spliced; empty if they are about anything
/// else.
pub(crate) fn others(messages: &str, snippet: &Snippet, spliced: &Spliced) -> Vec<Finish> {
    let Shape::Statements(ending) = snippet.shape else { return Vec::new() };
    let source = Source::new(&snippet.text, spliced);
    let is_wrapper =
        |message: &Message| message.primary().is_none_or(|span| source.use_range(span).is_none());
    let is_of_tail = |message: &Message| {
        let range = message.primary().and_then(|span| source.use_range(span));
        let tail = snippet.tail.as_ref().zip(range);
        is_wrapper(message)
            || tail.is_some_and(|(tail, range)| tail.start <= range.start && range.end <= tail.end)
    };
    let mut diverges = false;
    let mut undetermined = false;
    for message in errors(messages) {
        let code = message.code();
        diverges |= message.message.starts_with("the snippet's result `!`");
        // The first way of taking a value reports an open type like this.
        undetermined |= message.message.contains("&Result<_, _>");
        undetermined |= UNDETERMINED.contains(&code) && (code == "E0271" || is_of_tail(&message));
    }
    // The end may still be unreachable, after a function or macro that never returns. A compiler that was stopped has
    // reported nothing, and would be stopped again.
    diverges |= errors(messages).next().is_some()
        && errors(messages).all(|message| {
            message.code() == "E0308" && (is_of_tail(&message) || !is_of_statement(&message, source))
        });
    let (Ending::Value { returns, .. } | Ending::Fails { returns } | Ending::Unit { returns }) = ending
    else {
        return Vec::new();
    };
    // What a macro returns is not visible in the text.
    let never = [returns, !returns].map(|returns| Finish::Diverges { returns });
    match ending {
        Ending::Value { .. } | Ending::Fails { .. } if undetermined => {
            [&[Finish::Once, Finish::Plain][..], &never].concat()
        }
        _ if diverges => never.to_vec(),
        _ => Vec::new(),
    }
}

/// Whether a message is about a position in the text that is not from a macro.
fn is_of_statement(message: &Message, source: Source<'_>) -> bool {
    message.primary().is_some_and(|span| {
        span.expansion.as_ref().is_none_or(|from| from.is_of_compiler()) && source.range(span).is_some()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::others;
    use crate::snippet::Snippet;
    use crate::splice::{Changes, Finish, splice};

    /// The variants after an error at `place` in `f(x);\ny`; `is_of_macro` if the code there is in a macro's definition.
    fn after(code: &str, message: &str, place: &str, is_of_macro: bool) -> Vec<Finish> {
        let snippet = Snippet::read("f(x);\ny").unwrap();
        let spliced = splice(&snippet, &Changes::default(), &[]);
        let start = snippet.text.find(place).unwrap() + spliced.offset as usize;
        let span = |expansion: Value| {
            json!({
                "file_name": "snippet.rs", "byte_start": start, "byte_end": start + place.len(), "line_start": 1,
                "line_end": 1, "column_start": 1, "column_end": 1, "is_primary": true, "expansion": expansion,
            })
        };
        let used = json!({ "span": span(Value::Null), "macro_decl_name": "m!" });
        let error = json!({
            "message": message, "code": { "code": code }, "level": "error", "children": [],
            "spans": [span(if is_of_macro { used } else { Value::Null })],
        });
        others(&error.to_string(), &snippet, &spliced)
    }

    #[test]
    fn a_value_is_taken_in_other_ways_if_its_type_is_not_known_in_time() {
        for (code, message, place, is) in [
            ("E0282", "type annotations needed", "y", true),
            ("E0282", "type annotations needed", "x", false),
            ("E0271", "type mismatch", "x", true),
            ("E0277", "no method for `&Result<_, _>`", "x", true),
            ("E0277", "no method for `&Result<i32, _>`", "y", false),
        ] {
            let found = after(code, message, place, false);
            assert_eq!(found.starts_with(&[Finish::Once, Finish::Plain]), is, "{code} {message} {place}");
            assert_eq!(found.is_empty(), !is, "{code} {message} {place}");
        }
    }

    #[test]
    fn a_snippet_may_not_return_if_its_last_value_does_not_fit() {
        for (code, message, place, is_of_macro, is) in [
            ("E0277", "the snippet's result `!` cannot be turned into JSON", "y", false, true),
            ("E0277", "the snippet's result `Rc<i32>` cannot be turned into JSON", "y", false, false),
            ("E0308", "mismatched types", "y", false, true),
            ("E0308", "mismatched types", "x", false, false),
            ("E0308", "mismatched types", "x", true, true),
        ] {
            let found = after(code, message, place, is_of_macro);
            assert_eq!(
                (found.len(), found.iter().all(|finish| matches!(finish, Finish::Diverges { .. }))),
                (if is { 2 } else { 0 }, true),
                "{message} {place}"
            );
        }
    }
}
