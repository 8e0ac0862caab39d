//! How much of a model's context a text takes.

/// About how many tokens a text is.
#[must_use]
pub fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
