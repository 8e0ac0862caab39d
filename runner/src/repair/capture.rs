//! What a closure or `async` block captures: whether `move` can make a difference.

use std::ops::Range;

use super::mutability::{changing, shares_changes};
use crate::hints::Slip;
use crate::tokens::{Kind, Tokens};

/// Whether the closure or `async` block at byte `at` only reads what it captures.
///
/// `move` copies a `Copy` variable, so that changes in the closure affect only its own copy. A variable never declared
/// `mut` does not change, so a copy is as good as a borrow.
pub(super) fn reads_only(slip: &Slip<'_>, at: usize) -> bool {
    let tokens = slip.tokens;
    // For `async`, the suggestion's position is after the word.
    let start = match tokens.at(at) {
        after if after > 0 && tokens.word(after - 1) == "async" && tokens.range(after).start >= at => {
            after - 1
        }
        first => first,
    };
    let Some(region) = region(tokens, start) else { return false };
    let outside = |index: &usize| !region.contains(index);
    let changed: Vec<&str> = changing(tokens).filter(outside).map(|index| tokens.word(index)).collect();
    region.clone().all(|index| tokens.word(index).is_empty() || !changed.contains(&tokens.word(index)))
        && !shares_changes(tokens)
}

/// Whether a closure or block that captures by `move` names the variable `name`.
pub(super) fn is_moved(tokens: &Tokens<'_>, name: &str) -> bool {
    let moves = tokens.words().filter(|(_, word)| *word == "move").map(|(index, _)| index);
    moves.into_iter().any(|index| {
        let region = region(tokens, index);
        region.is_none_or(|mut region| region.any(|index| tokens.word(index) == name))
    })
}

/// The tokens of the closure or block that starts at `start`: `async {`, `|a| …`, `move |a| …`.
fn region(tokens: &Tokens<'_>, start: usize) -> Option<Range<usize>> {
    let mut index = start;
    while matches!(tokens.word(index), "async" | "move") {
        index += 1;
    }
    if tokens.is_sign(index, '|') {
        let params = (index + 1..tokens.len()).find(|end| tokens.is_sign(*end, '|'))?;
        index = params + 1;
        while matches!(tokens.word(index), "async" | "move") {
            index += 1;
        }
    }
    if tokens.kind(index) == Some(Kind::Open('{')) {
        return Some(start..tokens.close(index)? + 1);
    }
    // An expression ends with its argument or its statement.
    while let Some(kind) = tokens.kind(index) {
        index = match kind {
            Kind::Open(_) => tokens.close(index)? + 1,
            Kind::Close(_) | Kind::Sign(',' | ';') => break,
            _ => index + 1,
        };
    }
    Some(start..index)
}
