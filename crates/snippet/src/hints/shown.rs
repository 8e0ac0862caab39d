//! Formats names, lists and signatures for hints, within length limits.

use super::lookup::Found;
use super::signature::without_remarks;

/// Maximum number of names in a list, and of the values of an enumeration.
const NAMES_KEPT: usize = 16;
const VALUES_KEPT: usize = 40;
/// Maximum number of characters of a name or literal of the snippet.
pub(super) const NAME_SHOWN: usize = 60;

/// The part of a signature that is shown.
#[derive(Clone, Copy)]
enum Detail {
    /// Everything except the description.
    Full,
    /// Without comments.
    Bare,
    /// The call, and the type that the advice is about.
    Focus,
    /// The call only.
    Call,
}

/// The signatures of `tools` with their modules, in as much detail as fits into `limit` characters.
pub(super) fn signatures(tools: &[Found<'_>], focus: &str, limit: usize) -> String {
    let mut shown = String::new();
    for detail in [Detail::Full, Detail::Bare, Detail::Focus, Detail::Call] {
        shown = tools.iter().map(|found| signature(found, detail, focus)).collect::<Vec<_>>().join("\n");
        if shown.chars().count() <= limit {
            break;
        }
    }
    cut(&shown, limit)
}

fn signature(found: &Found<'_>, detail: Detail, focus: &str) -> String {
    let module = found.module.name();
    let signature = found.signature();
    let lines = signature.lines().filter(|line| !line.trim_start().starts_with("///"));
    let shown = lines.filter_map(|line| {
        let is_call = is_call(line, found);
        let is_focus = !focus.is_empty() && line.trim_start_matches("enum ").starts_with(focus);
        let is_shown = match detail {
            Detail::Full | Detail::Bare => true,
            Detail::Focus => is_call || is_focus,
            Detail::Call => is_call,
        };
        let line = match detail {
            Detail::Full => line.to_owned(),
            _ => without_remarks(line),
        };
        let line = if is_call { format!("{module}::{line}") } else { line };
        is_shown.then_some(line)
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Whether a line of a signature shows how to call the tool: its function or its input struct.
fn is_call(line: &str, found: &Found<'_>) -> bool {
    let line = without_remarks(line);
    let by_function = line.strip_prefix(found.tool.function);
    let by_input = line.strip_prefix(found.tool.prefix).and_then(|rest| rest.strip_prefix("Input"));
    by_function.is_some_and(|rest| rest.starts_with('('))
        || by_input.is_some_and(|rest| rest.starts_with([' ', '{']) || rest.is_empty())
}

/// Truncates `text` to `limit` characters.
pub(super) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
            format!("{}…", kept.trim_end())
        }
    }
}

/// A name of the snippet in backticks.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", cut(name, NAME_SHOWN))
}

/// Names in backticks: `a`, `b` and `c`, or with the number of further names.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    listed(names, last, NAMES_KEPT)
}

/// Like [`list`], for the values of an enumeration.
pub(super) fn all<'a>(names: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    listed(names, last, VALUES_KEPT)
}

fn listed<'a>(names: impl IntoIterator<Item = &'a str>, last: &str, most: usize) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let mut shown: Vec<String> = names.iter().take(most).map(|name| quoted(name)).collect();
    match (names.len().saturating_sub(most), shown.pop()) {
        (_, None) => String::new(),
        (0, Some(only)) if shown.is_empty() => only,
        (0, Some(end)) => format!("{} {last} {end}", shown.join(", ")),
        (more, Some(end)) => format!("{}, {end} and {more} more", shown.join(", ")),
    }
}

/// A question that suggests `near`; empty if there are no suggestions.
pub(super) fn did_you_mean<'a>(near: impl IntoIterator<Item = &'a str>) -> String {
    let near = list(near, "or");
    if near.is_empty() { near } else { format!("; did you mean {near}?") }
}

#[cfg(test)]
mod tests {
    use super::{cut, did_you_mean, list};

    #[test]
    fn lists_are_bounded() {
        assert_eq!(list([], "and"), "");
        assert_eq!(list(["a"], "and"), "`a`");
        assert_eq!(list(["a", "b", "c"], "or"), "`a`, `b` or `c`");
        let many: Vec<String> = (0..40).map(|number| format!("tool_{number}")).collect();
        let shown = list(many.iter().map(String::as_str), "and");
        assert!(shown.ends_with("`tool_15` and 24 more"), "{shown}");
        assert_eq!(did_you_mean([]), "");
        assert_eq!(did_you_mean(["a", "b"]), "; did you mean `a` or `b`?");
        assert_eq!((cut("größe", 5).as_str(), cut("größen", 5).as_str()), ("größe", "größ…"));
    }
}
