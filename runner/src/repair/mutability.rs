//! What may change in a snippet: variables that are `mut`, and what is behind a shared reference.

use crate::tokens::Tokens;

/// Words of types and methods by which a value changes that is not declared `mut`, or whose copies differ from it.
const SHARED: [&str; 9] =
    ["Cell", "Drop", "Mutex", "OnceCell", "RefCell", "RwLock", "UnsafeCell", "lock", "borrow_mut"];

/// The words that are declared `mut`, by their indices.
pub(super) fn changing<'a>(tokens: &'a Tokens<'_>) -> impl Iterator<Item = usize> + 'a {
    let declared = |index: &usize| {
        let before = |back: usize| index.checked_sub(back);
        let is_mut = before(1).is_some_and(|before| tokens.word(before) == "mut");
        is_mut && !before(2).is_some_and(|before| tokens.is_sign(before, '&'))
    };
    (0..tokens.len()).filter(declared)
}

/// Whether the snippet changes values by other ways than variables that are `mut`.
pub(super) fn shares_changes(tokens: &Tokens<'_>) -> bool {
    let is_way = |(index, word): (usize, &str)| match word {
        "mut" => index.checked_sub(1).is_some_and(|before| tokens.is_sign(before, '&')),
        _ => SHARED.contains(&word) || word.ends_with("_mut"),
    };
    tokens.words().any(is_way)
}
