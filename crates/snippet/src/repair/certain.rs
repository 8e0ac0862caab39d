//! Conditions on the surrounding code under which a correction has only one meaning.
//!
//! They are decided from the tokens; in doubt, the answer is no and the compiler's message is returned.

use std::ops::Range;

use crate::hints::Slip;
use crate::hints::lookup::Known;
use crate::hints::signature::parts;
use crate::messages::{Message, mismatch};
use crate::tokens::{Kind, Tokens};

use super::mutability::{changing, shares_changes};
use super::origins::{Origin, Origins};
use super::{capture, order, parts as changes};

/// Methods called for their effect: their return value may be dropped.
const EFFECTS: [&str; 21] = [
    "entry",
    "fetch_add",
    "fetch_and",
    "fetch_max",
    "fetch_min",
    "fetch_or",
    "fetch_sub",
    "insert",
    "or_default",
    "or_insert",
    "or_insert_with",
    "pop",
    "pop_back",
    "pop_first",
    "pop_front",
    "pop_last",
    "remove",
    "remove_entry",
    "replace",
    "swap_remove",
    "truncate",
];

/// Words that start an expression that takes no suffix.
const BLOCKS: [&str; 9] = ["async", "break", "for", "if", "loop", "match", "return", "unsafe", "while"];

/// Whether the byte `at` is in the value of a `let mut`: what is inserted there is meant to be changed.
pub(super) fn is_for_changing(slip: &Slip<'_>, at: usize) -> bool {
    let tokens = slip.tokens;
    let mut index = tokens.at(at);
    loop {
        let statement = tokens.statement(index);
        if tokens.word(statement.start) == "let" && tokens.word(statement.start + 1) == "mut" {
            return true;
        }
        match tokens.enclosing(statement.start) {
            Some(open) => index = open,
            None => return false,
        }
    }
}

/// Whether a copy of the value whose expression ends at byte `end` is as good as the value itself: neither changes
/// later, and they can't be distinguished.
pub(super) fn is_snapshot(slip: &Slip<'_>, origins: &Origins, end: usize) -> bool {
    let tokens = slip.tokens;
    let Some(kind) = copied(slip) else { return false };
    let root = root(tokens, tokens.at(end.saturating_sub(1)));
    let name = tokens.word(root);
    // A parameter, pattern or variable declared `mut` may take the copy and change it.
    let is_safe = |index: usize| match origins.of(tokens.range(index).start) {
        Some(Origin::New | Origin::Unknown) => true,
        Some(Origin::Container) => is_text(kind),
        Some(Origin::Copy) | None => false,
    };
    let mut declared = changing(tokens);
    !name.is_empty()
        && is_plain(slip, kind)
        && !shares_changes(tokens)
        && declared.all(|index| tokens.word(index) != name && is_safe(index))
        && !is_for_changing(slip, end.saturating_sub(1))
        && (is_text(kind) || (is_kept(tokens, root) && !changes::any_change(tokens)))
}

/// Whether the value behind a reference, as the message expects it, may be copied: a number or text, or one that nothing
/// changes.
pub(super) fn is_read(slip: &Slip<'_>, at: usize) -> bool {
    let expected = mismatch(slip.message.label()).map_or("", |(expected, _)| expected);
    !is_for_changing(slip, at) && (is_text(expected) || !changes::any_change(slip.tokens))
}

/// The type of the value that a message says can't be moved, or is expected instead of a reference.
fn copied<'a>(slip: &Slip<'a>) -> Option<&'a str> {
    if slip.message.code() == "E0308" {
        return mismatch(slip.message.label()).map(|(expected, _)| expected);
    }
    let label = slip.labelled("has type")?.label.as_deref()?;
    let (_, kind) = label.split_once("has type `")?;
    kind.split('`').next()
}

