//! The credentials of this process for servers, and the masking of texts that contain them.
//!
//! A server may repeat what it was sent: in a result, an error, a log message, the description of a tool. So every text
//! from a server goes through [`without_in_json`] or [`without`] before anything else reads it. Callers use [`masked`]
//! for other texts that they show, and can add their own secrets.
//!
//! One list for the whole process: servers share hosts, logs and callers, and a secret of one server must not appear in
//! the output of another.

use std::{borrow::Cow, collections::VecDeque, ops::Range, sync::Arc};

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD},
};
use memchr::memmem::Finder;
use parking_lot::RwLock;
use url::form_urlencoded::byte_serialize;

/// The replacement for a secret.
const MASK: &str = "***";

/// Minimum length of a secret, in bytes: shorter values would occur in any text.
const MIN_BYTES: usize = 8;

/// Minimum length, in bytes, of values that are always masked in data for programs. A shorter one is masked there only
/// if it has both letters and digits: a password may be a common word.
const MIN_WORD_BYTES: usize = 12;

/// Limit on stored spellings of secrets: the tokens of about a hundred renewals. The least recently used are dropped
/// first.
const MAX_SECRETS: usize = 512;

/// Maximum length of a stored value, in bytes: longer ones fit in no header that servers accept.
const MAX_BYTES: usize = 16 * 1024;

/// Parts of the names of headers whose values are credentials.
const CREDENTIAL_HEADERS: [&str; 7] =
    ["authorization", "cookie", "token", "secret", "password", "credential", "key"];

/// A spelling to search for.
struct Secret {
    text: String,
    finder: Finder<'static>,
    /// Whether it is masked in data for programs too.
    is_unlike_a_word: bool,
}

/// Ordered by last use, the latest last.
type Secrets = VecDeque<Arc<Secret>>;

/// The secrets of this process so far: tokens that were loaded, received or renewed, client secrets, codes and
/// verifiers of logins, credentials in configured headers.
static LEARNED: RwLock<Option<Arc<Secrets>>> = RwLock::new(None);

fn learned() -> Arc<Secrets> {
    LEARNED.read().clone().unwrap_or_default()
}

/// Masks `secret` from now on.
pub(crate) fn learn(secret: &str) {
    let secret = secret.trim();
    if !(MIN_BYTES..=MAX_BYTES).contains(&secret.len()) {
        return;
    }
    let mut learned = LEARNED.write();
    if learned.as_ref().and_then(|known| known.back()).is_some_and(|last| last.text == secret) {
        return;
    }
    let mut known = learned.as_deref().cloned().unwrap_or_default();
    let in_json = serde_json::to_string(secret).unwrap_or_default();
    let in_json = in_json.get(1..in_json.len() - 1).unwrap_or_default();
    let in_form: String = byte_serialize(secret.as_bytes()).collect();
    let others = [in_form.as_str(), in_json].into_iter().filter(|spelling| *spelling != secret);
    // The plain spelling comes last: it is compared to detect a repetition.
    for spelling in others.chain([secret]) {
        known.retain(|other| other.text != spelling);
        known.push_back(Arc::new(Secret::new(spelling)));
    }
    let surplus = known.len().saturating_sub(MAX_SECRETS);
    known.drain(..surplus);
    *learned = Some(Arc::new(known));
}

/// Learns the credentials in a header, if it has any: the whole value, the part after the scheme, and for the scheme
/// Basic the password (RFC 7617, section 2).
pub(crate) fn learn_header(name: &str, value: &str) {
    let name = name.to_ascii_lowercase();
    if !CREDENTIAL_HEADERS.iter().any(|part| name.contains(part)) {
        return;
    }
    learn(value);
    let Some((scheme, credentials)) = value.trim().split_once(' ') else { return };
    let credentials = credentials.trim();
    learn(credentials);
    if scheme.eq_ignore_ascii_case("basic") {
        let decoded = BASE64_STANDARD.decode(credentials);
        let decoded = decoded.or_else(|_| BASE64_STANDARD_NO_PAD.decode(credentials)).unwrap_or_default();
        if let Some((_, password)) = String::from_utf8_lossy(&decoded).split_once(':') {
            learn(password);
        }
    }
}

/// Masks the secrets in a text for display.
pub(crate) fn without(text: &str) -> Cow<'_, str> {
    masked(text, std::iter::empty())
}

