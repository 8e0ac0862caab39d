//! The kept form of a text: without secrets, and within its bound.
//!
//! A text is masked before it is cut to its length, so that no half of a secret remains at the end.

use config::ArgumentsKept;
use runner::Outcome;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use terminal::Masker;

use crate::tokens::estimate;

/// Longest secret that is masked (`mcp`), in bytes: a text is copied this much further than it is kept.
const LONGEST_SECRET: usize = 16 << 10;

/// Maximum size of arguments that are kept in full, in bytes of JSON.
const ARGUMENTS: usize = 16 << 10;

/// Longer arguments are only hashed, because masking them takes too long. In bytes.
const ARGUMENTS_READ: usize = 256 << 10;

/// Longer arguments are not copied if they are not kept in full. In bytes.
const ARGUMENTS_COPIED: usize = 4 << 10;

/// Maximum length of a title, and of an error in a list, in characters.
const TITLE: usize = 200;

/// Maximum number of diagnostics, corrections, tools of a manifest and emitted parts that are kept of an execution.
const LISTED: usize = 200;

/// The beginning of a text, a little longer than what is kept of it.
#[derive(Debug)]
struct Cut {
    text: String,
    /// Maximum size of what is kept, in bytes.
    limit: usize,
    /// The size of the whole text, in bytes.
    bytes: usize,
}

impl Cut {
    fn new(text: &str, limit: usize) -> Self {
        let copied = text.floor_char_boundary(limit.saturating_add(LONGEST_SECRET));
        Cut { text: text.get(..copied).unwrap_or_default().to_owned(), limit, bytes: text.len() }
    }

    fn is_whole(&self) -> bool {
        self.text.len() == self.bytes
    }

    /// The text without secrets, cut to its length.
    fn kept(&self, masker: &Masker) -> Value {
        // The mark says that the text may end within a secret.
        let text = if self.is_whole() { self.text.clone() } else { format!("{}…", self.text) };
        let mut masked = masker.mask(&text).into_owned();
        let is_cut = !self.is_whole() || masked.len() > self.limit;
        masked.truncate(masked.floor_char_boundary(self.limit));
        let mut kept = json!({ "text": masked, "bytes": self.bytes });
        if is_cut {
            kept["cut"] = true.into();
        }
        kept
    }

    /// The value that the text is, without secrets; or its beginning as a text if it is too long, or can't be kept as
    /// a value: a secret is in a name or a number, or a number would change.
    fn kept_json(&self, masker: &Masker) -> Value {
        if self.is_whole()
            && self.bytes <= self.limit
            && let Some(value) = masked_value(&self.text, masker)
        {
            return json!({ "value": value, "bytes": self.bytes });
        }
        self.kept(masker)
    }
}

/// A value without secrets, if it is one afterwards.
fn masked_value(text: &str, masker: &Masker) -> Option<Value> {
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    if !strict_json::keeps_numbers(raw) {
        return None;
    }
    // Masks the parsed value, so that escapes can't hide a secret.
    let mut value: Value = serde_json::from_str(text).ok()?;
    masker.mask_value(&mut value);
    let written = value.to_string();
    (masker.mask(&written) == written).then_some(value)
}

/// The output of an execution. Each part is a little longer than what is kept of it: secrets are masked first.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    result: Option<Cut>,
    stdout: Option<Cut>,
    stderr: Option<Cut>,
    content: Vec<Cut>,
    /// Parts that were left out because there were too many.
    content_left_out: usize,
}

impl Parts {
    /// The parts of an outcome; `output` bounds what is kept of them together, in bytes.
    pub(crate) fn of(outcome: &Outcome, output: usize) -> Self {
        let content = first(&outcome.content);
        let mut sizes = vec![
            outcome.result.as_ref().map_or(0, |result| result.get().len()),
            outcome.stdout.len(),
            outcome.stderr.len(),
        ];
        sizes.extend(content.iter().map(|part| part.get().len()));
        let shares = shares(&sizes, output);
        let share = |part: usize| shares.get(part).copied().unwrap_or_default();
        let text = |text: &str, part| (!text.is_empty()).then(|| Cut::new(text, share(part)));
        Parts {
            result: outcome.result.as_ref().map(|result| Cut::new(result.get(), share(0))),
            stdout: text(&outcome.stdout, 1),
            stderr: text(&outcome.stderr, 2),
            content: content
                .iter()
                .zip(3..)
                .map(|(part, place)| Cut::new(part.get(), share(place)))
                .collect(),
            content_left_out: outcome.content.len() - content.len(),
        }
    }

    /// Their size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let Parts { result, stdout, stderr, content, .. } = self;
        result.iter().chain(stdout).chain(stderr).chain(content).map(|part| part.text.len()).sum()
    }
}

/// The first items of a list that are kept.
pub(crate) fn first<T>(items: &[T]) -> &[T] {
    items.get(..LISTED).unwrap_or(items)
}

/// Divides `room` bytes among the texts: short ones are kept whole, and the rest is divided evenly among the long ones.
fn shares(sizes: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|place| sizes.get(*place).copied().unwrap_or_default());
    let (mut left, mut shares) = (room, vec![0; sizes.len()]);
    for (done, place) in order.into_iter().enumerate() {
        let fair = left / (sizes.len() - done);
        if let (Some(share), Some(size)) = (shares.get_mut(place), sizes.get(place)) {
            *share = fair.min(*size);
            left -= *share;
        }
    }
    shares
}

