//! Whether a value is compared, and how: `None` comes before every `Some`, and texts are ordered by their letters.

use std::ops::Range;

use crate::tokens::{Kind, Tokens};

/// Functions and methods that order values.
const ORDERING: [&str; 14] = [
    "binary_search",
    "clamp",
    "cmp",
    "ge",
    "gt",
    "is_sorted",
    "le",
    "lt",
    "minmax",
    "partial_cmp",
    "partition_point",
    "range",
    "sorted",
    "total_cmp",
];

/// Words that are no functions, although `(` may follow.
const KEYWORDS: [&str; 9] = ["else", "if", "in", "match", "move", "mut", "return", "while", "break"];

fn orders(name: &str) -> bool {
    ORDERING.contains(&name)
        || ["max", "min", "sort", "sorted", "binary_search"].iter().any(|start| {
            name.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
}

/// Whether the expression at `range`, or what it is part of, is compared by order.
pub(super) fn is_ordered(tokens: &Tokens<'_>, range: &Range<usize>) -> bool {
    let first = tokens.at(range.start);
    is_argument_of_order(tokens, first) || is_part_of_order(tokens, first..tokens.at(range.end))
}

/// Whether the expression at `range` is compared with `==` or `!=`, or ordered.
pub(super) fn is_compared(tokens: &Tokens<'_>, range: &Range<usize>) -> bool {
    let (first, end) = (tokens.at(range.start), tokens.at(range.end));
    let is_equality = |operator: usize| {
        matches!(tokens.kind(operator), Some(Kind::Sign('=' | '!'))) && tokens.is_sign(operator + 1, '=')
    };
    first.checked_sub(2).is_some_and(is_equality) || is_equality(end) || is_ordered(tokens, range)
}

/// Whether a function around the token orders values: `max_by_key(|x| …)`.
fn is_argument_of_order(tokens: &Tokens<'_>, index: usize) -> bool {
    let mut open = tokens.enclosing(index);
    while let Some(bracket) = open {
        let callee = tokens.word_before(bracket, 1);
        if tokens.kind(bracket) == Some(Kind::Open('(')) && orders(callee) {
            return true;
        }
        open = tokens.enclosing(bracket);
    }
    false
}

/// Whether the tokens, or the tuple, list, struct or variant that they are part of, are compared by order.
fn is_part_of_order(tokens: &Tokens<'_>, part: Range<usize>) -> bool {
    let mut part = part;
    loop {
        while let Some(before) = part.start.checked_sub(1).filter(|before| {
            tokens.is_sign(*before, '&') || tokens.is_sign(*before, '*') || tokens.word(*before) == "mut"
        }) {
            part.start = before;
        }
        let follows = tokens.is_sign(part.end, '<') || tokens.is_sign(part.end, '>');
        if follows || tokens.follows_order(part.start) || is_chained(tokens, part.end) {
            return true;
        }
        let Some(open) = tokens.enclosing(part.start) else { return false };
        let Some(close) = tokens.close(open) else { return false };
        let before = open.checked_sub(1).unwrap_or(usize::MAX);
        let word = tokens.word(before);
        let is_named = word.starts_with(char::is_uppercase);
        let is_macro = tokens.is_sign(before, '!');
        part = match tokens.kind(open) {
            Some(Kind::Open('[')) if word.is_empty() || KEYWORDS.contains(&word) => {
                // A list may be ordered later.
                if tokens.words().any(|(_, word)| orders(word) || is_ordered_collection(word)) {
                    return true;
                }
                if is_macro { before..close + 1 } else { open..close + 1 }
            }
            Some(Kind::Open('(')) if word.is_empty() && !is_macro => open..close + 1,
            Some(Kind::Open('(')) if KEYWORDS.contains(&word) => open..close + 1,
            Some(Kind::Open('(' | '{')) if is_named => start_of_path(tokens, before)..close + 1,
            _ => return false,
        };
    }
}

fn is_ordered_collection(word: &str) -> bool {
    matches!(word, "BTreeMap" | "BTreeSet" | "BinaryHeap" | "Ord" | "PartialOrd")
}

fn start_of_path(tokens: &Tokens<'_>, last: usize) -> usize {
    let mut start = last;
    while !tokens.qualifier(start).is_empty() {
        start -= 3;
    }
    start
}

/// Whether methods follow at the token `end`, one of which orders values: `.iter().max()`.
fn is_chained(tokens: &Tokens<'_>, end: usize) -> bool {
    let mut index = end;
    while tokens.is_sign(index, '.') {
        if orders(tokens.word(index + 1)) {
            return true;
        }
        index += 2;
        if let Some(Kind::Open('(')) = tokens.kind(index) {
            match tokens.close(index) {
                Some(close) => index = close + 1,
                None => return false,
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{is_compared, is_ordered};
    use crate::tokens::Tokens;

    #[test]
    fn a_value_is_ordered_where_it_or_what_holds_it_is_compared() {
        for (text, is) in [
            ("o < 5", true),
            ("o >= 5", true),
            ("5 > o", true),
            ("o == 5", false),
            ("o.min(5)", true),
            ("std::cmp::max(o, 5)", true),
            ("o.cmp(&5)", true),
            ("(o, 1) < (5, 2)", true),
            ("((o, 1), 1) < ((5, 2), 1)", true),
            ("(o, 1) == (5, 2)", false),
            ("P { o: 5 } < p", true),
            ("E::A(5) < p", true),
            ("[o, 5].iter().max()", true),
            ("let v = vec![o, 5]; v.sort()", true),
            ("let v = vec![o, 5]; v.len()", false),
            ("v.max_by_key(|x| if x { 5 } else { o })", true),
            ("o < (5)", true),
            ("f(5) < 1", false),
            ("let o: Option<i32> = 5;", false),
            ("|x| -> Option<i32> { 5 }", false),
        ] {
            let at = text.find('5').unwrap();
            assert_eq!(is_ordered(&Tokens::read(text), &(at..at + 1)), is, "{text}");
        }
        for (text, is) in [("a == 5", true), ("5 != a", true), ("a = 5", false), ("f(5)", false)] {
            let at = text.find('5').unwrap();
            assert_eq!(is_compared(&Tokens::read(text), &(at..at + 1)), is, "{text}");
        }
    }
}
