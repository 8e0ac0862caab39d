//! Estimates what an execution costs a model in tokens, and what its calls would have cost as direct calls.
//!
//! The estimate is [`codegen::tokens`], which is compared with a real tokeniser in its tests.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Longer texts are estimated by their beginning, in bytes.
const SAMPLE: usize = 16 << 10;

/// Longer results are counted by their size, in bytes: copying and parsing them would take too long.
const RESULT: usize = 1 << 20;

/// Bytes per token of a result that is counted by its size.
const BYTES_PER_TOKEN: usize = 4;

/// Estimates the tokens of a text; of a long one by its first 16 KiB.
pub(crate) fn estimate(text: &str) -> u64 {
    let sample = text.get(..text.floor_char_boundary(SAMPLE)).unwrap_or_default();
    let tokens = codegen::tokens(sample);
    let whole = match sample.len() {
        0 => 0,
        _ if sample.len() == text.len() => tokens,
        bytes => usize::try_from(tokens as u128 * text.len() as u128 / bytes as u128).unwrap_or(usize::MAX),
    };
    u64::try_from(whole).unwrap_or(u64::MAX)
}

/// A result, as a model would have read it after a direct call.
#[derive(Debug)]
pub(crate) enum Direct {
    /// The result (MCP's `CallToolResult`).
    Result(Box<RawValue>),
    /// The size of a result that is too large to be copied, in bytes.
    Size(usize),
    /// Nothing was answered.
    Nothing,
}

/// The parts of a result that a model reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultParts<'a> {
    #[serde(borrow, default)]
    content: Vec<Part<'a>>,
    #[serde(borrow, default)]
    structured_content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<std::borrow::Cow<'a, str>>,
}

impl Direct {
    /// The part of a result that the estimate needs.
    pub(crate) fn of(result: &RawValue) -> Self {
        match result.get().len() {
            bytes if bytes > RESULT => Direct::Size(bytes),
            _ => Direct::Result(result.to_owned()),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Direct::Result(result) => result.get().len(),
            Direct::Size(_) | Direct::Nothing => 0,
        }
    }

    /// Estimates the tokens of the result's texts; of its structured content, if it has no text. Images and sound are
    /// not counted.
    pub(crate) fn tokens(&self) -> u64 {
        match self {
            Direct::Nothing => 0,
            Direct::Size(bytes) => u64::try_from(bytes / BYTES_PER_TOKEN).unwrap_or(u64::MAX),
            Direct::Result(result) => {
                let Ok(parts) = serde_json::from_str::<ResultParts<'_>>(result.get()) else {
                    return estimate(result.get());
                };
                let texts: u64 =
                    parts.content.iter().filter_map(|part| part.text.as_deref()).map(estimate).sum();
                match parts.structured_content {
                    Some(structured) if texts == 0 => estimate(structured.get()),
                    _ => texts,
                }
            }
        }
    }
}