/// The rest of an outcome with its output, as JSON.
pub(crate) fn outcome(rest: Value, parts: &Parts, masker: &Masker) -> String {
    let mut members = match rest {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    members.values_mut().for_each(|member| masker.mask_value(member));
    let mut put =
        |name: &str, value: Option<Value>| value.map(|value| members.insert(name.to_owned(), value));
    put("result", parts.result.as_ref().map(|result| result.kept_json(masker)));
    put("stdout", parts.stdout.as_ref().map(|text| text.kept(masker)));
    put("stderr", parts.stderr.as_ref().map(|text| text.kept(masker)));
    let content: Vec<Value> = parts.content.iter().map(|part| part.kept_json(masker)).collect();
    put("content", (!content.is_empty()).then(|| content.into()));
    put("content_left_out", (parts.content_left_out > 0).then(|| parts.content_left_out.into()));
    let written = Value::Object(members).to_string();
    // A secret in a name of the evidence is masked in the text.
    let masked = masker.mask(&written);
    match serde_json::from_str::<IgnoredAny>(&masked) {
        Ok(_) => masked.into_owned(),
        Err(_) => {
            json!({ "left_out": "the outcome contains a secret in a place that can't be masked" }).to_string()
        }
    }
}

/// A snippet without secrets, and whether that is the snippet as sent.
pub(crate) fn code(code: &str, masker: &Masker) -> (String, bool) {
    let masked = masker.mask(code);
    let is_whole = masked == code;
    (masked.into_owned(), is_whole)
}

/// The first line of a snippet that says something, or the beginning of an error, for a list.
pub(crate) fn title(text: &str, masker: &Masker) -> String {
    let lines =
        text.lines().map(|line| line.trim().trim_start_matches("//").trim_start_matches(['/', '!', ' ']));
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with("```"));
    let line = lines.next().unwrap_or_default();
    let cut = Cut::new(line, TITLE * 4);
    masker.mask(&cut.text).chars().take(TITLE).collect()
}

/// The arguments of a call.
#[derive(Debug)]
pub(crate) struct SentArguments {
    pub(crate) bytes: usize,
    content: ArgumentsContent,
}

#[derive(Debug)]
enum ArgumentsContent {
    /// A copy, which the writing thread reads.
    Text(Box<RawValue>),
    /// The facts that the writing thread needs of arguments that are not copied, because they may be large.
    Summary { hash: blake3::Hash, tokens: u64 },
}

/// Returns the kept form of arguments, as JSON.
pub(crate) fn arguments(
    sent: &SentArguments,
    (amount, masker): (ArgumentsKept, &Masker),
    key: &[u8; 32],
) -> Option<String> {
    if amount == ArgumentsKept::None {
        return None;
    }
    let hash = keyed(key, &sent.hash());
    let mut kept = json!({ "bytes": sent.bytes, "hash": hash });
    if amount == ArgumentsKept::Full {
        let whole = sent.text().map(|text| Cut::new(text, ARGUMENTS).kept_json(masker));
        match whole {
            Some(Value::Object(whole)) => {
                let whole = whole.into_iter().filter(|(name, _)| name != "bytes");
                whole.for_each(|(name, value)| kept[name] = value);
            }
            _ => kept["cut"] = true.into(),
        }
    }
    Some(kept.to_string())
}

/// A hash of this file only: without its key, nobody can confirm a guess of what was hashed.
pub(crate) fn keyed(key: &[u8; 32], hash: &blake3::Hash) -> String {
    blake3::keyed_hash(key, hash.as_bytes()).to_hex().to_string()
}

impl SentArguments {
    /// Copies arguments that are short or kept in full, and hashes others.
    pub(crate) fn of(raw: &RawValue, kept: ArgumentsKept) -> Self {
        let text = raw.get();
        let limit = if kept == ArgumentsKept::Full { ARGUMENTS_READ } else { ARGUMENTS_COPIED };
        let content = if text.len() <= limit {
            ArgumentsContent::Text(raw.to_owned())
        } else {
            ArgumentsContent::Summary { hash: blake3::hash(text.as_bytes()), tokens: estimate(text) }
        };
        SentArguments { bytes: text.len(), content }
    }

    /// The arguments, if they were copied.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            ArgumentsContent::Text(text) => Some(text.get()),
            ArgumentsContent::Summary { .. } => None,
        }
    }

    fn hash(&self) -> blake3::Hash {
        match &self.content {
            ArgumentsContent::Text(text) => blake3::hash(text.get().as_bytes()),
            ArgumentsContent::Summary { hash, .. } => *hash,
        }
    }

    /// An estimate of their tokens.
    pub(crate) fn tokens(&self) -> u64 {
        match &self.content {
            ArgumentsContent::Text(text) => estimate(text.get()),
            ArgumentsContent::Summary { tokens, .. } => *tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_and_hashed_arguments_are_recorded_alike() {
        let raw =
            RawValue::from_string(json!({ "text": "word ".repeat(ARGUMENTS_COPIED) }).to_string()).unwrap();
        let [copied, hashed] =
            [ArgumentsKept::Full, ArgumentsKept::Hash].map(|kept| SentArguments::of(&raw, kept));
        assert_eq!((copied.text(), hashed.text()), (Some(raw.get()), None));
        assert_eq!(
            (copied.bytes, copied.hash(), copied.tokens()),
            (hashed.bytes, hashed.hash(), hashed.tokens())
        );
        let short = RawValue::from_string("{}".to_owned()).unwrap();
        assert_eq!(SentArguments::of(&short, ArgumentsKept::Hash).text(), Some("{}"));
    }
}