/// Replaces every range of the text that learned secrets and `others` cover with `***`. Overlapping secrets leave no
/// part of either.
pub fn masked<'a, 'b>(text: &'a str, others: impl Iterator<Item = &'b str>) -> Cow<'a, str> {
    let mut covered = Vec::new();
    learned().iter().for_each(|secret| cover(&mut covered, text, &secret.finder));
    others.for_each(|other| cover(&mut covered, text, &Finder::new(other)));
    replaced(text, covered)
}

/// Like [`masked`], and also masks the start of a secret (at least eight bytes) at the end of the text, where the rest
/// is pending or was cut off.
pub fn masked_unfinished<'a, 'b>(
    text: &'a str,
    others: impl Iterator<Item = &'b str> + Clone,
) -> Cow<'a, str> {
    let text = masked(text, others.clone());
    let partial = |secret: &str| {
        let mut starts = (MIN_BYTES..secret.len()).rev().filter_map(|end| secret.get(..end));
        starts.find(|start| text.ends_with(start)).map(str::len)
    };
    let learned = learned();
    let learned = learned.iter().filter_map(|secret| partial(&secret.text)).max();
    match learned.max(others.filter_map(partial).max()) {
        Some(length) => Cow::Owned(format!("{}{MASK}", text.get(..text.len() - length).unwrap_or_default())),
        None => text,
    }
}

/// Masks the secrets in the strings of a JSON text, however they are escaped. Numbers and structure stay unchanged;
/// invalid JSON is handled as far as it resembles JSON.
pub(crate) fn without_in_json(text: &str) -> Cow<'_, str> {
    let learned = learned();
    let secrets = || learned.iter().filter(|secret| secret.is_unlike_a_word).map(|secret| &secret.finder);
    let occur = || secrets().any(|secret| secret.find(text.as_bytes()).is_some());
    if secrets().next().is_none() || !text.contains('\\') && !occur() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::new();
    let mut copied = 0;
    for literal in string_literals(text) {
        let inner = text.get(literal.start + 1..literal.end - 1).unwrap_or_default();
        if let Some(replaced) = without_in_literal(inner, secrets()) {
            clean.push_str(text.get(copied..literal.start + 1).unwrap_or_default());
            clean.push_str(&replaced);
            copied = literal.end - 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    clean.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(clean)
}

/// The replacement for the inside of a string literal, if it contains a secret.
fn without_in_literal<'a>(inner: &str, secrets: impl Iterator<Item = &'a Finder<'static>>) -> Option<String> {
    let decoded = match inner.contains('\\') {
        true => serde_json::from_str::<String>(&format!("\"{inner}\"")).ok(),
        false => None,
    };
    let text = decoded.as_deref().unwrap_or(inner);
    let mut covered = Vec::new();
    secrets.for_each(|secret| cover(&mut covered, text, secret));
    let Cow::Owned(clean) = replaced(text, covered) else { return None };
    if decoded.is_none() {
        return Some(clean);
    }
    let encoded = serde_json::to_string(&clean).ok()?;
    encoded.get(1..encoded.len() - 1).map(str::to_owned)
}

/// The ranges of a text's string literals, including their quotes.
fn string_literals(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + memchr::memchr(b'"', bytes.get(from..)?)?;
        let mut end = start + 1;
        loop {
            end += memchr::memchr2(b'"', b'\\', bytes.get(end..)?)?;
            if bytes.get(end) == Some(&b'"') {
                break;
            }
            end += 2;
        }
        from = end + 1;
        Some(start..from)
    })
}

impl Secret {
    fn new(text: &str) -> Self {
        let has = |kind: fn(&u8) -> bool| text.as_bytes().iter().any(kind);
        let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        Self {
            text: text.to_owned(),
            finder: Finder::new(text).into_owned(),
            is_unlike_a_word: text.len() >= MIN_WORD_BYTES || is_mixed,
        }
    }
}

/// Adds the ranges of a secret.
fn cover(covered: &mut Vec<Range<usize>>, text: &str, secret: &Finder<'_>) {
    covered.extend(secret.find_iter(text.as_bytes()).map(|start| start..start + secret.needle().len()));
}

/// Replaces each covered range with a mask.
fn replaced(text: &str, mut covered: Vec<Range<usize>>) -> Cow<'_, str> {
    if covered.is_empty() {
        return Cow::Borrowed(text);
    }
    covered.sort_by_key(|range| range.start);
    let (mut clean, mut end) = (String::with_capacity(text.len()), 0);
    for range in covered {
        if range.start >= end {
            clean.push_str(text.get(end..range.start).unwrap_or_default());
            clean.push_str(MASK);
        }
        end = end.max(range.end);
    }
    clean.push_str(text.get(end..).unwrap_or_default());
    Cow::Owned(clean)
}

#[cfg(test)]
mod tests;
