//! Masks secrets in messages to the user as `***`. Secrets that `mcp` has learned from servers are masked too: the list
//! is read for each message, because tokens change.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::RwLock;
use serde_json::Value;

/// Approximate limit on secrets that are kept, current and older configurations together.
const MOST_SECRETS: usize = 2_000;

/// Minimum length of a secret; masking shorter values would make texts unreadable.
const SHORTEST: usize = 8;

/// Replaces secrets.
#[derive(Clone, Default)]
pub struct Masker {
    secrets: Arc<Vec<String>>,
}

impl Masker {
    /// Adds a secret.
    pub fn hiding(self, value: &str) -> Self {
        self.with(&Masker::new(&[value.to_owned()]))
    }

    /// Adds the secrets of another masker, up to the limit.
    pub(crate) fn with(mut self, other: &Masker) -> Self {
        let place = MOST_SECRETS.saturating_sub(self.secrets.len());
        let new = other.secrets.iter().filter(|secret| !self.secrets.contains(secret)).take(place).cloned();
        let new: Vec<String> = new.collect();
        Arc::make_mut(&mut self.secrets).extend(new);
        self
    }

    /// Masks these values: whole, line by line, and without the scheme of a header.
    pub fn new(values: &[String]) -> Self {
        let mut parts = BTreeSet::new();
        for value in values {
            let scheme = value.split_once(' ').map(|(_, credentials)| credentials.trim());
            for part in value.lines().chain([value.as_str()]).chain(scheme) {
                let quoted = Value::from(part).to_string();
                let quoted = quoted.trim_matches('"').to_owned();
                parts.extend(
                    [part.trim().to_owned(), quoted].into_iter().filter(|part| part.len() >= SHORTEST),
                );
            }
        }
        Masker { secrets: Arc::new(parts.into_iter().collect()) }
    }

    /// Returns the text with its secrets masked.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let masked = mcp::masked(text, self.own());
        // A cut text may end within a secret.
        if masked.contains('…') { Cow::Owned(self.mask_cut(&masked)) } else { masked }
    }

    fn mask_cut(&self, text: &str) -> String {
        let mut pieces: Vec<&str> = text.split('…').collect();
        let last = pieces.pop().unwrap_or_default();
        let pieces = pieces.into_iter().map(|piece| mcp::masked_unfinished(piece, self.own()).into_owned());
        pieces.chain([last.to_owned()]).collect::<Vec<_>>().join("…")
    }

    fn own(&self) -> impl Iterator<Item = &str> + Clone {
        self.secrets.iter().map(String::as_str)
    }

    /// Masks all strings in a value.
    pub fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.mask_value(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl std::fmt::Debug for Masker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Masker({} secrets)", self.secrets.len())
    }
}

/// The secrets to mask, of all configurations that this process has used.
static MASKER: RwLock<Option<Masker>> = RwLock::new(None);

/// Masks these secrets in all messages of this process from now on. Output of programs and results of tools stay
/// unchanged.
pub fn mask(masker: Masker) {
    let mut known = MASKER.write();
    *known = Some(match known.take() {
        // Work under an older configuration may still mention its secrets.
        Some(before) => masker.with(&before),
        None => masker,
    });
}

/// A text without the secrets that are masked in this process.
pub fn masked(text: &str) -> String {
    let masker = MASKER.read();
    masker.as_ref().unwrap_or(&Masker::default()).mask(text).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn masker(values: &[&str]) -> Masker {
        Masker::new(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn secrets_are_masked_whole_and_in_parts() {
        let masker = masker(&[
            "Bearer abcdefgh123",
            "first line\nsecond line",
            "quo\"ted-secret",
            "abcdefgh123-longer",
        ]);
        assert_eq!(masker.mask("got abcdefgh123 there"), "got *** there");
        assert_eq!(masker.mask("Bearer abcdefgh123"), "***");
        assert_eq!(masker.mask("abcdefgh123-longer"), "***");
        assert_eq!(masker.mask("it says second line."), "it says ***.");
        assert_eq!(masker.mask(r#"{"a":"quo\"ted-secret"}"#), r#"{"a":"***"}"#);
    }

    #[test]
    fn a_cut_secret_is_masked() {
        let masker = masker(&["0123456789abcdef", "ünïcödé-secret"]);
        assert_eq!(masker.mask("error: 0123456789ab…"), "error: ***…");
        assert_eq!(masker.mask("error: ünïcödé-s…\nmore"), "error: ***…\nmore");
        assert_eq!(masker.mask("error: 0123…"), "error: 0123…");
    }

    #[test]
    fn an_existing_masker_masks_secrets_learned_later() {
        let masker = masker(&["secret-before"]);
        let learn = |header: &str| {
            let headers = [("Authorization".to_owned(), header.to_owned())].into();
            let remote = mcp::Remote { url: "https://host/".into(), headers, ..mcp::Remote::default() };
            mcp::learn_secrets(&mcp::ServerConfig::new("late", mcp::Transport::Http(remote)));
        };
        let text = "secret-before late-token-1 late-password-1";
        assert_eq!(masker.mask(text), "*** late-token-1 late-password-1");
        learn("Bearer late-token-1");
        learn("Basic bWU6bGF0ZS1wYXNzd29yZC0x");
        assert_eq!(masker.mask(text), "*** *** ***");
        assert_eq!(masker.mask("error: late-to…"), "error: late-to…");
        assert_eq!(masker.mask("error: late-token…"), "error: ***…");
        let mut value = json!({ "a": ["Bearer late-token-1"] });
        masker.mask_value(&mut value);
        assert_eq!(value, json!({ "a": ["***"] }));
    }

    #[test]
    fn maskers_can_be_combined() {
        let both = masker(&["secret-before"]).with(&masker(&["secret-before", "secret-before-and-after"]));
        let all = both.hiding("another-token");
        assert_eq!(all.mask("secret-before-and-after secret-before another-token"), "*** *** ***");
        assert_eq!(all.secrets.len(), 3);
    }

    #[test]
    fn short_values_are_not_masked() {
        assert_eq!(masker(&["1", "true", "", "1234567"]).mask("1 is true, 1234567"), "1 is true, 1234567");
    }

    #[test]
    fn values_are_masked_at_every_depth() {
        let mut value = json!({ "a": ["x secret-secret", { "b": "secret-secret" }], "c": 7 });
        masker(&["secret-secret"]).mask_value(&mut value);
        assert_eq!(value, json!({ "a": ["x ***", { "b": "***" }], "c": 7 }));
    }
}
