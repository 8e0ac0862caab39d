//! Ties an answer to what its form showed: the form has a digest of it, and the answer counts only while what it would
//! decide about has the same digest. So an answer never reaches anything that its user has not seen.

use maud::{Markup, html};

use crate::action::Action;
use crate::error::PageError;

/// The field of a form with the digest.
const SHOWN: &str = "shown";

/// A digest of these texts, in this order.
pub(crate) fn digest(texts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The hidden field of a form that shows what has this digest.
pub(crate) fn field(digest: &str) -> Markup {
    html! { input type="hidden" name=(SHOWN) value=(digest); }
}

/// Whether the form of an action showed what has this digest.
pub(crate) fn is_of(action: &Action, digest: &str) -> bool {
    action.form.get(SHOWN) == Some(digest)
}

/// The refusal of an answer to something else than its form showed.
pub(crate) fn differs(what: &str) -> PageError {
    PageError::wrong(format!(
        "{what} is not as this page showed it, so nothing was done: open the page again, and read it before you answer"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_of_all_texts_and_where_each_ends() {
        assert_eq!(digest(&["a", "{}"]), digest(&["a", "{}"]));
        assert_ne!(digest(&["a", "{}"]), digest(&["a", "{ }"]));
        assert_ne!(digest(&["a", "bc"]), digest(&["ab", "c"]));
    }
}
