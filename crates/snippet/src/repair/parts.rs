//! Whether a snippet changes parts of values: fields, items. A copy of a value then differs from the value.

use crate::tokens::{Kind, Tokens};

/// Methods that change what they are called on.
const CHANGING: [&str; 29] = [
    "append",
    "clear",
    "dedup",
    "drain",
    "entry",
    "extend",
    "fill",
    "insert",
    "pop",
    "pop_back",
    "pop_front",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "remove",
    "replace_range",
    "resize",
    "retain",
    "reverse",
    "rotate_left",
    "rotate_right",
    "sort",
    "sort_by",
    "sort_by_key",
    "sort_unstable",
    "swap",
    "swap_remove",
    "truncate",
];

/// Whether the snippet may change a part of the variable `name`.
pub(super) fn change(tokens: &Tokens<'_>, name: &str) -> bool {
    let uses = tokens.words().filter(|(index, word)| *word == name && tokens.is_plain(*index));
    uses.into_iter().any(|(index, _)| {
        let is_borrowed = tokens.word_before(index, 1) == "mut" && tokens.is_sign_before(index, 2, &['&']);
        is_borrowed || changes_parts(tokens, index)
    })
}

/// Whether the snippet may change a part of any value in place.
pub(super) fn any_change(tokens: &Tokens<'_>) -> bool {
    tokens.words().any(|(index, _)| tokens.is_plain(index) && changes_parts(tokens, index))
}

/// Whether a part of the variable at `index` is assigned, or changed by a method.
fn changes_parts(tokens: &Tokens<'_>, index: usize) -> bool {
    let mut end = index + 1;
    let mut is_part = false;
    loop {
        match tokens.kind(end) {
            Some(Kind::Open('[')) => match tokens.close(end) {
                Some(close) => end = close + 1,
                None => return false,
            },
            Some(Kind::Sign('.')) if tokens.is_sign(end + 1, '.') => return false,
            Some(Kind::Sign('.')) => {
                let member = tokens.word(end + 1);
                let is_call =
                    tokens.kind(end + 2) == Some(Kind::Open('(')) || !tokens.member(end + 1).is_empty();
                if is_call {
                    return member.ends_with("_mut")
                        || is_own(tokens, member)
                        || (is_part && CHANGING.contains(&member));
                }
                end += 2;
            }
            _ => return is_part && is_assignment(tokens, end),
        }
        is_part = true;
    }
}

/// Whether the snippet defines a function of this name: it may change anything.
fn is_own(tokens: &Tokens<'_>, name: &str) -> bool {
    tokens.words().any(|(index, word)| word == "fn" && tokens.word(index + 1) == name)
}

/// Whether an assignment operator is at the token `index`.
fn is_assignment(tokens: &Tokens<'_>, index: usize) -> bool {
    let sign = |index: usize| match tokens.kind(index) {
        Some(Kind::Sign(sign)) => sign,
        _ => ' ',
    };
    let are_joined = |index: usize| tokens.range(index).end == tokens.range(index + 1).start;
    match (sign(index), sign(index + 1)) {
        ('=', next) => !(are_joined(index) && matches!(next, '=' | '>')),
        ('+' | '-' | '*' | '/' | '%' | '&' | '|' | '^', '=') => are_joined(index),
        ('<', '<') | ('>', '>') => sign(index + 2) == '=',
        _ => false,
    }
}
