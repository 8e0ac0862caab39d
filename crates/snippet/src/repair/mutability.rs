//! The changeable parts of a snippet: `mut` variables, and values behind a shared reference.

use crate::tokens::Tokens;

/// Types and methods by which a value changes without `mut`, or whose copies differ from the original.
const SHARED: [&str; 9] =
    ["Cell", "Drop", "Mutex", "OnceCell", "RefCell", "RwLock", "UnsafeCell", "lock", "borrow_mut"];

/// The indices of the words declared `mut`.
pub(super) fn changing<'a>(tokens: &'a Tokens<'_>) -> impl Iterator<Item = usize> + 'a {
    (0..tokens.len())
        .filter(|index| tokens.word_before(*index, 1) == "mut" && !tokens.is_sign_before(*index, 2, &['&']))
}

/// Whether the snippet changes values by other means than `mut` variables.
pub(super) fn shares_changes(tokens: &Tokens<'_>) -> bool {
    tokens.words().any(|(index, word)| match word {
        "mut" => tokens.is_sign_before(index, 1, &['&']),
        _ => SHARED.contains(&word) || word.ends_with("_mut"),
    })
}
