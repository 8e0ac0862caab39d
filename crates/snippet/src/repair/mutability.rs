//! The changeable parts of a snippet: `mut` variables, and values behind a shared reference.

use crate::tokens::Tokens;

/// Types and methods by which a value changes without `mut`, or whose copies differ from the original.
const SHARED: [&str; 9] =
    ["Cell", "Drop", "Mutex", "OnceCell", "RefCell", "RwLock", "UnsafeCell", "lock", "borrow_mut"];

/// The indices of the words declared `mut`.
pub(super) fn changing<'a>(tokens: &'a Tokens<'_>) -> impl Iterator<Item = usize> + 'a {
    (0..tokens.len()).filter(|index| {
        let before = |back: usize| index.checked_sub(back);
        let is_mut = before(1).is_some_and(|before| tokens.word(before) == "mut");
        is_mut && !before(2).is_some_and(|before| tokens.is_sign(before, '&'))
    })
}

/// Whether the snippet changes values by other means than `mut` variables.
pub(super) fn shares_changes(tokens: &Tokens<'_>) -> bool {
    tokens.words().any(|(index, word)| match word {
        "mut" => index.checked_sub(1).is_some_and(|before| tokens.is_sign(before, '&')),
        _ => SHARED.contains(&word) || word.ends_with("_mut"),
    })
}