/// The first token of the place or call that ends with the token `last`: `a` of `a.b[0].c()`.
fn root(tokens: &Tokens<'_>, last: usize) -> usize {
    let mut index = last;
    loop {
        if let Some(Kind::Close('(' | '[')) = tokens.kind(index) {
            match tokens.open(index).and_then(|open| open.checked_sub(1)) {
                Some(before) => index = before,
                None => return index,
            }
            continue;
        }
        match index.checked_sub(2) {
            Some(owner) if tokens.is_sign(index - 1, '.') => index = owner,
            _ => return index,
        }
    }
}

/// Whether a copy that starts at the token `root` is only read afterwards: assigned to a variable, put into a literal,
/// or passed to a function.
fn is_kept(tokens: &Tokens<'_>, root: usize) -> bool {
    let statement = tokens.statement(root);
    if tokens.word(statement.start) == "let" && tokens.is_sign(root.saturating_sub(1), '=') {
        return true;
    }
    let Some(open) = tokens.enclosing(root) else { return false };
    let callee = open.checked_sub(1).unwrap_or(usize::MAX);
    let is_method = tokens.is_sign_before(callee, 1, &['.']);
    match tokens.kind(open) {
        Some(Kind::Open('(')) => !tokens.word(callee).is_empty() && !is_method,
        Some(Kind::Open('{')) => tokens.word(callee).starts_with(char::is_uppercase),
        _ => false,
    }
}

/// Whether a suggestion may make the variable whose name starts at byte `at` mutable.
///
/// It may if the variable's value is created for it. With a copy, a parameter or a loop variable, the change would not
/// reach the original.
pub(super) fn is_fresh(slip: &Slip<'_>, origins: &Origins, at: usize) -> bool {
    let tokens = slip.tokens;
    let index = tokens.at(at);
    let is_reference = index.checked_sub(1).is_some_and(|before| {
        tokens.is_sign(before, '&') || before.checked_sub(1).is_some_and(|quote| tokens.is_sign(quote, '\''))
    });
    is_reference
        || (origins.may_change(tokens, tokens.range(index).start)
            && !capture::is_moved(tokens, tokens.word(index)))
}

/// The `;` that ends the statement of the token at `index`, if it does not end with its block.
pub(super) fn end_of_statement(tokens: &Tokens<'_>, index: usize) -> Option<usize> {
    let mut index = index;
    while !tokens.is_sign(index, ';') {
        index = match tokens.kind(index)? {
            Kind::Open(_) => tokens.close(index)? + 1,
            Kind::Close(_) => return None,
            _ => index + 1,
        };
    }
    Some(index)
}

/// Whether the expression at `range` takes a suffix without parentheses.
pub(super) fn is_simple(slip: &Slip<'_>, range: &Range<usize>) -> bool {
    let tokens = slip.tokens;
    let first = tokens.at(range.start);
    let Some(last) = tokens.at(range.end).checked_sub(1).filter(|last| *last >= first) else { return false };
    let begins = !tokens.word(first).is_empty() && !BLOCKS.contains(&tokens.word(first));
    let ends = tokens.kind(last) == Some(Kind::Close('(')) || tokens.is_plain(last);
    begins && (ends || tokens.word(last) == "await") && tokens.range(last).end == range.end
}

/// Whether an operator after byte `at` applies to a place or call alone: no operator is before it.
pub(super) fn is_operand(slip: &Slip<'_>, at: usize) -> bool {
    let tokens = slip.tokens;
    let Some(last) = tokens.at(at).checked_sub(1) else { return false };
    match root(tokens, last).checked_sub(1).and_then(|before| tokens.kind(before)) {
        None | Some(Kind::Open(_) | Kind::Close('{') | Kind::Word | Kind::Sign(',' | ';' | '=')) => true,
        Some(_) => false,
    }
}

/// Whether the mutably borrowed expression is a variable or field, and no copy: otherwise the change would be lost.
pub(super) fn is_place(slip: &Slip<'_>, origins: &Origins) -> bool {
    let Some(range) = slip.message.primary().and_then(|span| slip.source.range(span)) else { return false };
    let tokens = slip.tokens;
    let (first, end) = (tokens.at(range.start), tokens.at(range.end));
    let root = tokens.word(first);
    !root.is_empty()
        && (first..end).all(|index| matches!(tokens.kind(index), Some(Kind::Word | Kind::Sign('.'))))
        && (root == "self" || (origins.are_new(tokens, root) && !capture::is_moved(tokens, root)))
}

