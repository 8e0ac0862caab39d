//! Advice on mistakes with the tools' API: one line, and the correct signatures.
//!
//! The compiler knows only what was compiled for the snippet, and not how tools should be called; the catalog knows
//! every tool. Advice is never applied: [`crate::repair`] decides what is corrected.

mod advice;
pub(crate) mod arguments;
mod changes;
pub(crate) mod compared;
mod content;
mod enums;
pub(crate) mod imports;
pub(crate) mod literal;
pub(crate) mod lookup;
mod members;
mod names;
pub(crate) mod nearest;
mod not_futures;
mod serialised;
mod shown;
pub(crate) mod signature;
mod slip;
pub(crate) mod unmade;
pub(crate) mod values;

use std::collections::BTreeSet;

use crate::catalog::Catalog;
use crate::lexical::is_of_word;
use crate::messages::{Message, Source};
use crate::tokens::Tokens;
use advice::Advice;
use lookup::{Found, Lookup};
pub(crate) use slip::Slip;

/// Maximum number of characters of a hint, and of the advice in it.
const HINT_LIMIT: usize = 1_500;
const ADVICE_LIMIT: usize = 400;
/// Maximum number of signatures in a hint.
const SIGNATURES_KEPT: usize = 3;

/// Writes hints for the messages about one snippet.
pub(crate) struct Hints<'a> {
    source: Source<'a>,
    tokens: Tokens<'a>,
    lookup: Lookup<'a>,
    /// The tools whose signatures have been shown.
    shown: BTreeSet<(String, String)>,
}

impl<'a> Hints<'a> {
    pub(crate) fn new(source: Source<'a>, catalog: &'a dyn Catalog) -> Self {
        let tokens = Tokens::read(source.text);
        let lookup = Lookup::new(catalog, &tokens);
        Hints { source, tokens, lookup, shown: BTreeSet::new() }
    }

    /// Advice on `message`, and the signatures of the tools it is about or that its statement names, unless an earlier
    /// hint showed them.
    pub(crate) fn hint(&mut self, message: &Message) -> Option<String> {
        let slip = Slip::new(message, self.source, &self.tokens, &self.lookup);
        let advice = content::advice(&slip)
            .or_else(|| names::advice(&slip))
            .or_else(|| members::advice(&slip))
            .or_else(|| changes::advice(&slip))
            .or_else(|| not_futures::advice(&slip))
            .or_else(|| values::advice(&slip))
            .or_else(|| serialised::advice(&slip));
        let advice = advice.unwrap_or_else(|| Advice::new(""));
        let mut keys = BTreeSet::new();
        let mut tools: Vec<Found<'_>> = advice.tools;
        tools.extend(mentioned(&slip));
        tools.extend(slip.nearby());
        tools.retain(|found| keys.insert(found.key()));
        tools.truncate(SIGNATURES_KEPT);
        let key = |found: &Found<'_>| (found.key().0.to_owned(), found.key().1.to_owned());
        tools.retain(|found| !self.shown.contains(&key(found)));
        self.shown.extend(tools.iter().map(key));
        // It may quote any text from the snippet.
        let line = advice.line.replace(char::is_control, " ");
        let line = shown::cut(&line, ADVICE_LIMIT);
        let block = shown::signatures(&tools, &advice.focus, HINT_LIMIT - ADVICE_LIMIT);
        match (line.is_empty(), block.is_empty()) {
            (true, true) => None,
            (false, true) => Some(line),
            (true, false) => Some(block),
            (false, false) => Some(format!("{line}\n{block}")),
        }
    }
}

/// The hint for a call of `found` that is never made.
pub(crate) fn unmade_call(found: Found<'_>) -> String {
    let line = format!(
        "a call must be awaited: `{}(…).await?`; if that is not possible, iterate over the items with `for`, or with \
         `concurrently(8, items, |item| async move {{ … }}).await?`",
        found.path()
    );
    format!("{line}\n{}", shown::signatures(&[found], "", HINT_LIMIT - ADVICE_LIMIT))
}

