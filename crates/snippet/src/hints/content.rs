//! Advice on content blocks: `Content` is read with methods; it is not an enum to match on.

use super::advice::Advice;
use super::slip::Slip;
use crate::messages::mismatch;

/// Names that the protocol and other libraries use for a content block or its variants.
const OTHER_NAMES: [&str; 4] = ["ContentBlock", "ImageContent", "RawContent", "TextContent"];

pub(super) fn advice<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    if slip.tokens.definition("Content").is_some() {
        return None;
    }
    let in_pattern = match slip.message.code() {
        // `Content::Text { … }` and `Content(…)`.
        "E0223" | "E0532" if is_path(slip.name) => true,
        "E0412" | "E0422" | "E0433" | "E0531" if is_other_name(slip) => true,
        "E0026" if is_named(slip) => true,
        // `Content::Text(…)`: a lower-case name is a method.
        "E0599" | "E0608" | "E0609" | "E0615" | "E0616" if is_named(slip) => {
            slip.name.starts_with(char::is_uppercase)
        }
        "E0308" if is_mismatched(slip) => false,
        _ => return None,
    };
    if in_pattern {
        return Some(Advice::new(
            "a content block is a struct with methods, not an enum: write `if let Some(text) = part.as_text()`, or \
                 `match part.kind() { \"text\" => …, \"image\" => …, _ => … }` with `.data()` and `.mime_type()`",
        ));
    }
    Some(Advice::new("a content block has `.as_text()`, `.data()`, `.mime_type()` and `.kind()`"))
}

fn is_content(name: &str) -> bool {
    name.trim_start_matches('&').rsplit("::").next() == Some("Content")
}

/// Whether a path is or starts with `Content`, in any module.
fn is_path(path: &str) -> bool {
    path.split("::").map(str::trim).any(|part| part == "Content")
}

fn is_named(slip: &Slip<'_>) -> bool {
    slip.message.quoted().into_iter().any(is_content)
}

/// A name of a content block that neither the snippet nor a server defines.
fn is_other_name(slip: &Slip<'_>) -> bool {
    let quoted = slip.message.quoted();
    quoted.first().is_some_and(|name| OTHER_NAMES.contains(name) && slip.lookup.owners(name).is_empty())
}

/// A content block where a string is expected, or the reverse.
fn is_mismatched(slip: &Slip<'_>) -> bool {
    let is_text = |name: &str| matches!(name.trim_start_matches('&'), "str" | "String");
    let types = mismatch(slip.message.label());
    types.is_some_and(|(expected, found)| {
        is_content(expected) && is_text(found) || is_text(expected) && is_content(found)
    })
}