/// Whether the value found is wrapped in `Some` or `Ok` for its type: it is not a result and needs no `.await`.
fn is_wrapped(slip: &Slip<'_>) -> bool {
    let Some((_, found)) = mismatch(slip.message.label()) else { return false };
    !matches!(slip.lookup.known(found), Known::Call(_) | Known::Input(_) | Known::Result(..))
        && !["future", "async", "impl ", "closure", "JoinHandle", "()"]
            .iter()
            .any(|part| found.contains(part))
}

/// Whether the value at `range` may be wrapped: not where it is ordered, because `None` comes before every `Some`.
pub(super) fn may_wrap(slip: &Slip<'_>, range: &Range<usize>) -> bool {
    is_wrapped(slip) && !order::is_ordered(slip.tokens, range)
}

/// Whether the value before byte `at` may be dropped: it is plain data, and the call that returns it was made for its
/// effect.
pub(super) fn is_dropped(slip: &Slip<'_>, at: usize) -> bool {
    let Some((_, found)) = mismatch(slip.message.label()) else { return false };
    let tokens = slip.tokens;
    let last = tokens.at(at.saturating_sub(1));
    let is_effect = match tokens.kind(last) {
        Some(Kind::Close('(')) => tokens.open(last).is_some_and(|open| {
            let name = open.checked_sub(1).unwrap_or(usize::MAX);
            let is_method = tokens.is_sign_before(name, 1, &['.']);
            let is_own = tokens
                .words()
                .any(|(index, word)| word == "fn" && tokens.word(index + 1) == tokens.word(name));
            is_method && !is_own && EFFECTS.contains(&tokens.word(name))
        }),
        // The result of a tool call.
        _ => tokens.word(last) == "await" && !slip.lookup.within(tokens, tokens.statement(last)).is_empty(),
    };
    is_effect && is_plain(slip, found) && !may_be_returned(slip.message)
}

/// Whether rustc suggests that a value in the place of `()` may be meant as a return value.
pub(super) fn may_be_returned(message: &Message) -> bool {
    let returns = ["try adding a return type", "might have meant to return", "might have meant to break"];
    message.children.iter().any(|child| returns.iter().any(|text| child.message.contains(text)))
}

/// Whether the `;` at byte `at` follows a variable: such a statement has no effect.
pub(super) fn is_last_value(slip: &Slip<'_>, at: usize) -> bool {
    let tokens = slip.tokens;
    let Some(last) = tokens.at(at).checked_sub(1) else { return false };
    let begins = match last.checked_sub(1) {
        Some(before) => {
            tokens.is_sign(before, ';')
                || matches!(tokens.kind(before), Some(Kind::Open('{') | Kind::Close('{')))
        }
        None => true,
    };
    begins && tokens.is_plain(last)
}

/// Whether ` -> T` may be added to a function: its result can be ignored without loss.
pub(super) fn is_returned(slip: &Slip<'_>, returned: &str, at: usize) -> bool {
    let kind = returned.trim().trim_start_matches("-> ");
    let tokens = slip.tokens;
    let function = (0..tokens.at(at)).rev().find(|index| tokens.word(*index) == "fn");
    let name = function.map_or("", |function| tokens.word(function + 1));
    is_plain(slip, kind) && !matches!(name, "" | "main" | "run")
}

