//! Shortens the signatures that `codegen` writes, step by step.
//!
//! A signature is the description as a comment, the call in one or two lines, and a line for each type. Remarks are
//! between `/*` and `*/`, which no text of a server can contain.

/// The part of a signature that is shown, from all of it to the minimum for writing a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Detail {
    /// Everything.
    Whole,
    /// The description cut to about one sentence.
    Brief,
    /// Also without remarks on parameters and fields.
    Bare,
    /// Calls and types, without any text of the server.
    Types,
    /// Only the call.
    Call,
}

impl Detail {
    /// All variants, longest to shortest.
    pub(super) const ALL: [Detail; 5] =
        [Detail::Whole, Detail::Brief, Detail::Bare, Detail::Types, Detail::Call];
}

/// Maximum characters of a shortened description.
const BRIEF: usize = 90;

/// A signature in the given detail.
pub(super) fn shortened(signature: &str, detail: Detail) -> String {
    if detail == Detail::Whole {
        return signature.to_owned();
    }
    let (description, code) = parts(signature);
    let description =
        description.filter(|_| detail <= Detail::Bare).map(|text| format!("/// {}", brief(text)));
    let code = code.lines().enumerate().filter(|(number, line)| match detail {
        Detail::Call => *number == 0 || is_second_call(code, *number, line),
        _ => true,
    });
    let code =
        code.map(|(_, line)| if detail == Detail::Brief { line.to_owned() } else { without_remarks(line) });
    description.into_iter().chain(code).collect::<Vec<_>>().join("\n")
}

/// The names of the parameters; and separately the code with its types and remarks.
pub(super) fn parameters(signature: &str) -> (String, String) {
    let (_, code) = parts(signature);
    let call = without_remarks(code.lines().next().unwrap_or_default());
    let list = call.split_once(['(', '{']).map_or("", |(_, list)| list);
    let list = list.rsplit_once(" -> ").map_or(list, |(list, _)| list);
    let names = list.split(',').filter_map(|piece| piece.split_once(':')).map(|(name, _)| name);
    (names.collect::<Vec<_>>().join(" "), code.to_owned())
}

/// The description without its comment marker, and the lines after it.
fn parts(signature: &str) -> (Option<&str>, &str) {
    match signature.strip_prefix("/// ") {
        Some(rest) => {
            let (description, code) = rest.split_once('\n').unwrap_or((rest, ""));
            (Some(description), code)
        }
        None => (None, signature),
    }
}

/// Whether this line is the short form after a call with named fields.
fn is_second_call(code: &str, number: usize, line: &str) -> bool {
    number == 1
        && code.lines().next().is_some_and(|first| first.contains(" }.call() "))
        && line.ends_with(')')
}

/// The first sentence if it is short enough, otherwise as many words as fit.
fn brief(description: &str) -> String {
    let end = description.find(". ").map_or(description.len(), |end| end + 1);
    let sentence = description.get(..end).unwrap_or(description);
    codegen::clean(sentence, BRIEF)
}

/// The line without remarks, except for the names that servers use.
fn without_remarks(line: &str) -> String {
    let mut left = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once(" /*") {
        left.push_str(before);
        let (remark, behind) = behind.split_once("*/").unwrap_or((behind, ""));
        // The name in JSON, or the tool's own.
        if behind.starts_with([':', '?', '(']) {
            left.push_str(&format!(" /*{remark}*/"));
        }
        rest = behind;
    }
    left.push_str(rest);
    left
}

#[cfg(test)]
mod tests {
    use super::{Detail, parameters, shortened};

    const SEARCH: &str = "/// Search files. Patterns are glob-style, and match paths.\n\
        SearchInput { path: String /* Where, to begin; with */, pattern: String, depth: Option<i64> }.call() -> SearchOutput\n\
        search(path, pattern)\n\
        SearchOutput { content: String /* the lines */, more: BTreeMap<String, Value> }";

    #[test]
    fn a_signature_is_shortened_step_by_step() {
        let short = Detail::ALL.map(|detail| shortened(SEARCH, detail));
        assert_eq!(short[0], SEARCH);
        assert!(
            short[1].starts_with("/// Search files.\nSearchInput { path: String /* Where"),
            "{}",
            short[1]
        );
        assert!(
            short[2].starts_with("/// Search files.\nSearchInput { path: String, pattern: String,"),
            "{}",
            short[2]
        );
        assert!(
            short[3].ends_with("SearchOutput { content: String, more: BTreeMap<String, Value> }"),
            "{}",
            short[3]
        );
        assert_eq!(
            short[4],
            "SearchInput { path: String, pattern: String, depth: Option<i64> }.call() -> SearchOutput\nsearch(path, pattern)"
        );
        assert!(short.windows(2).all(|pair| pair[0].len() > pair[1].len()));
        assert_eq!(
            shortened("fail(message?: String) -> ToolResult", Detail::Call),
            "fail(message?: String) -> ToolResult"
        );
        assert_eq!(shortened("get(id: i64) -> Got\nGot { id: i64 }", Detail::Call), "get(id: i64) -> Got");
    }

    #[test]
    fn parameters_are_read_from_a_signature() {
        assert_eq!(parameters(SEARCH).0.split_whitespace().collect::<Vec<_>>(), ["path", "pattern", "depth"]);
        let one =
            "list(cursor?: String /* a: b, c */, by?: BTreeMap<String, i64>) -> Page\nPage { next: i64 }";
        assert_eq!(parameters(one).0, "cursor?  by?");
        assert_eq!(parameters("now() -> ToolResult").0, "");
        assert_eq!(parameters(""), (String::new(), String::new()));
    }
}