/// The tools whose types a message names.
fn mentioned<'a>(slip: &Slip<'a>) -> Vec<Found<'a>> {
    let label = slip.message.label();
    let texts = slip.message.quoted().into_iter().chain(crate::messages::quoted(label));
    let names = texts.flat_map(|text| text.split(|c| !is_of_word(c)));
    let types: BTreeSet<&str> = names.filter(|name| name.starts_with(char::is_uppercase)).collect();
    types.into_iter().filter_map(|name| slip.lookup.owners(name).into_iter().next()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{HINT_LIMIT, Hints};
    use crate::fixtures::Servers;
    use crate::messages::{Source, errors};
    use crate::tokens::Tokens;

    const CODES: [&str; 28] = [
        "E0223", "E0532", "E0026", "E0061", "E0063", "E0271", "E0277", "E0282", "E0308", "E0369", "E0405",
        "E0412", "E0422", "E0423", "E0425", "E0432", "E0433", "E0531", "E0560", "E0574", "E0599", "E0608",
        "E0609", "E0615", "E0616", "E0624", "E0728", "E9999",
    ];

    fn error(code: &str, message: &str, start: usize, end: usize) -> Value {
        json!({
            "message": message, "code": { "code": code }, "level": "error", "children": [],
            "spans": [{
                "file_name": "snippet.rs", "byte_start": start, "byte_end": end, "line_start": 1, "line_end": 1,
                "column_start": 1, "column_end": 2, "is_primary": true, "label": message,
                "suggested_replacement": null, "suggestion_applicability": null, "expansion": null,
            }],
        })
    }

    fn hint(text: &str, error: &Value) -> Option<String> {
        let catalog = Servers::default();
        let json = error.to_string();
        let message = errors(&json).next().unwrap();
        Hints::new(Source { text, offset: 3, inserted: &[] }, &catalog).hint(&message)
    }

    /// Hints are bounded for any compiler message about any text, and one line long if there are no tools.
    #[test]
    fn odd_messages_are_handled() {
        let long = format!("expected `{0}`, found `{0}` `{0}`", "Größe<'a, &mut [i32; 3]>::".repeat(60));
        let texts =
            ["", "}", "größe.x(\"\u{1b}\n\", ((a, b), [c = 1]))", "a::b::c { d: 1, ..e }.f()?;\nlet x"];
        let messages = [
            "",
            "`",
            "```",
            "`a` `Vec<` `Result<`",
            "expected `()`, found `&'a ",
            "`crate` `a::` `::`",
            &long,
        ];
        for text in texts {
            for message in messages {
                for (start, end) in [(0, 1), (3, 3 + text.len()), (9, 4)] {
                    for code in CODES {
                        let hint = hint(text, &error(code, message, start, end)).unwrap_or_default();
                        assert!(
                            hint.chars().count() <= HINT_LIMIT && !hint.contains(char::is_control),
                            "{hint:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn advice_without_tools() {
        let text = "reqwest::get(1)";
        let unknown = error("E0433", "cannot find module or crate `reqwest` in this scope", 3, 10);
        assert!(hint(text, &unknown).unwrap().contains("crates are available: std, anyhow"));
        // The message of compilers before 1.91.
        let unknown =
            error("E0433", "failed to resolve: use of unresolved module or unlinked crate `reqwest`", 3, 10);
        assert!(hint(text, &unknown).unwrap().contains("crates are available: std, anyhow"));
        let text = "enum Other { A }\nContent::Text(a)";
        let (at, end) = (3 + text.find("Text").unwrap(), 3 + text.find('(').unwrap());
        let variant =
            "no associated item named `Text` found for struct `bridge::Content` in the current scope";
        assert!(
            hint(text, &error("E0599", variant, at, end))
                .unwrap()
                .contains("`if let Some(text) = part.as_text()`")
        );
        // The snippet's own type.
        assert_eq!(hint(&text.replace("Other", "Content"), &error("E0599", variant, at, end)), None);
        let unserialised =
            error("E0277", "the trait bound `&Vec<Other>: serde::Serialize` is not satisfied", 3, 4);
        assert!(hint(text, &unserialised).unwrap().contains("`Vec<Other>` can't be serialized: write"));
        let unserialised = error("E0277", "the snippet's result `Other` cannot be turned into JSON", 3, 4);
        assert!(
            hint(text, &unserialised).unwrap().contains("write `#[derive(Serialize)]` before `enum Other`")
        );
        let other = error("E0277", "the trait bound `Other: std::error::Error` is not satisfied", 3, 4);
        assert_eq!(hint(text, &other), None);
        assert_eq!(hint("a + 1", &error("E0369", "cannot add `i32` to `bool`", 3, 8)), None);
        assert_eq!(Tokens::read("a +").len(), 2);
    }
}