/// Whether a conversion of the expression at `range` turns a string or an integer into a string, or an error into an
/// error.
pub(super) fn is_text_of(slip: &Slip<'_>, range: &Range<usize>) -> bool {
    let Some((expected, found)) = mismatch(slip.message.label()) else { return false };
    // A byte may be meant as a character.
    let integers = ["integer", "i16", "i32", "i64", "isize", "u16", "u32", "u64", "usize"];
    let is_error = |name: &str| name.rsplit("::").next().is_some_and(|name| name.ends_with("Error"));
    match expected {
        "String" | "std::string::String" => match found {
            "&str" | "&&str" | "&'static str" | "char" => true,
            "&String" => !is_for_changing(slip, range.end.saturating_sub(1)),
            // "05" is another text than 5, and "10" comes before "9".
            other => integers.contains(&other) && !order::is_compared(slip.tokens, range),
        },
        "PathBuf" => matches!(found, "&str" | "String"),
        "Value" => match found {
            "bool" => true,
            "&str" | "&'static str" => is_no_json(slip, range),
            other => other == "i8" || other == "u8" || integers.contains(&other),
        },
        other => is_error(other) && is_error(found),
    }
}

/// Whether the expression at `range` is a literal text that is not JSON: any other text may be meant to be read as JSON.
fn is_no_json(slip: &Slip<'_>, range: &Range<usize>) -> bool {
    let index = slip.tokens.at(range.start);
    let literal = slip.tokens.literal_text(index).filter(|_| slip.tokens.range(index) == *range);
    let text = literal.and_then(|literal| syn::parse_str::<syn::LitStr>(literal).ok());
    text.map(|text| text.value()).is_some_and(|text| {
        !text.trim_start().starts_with(['{', '[', '"'])
            && serde_json::from_str::<serde_json::Value>(&text).is_err()
    })
}

/// Whether a type is a string, number or similar, which nobody expects to be shared.
fn is_text(kind: &str) -> bool {
    let inner = kind.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(kind);
    is_scalar(inner) || matches!(inner, "String" | "std::string::String" | "PathBuf" | "&str")
}

fn is_scalar(name: &str) -> bool {
    let number = name
        .strip_prefix(['i', 'u', 'f'])
        .is_some_and(|width| width == "size" || width.parse::<u8>().is_ok());
    number
        || matches!(
            name,
            "bool" | "char" | "integer" | "floating-point number" | "{integer}" | "{float}" | "()"
        )
}

/// Whether values of a type are plain data: not a result, future or handle, and nothing that counts or shares.
pub(super) fn is_plain(slip: &Slip<'_>, name: &str) -> bool {
    const DATA: [&str; 14] = [
        "BTreeMap", "BTreeSet", "Duration", "HashMap", "HashSet", "IndexMap", "Instant", "Map", "Option",
        "PathBuf", "String", "Value", "Vec", "VecDeque",
    ];
    let name = name.trim();
    let name = name.strip_prefix('&').unwrap_or(name).trim_start_matches("mut ");
    let inside = |open: char, close: char| name.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if is_scalar(name) || name == "str" {
        return true;
    }
    if let Some(list) = inside('[', ']') {
        return is_plain(slip, list.split(';').next().unwrap_or(list));
    }
    if let Some(members) = inside('(', ')') {
        return parts(members).into_iter().all(|part| is_plain(slip, part));
    }
    let (head, arguments) = match name.split_once('<') {
        Some((head, rest)) => (head, rest.strip_suffix('>').unwrap_or(rest)),
        None => (name, ""),
    };
    let base = head.rsplit("::").next().unwrap_or(head);
    let is_own = slip.tokens.definition(base).is_some() && !shares_changes(slip.tokens);
    let is_data = DATA.contains(&base) || is_own;
    let is_generated =
        matches!(slip.lookup.known(name), Known::Generated(..) | Known::Input(_) | Known::ToolResult);
    is_generated || (is_data && parts(arguments).into_iter().all(|part| is_plain(slip, part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_values_have_types_of_plain_data() {
        for name in
            ["i32", "usize", "f64", "bool", "{integer}", "()", "String", "Option<u8>", "&str", "PathBuf"]
        {
            assert!(is_text(name), "{name}");
        }
        for name in ["Order", "ix", "u", "Option<Order>", "Vec<u8>", "Rc<str>"] {
            assert!(!is_text(name), "{name}");
        }
    }
}
