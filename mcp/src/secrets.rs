//! The credentials that this process has for servers, and texts without them.
//!
//! A server may repeat what it was sent: in a result, an error, a log message, the description of a tool. So everything
//! that comes from a server passes [`without_in_json`] or [`without`] before anything else reads it. Callers that tell
//! people of other things do that by [`masked`], which also takes secrets of their own.
//!
//! One list for the whole process: servers share hosts, logs and callers, and a secret of one of them is none to show
//! by way of another.

use std::{
    borrow::Cow,
    collections::VecDeque,
    ops::Range,
    sync::{Arc, PoisonError, RwLock},
};

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD},
};
use memchr::memmem::Finder;
use url::form_urlencoded::byte_serialize;

/// What replaces a secret.
const MASK: &str = "***";

/// Shorter values are not taken for secrets, in bytes: they would occur in any text.
const MIN_BYTES: usize = 8;

/// From this length on a value is masked in what programs get, in bytes. A shorter one is masked there only if it has
/// letters and digits: a password may be a word that results are full of.
const MIN_WORD_BYTES: usize = 12;

/// How many spellings of secrets are kept: tokens of about a hundred renewals. The ones that were used least recently
/// are forgotten first.
const MAX_SECRETS: usize = 512;

/// The longest value that is kept, in bytes: longer ones fit no header that servers accept.
const MAX_BYTES: usize = 16 * 1024;

/// Parts of the names of headers whose values are credentials.
const CREDENTIAL_HEADERS: [&str; 7] =
    ["authorization", "cookie", "token", "secret", "password", "credential", "key"];

/// A spelling that is looked for.
struct Secret {
    text: String,
    finder: Finder<'static>,
    /// Whether programs don't get it either.
    is_unlike_a_word: bool,
}

/// The latest last.
type Secrets = VecDeque<Arc<Secret>>;

/// What was learned of servers in this process so far: tokens that were loaded, received or renewed, secrets of clients,
/// codes and verifiers of logins, credentials in configured headers.
static LEARNED: RwLock<Option<Arc<Secrets>>> = RwLock::new(None);

fn learned() -> Arc<Secrets> {
    LEARNED.read().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}

/// From now on, `secret` is masked.
pub(crate) fn learn(secret: &str) {
    let secret = secret.trim();
    if !(MIN_BYTES..=MAX_BYTES).contains(&secret.len()) {
        return;
    }
    let mut learned = LEARNED.write().unwrap_or_else(PoisonError::into_inner);
    if learned.as_ref().and_then(|known| known.back()).is_some_and(|last| last.text == secret) {
        return;
    }
    let mut known = learned.as_deref().cloned().unwrap_or_default();
    let in_json = serde_json::to_string(secret).unwrap_or_default();
    let in_json = in_json.get(1..in_json.len() - 1).unwrap_or_default();
    let in_form: String = byte_serialize(secret.as_bytes()).collect();
    let others = [in_form.as_str(), in_json].into_iter().filter(|spelling| *spelling != secret);
    // The plain one last: it is how a repetition is found out.
    for spelling in others.chain([secret]) {
        known.retain(|other| other.text != spelling);
        known.push_back(Arc::new(Secret::new(spelling)));
    }
    let surplus = known.len().saturating_sub(MAX_SECRETS);
    known.drain(..surplus);
    *learned = Some(Arc::new(known));
}

/// Learns the credentials in a header, if it has any: the whole value, what follows the scheme, and of the scheme Basic
/// the password (RFC 7617, section 2).
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

/// A text for people without secrets.
pub(crate) fn without(text: &str) -> Cow<'_, str> {
    masked(text, std::iter::empty())
}

/// The text with `***` for every stretch that learned secrets and `others` cover: also where they overlap, nothing of them
/// is left.
pub fn masked<'a, 'b>(text: &'a str, others: impl Iterator<Item = &'b str>) -> Cow<'a, str> {
    let mut covered = Vec::new();
    learned().iter().for_each(|secret| cover(&mut covered, text, &secret.finder));
    others.for_each(|other| cover(&mut covered, text, &Finder::new(other)));
    replaced(text, covered)
}

/// As [`masked`], and `***` for the beginning of a secret of at least eight bytes that the text ends with: what has not
/// come yet, or was cut off.
pub fn masked_unfinished<'a, 'b>(
    text: &'a str,
    others: impl Iterator<Item = &'b str> + Clone,
) -> Cow<'a, str> {
    let text = masked(text, others.clone());
    let begun = |secret: &str| {
        let mut starts = (MIN_BYTES..secret.len()).rev().filter_map(|end| secret.get(..end));
        starts.find(|start| text.ends_with(start)).map(str::len)
    };
    let learned = learned();
    let learned = learned.iter().filter_map(|secret| begun(&secret.text)).max();
    match learned.max(others.filter_map(begun).max()) {
        Some(length) => Cow::Owned(format!("{}{MASK}", text.get(..text.len() - length).unwrap_or_default())),
        None => text,
    }
}

/// A JSON text without secrets in its strings, however they are escaped. Numbers and the text's structure stay as they
/// are, and what is no JSON is treated as far as it looks like it.
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

/// What replaces the inside of a string literal, if a secret is in it.
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

/// The places of a text's string literals, with their quotes.
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

/// Adds the places of a secret.
fn cover(covered: &mut Vec<Range<usize>>, text: &str, secret: &Finder<'_>) {
    covered.extend(secret.find_iter(text.as_bytes()).map(|start| start..start + secret.needle().len()));
}

/// The text with a mask in place of each stretch that is covered.
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
