//! The part of a configuration for the history of executions.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::age;
use super::decode::Problem;
use super::key_macros::{Kind, Merge as _, Written, section};
use super::key_types::{InvalidValue, Size};
use super::serve::ArgumentsKept;
use super::source::Document;

/// Minimum of `history.size`, in bytes: with less, one execution could displace most others.
const MIN_SIZE: u64 = 64 << 20;

section! {
    /// The history of executions, one file for all projects.
    #[serde(rename_all = "camelCase")]
    History from HistoryForm {
        /// Whether executions are kept (default: `true`, and `false` for servers over HTTP).
        enabled: Option<bool>,
        /// How long executions are kept: a number with s, m, h, d (days) or w (weeks), such as 30d.
        keep: Age = Duration::from_secs(30 * 86_400),
        /// Maximum disk space, such as 1GiB; beyond it, the oldest executions are deleted.
        size: Size<u64, MIN_SIZE> = 1 << 30,
        /// How much of the arguments of snippets and calls is kept.
        arguments: ArgumentsKept = ArgumentsKept::default(),
        /// Maximum size of what is kept of an execution's output, result and content together, such as 64KiB.
        output: Size<usize, 0> = 64 << 10,
        /// Whether the arguments and answers of calls are kept for `toolsmith run --replay`, at most 16 MiB of an
        /// execution.
        recordings: bool = false,
    }
}

/// An age such as `30d`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(inline)]
pub struct Age(#[schemars(with = "String")] Duration);

impl TryFrom<String> for Age {
    type Error = InvalidValue;

    fn try_from(text: String) -> Result<Self, InvalidValue> {
        match age::parse(&text) {
            Ok(age) if age.is_zero() => {
                Err(InvalidValue(format!("{text:?} is too short; write at least 1s")))
            }
            Ok(age) => Ok(Age(age)),
            Err(error) => Err(InvalidValue::of(error)),
        }
    }
}

impl Kind for Age {
    type Value = Duration;

    fn value(self) -> Duration {
        self.0
    }
}

impl Written for Age {
    fn written(value: &Duration) -> Json {
        json!(age::written(*value))
    }
}

/// Rates the amount that is kept, to compare.
fn amount(arguments: ArgumentsKept) -> u8 {
    match arguments {
        ArgumentsKept::None => 0,
        ArgumentsKept::Hash => 1,
        ArgumentsKept::Full => 2,
    }
}

/// The errors in a project's history: all projects share its file, and a project must not have more kept of what its
/// user does than the user allows. `weaker` is what the user's own configuration says. Keys with errors are removed.
pub(super) fn of_project(document: &Document, form: &mut HistoryForm, weaker: &HistoryForm) -> Vec<Problem> {
    let (users, own) = (weaker.clone().value(), form.clone().over(weaker.clone()).value());
    let keeps_more = users.enabled != Some(true) && own.enabled == Some(true);
    let shared = "all projects share the history";
    let more = "a project can't have more kept than you do";
    let wrong = [
        ("keep", form.keep.is_some(), shared),
        ("size", form.size.is_some(), shared),
        ("enabled", keeps_more, more),
        ("arguments", amount(own.arguments) > amount(users.arguments), more),
        ("output", own.output > users.output, more),
        ("recordings", own.recordings && !users.recordings, more),
    ];
    let (history, mut problems) = (document.tree.get("history"), Vec::new());
    for (name, _, why) in wrong.into_iter().filter(|(_, is_wrong, _)| *is_wrong) {
        match name {
            "keep" => form.keep = None,
            "size" => form.size = None,
            "enabled" => form.enabled = None,
            "arguments" => form.arguments = None,
            "recordings" => form.recordings = None,
            _ => form.output = None,
        }
        let Some(node) = history.and_then(|history| history.get(name)) else { continue };
        let message = format!(
            "a project can't set history.{name} to this, because {why}; set it in your own configuration, or in a file \
             that --config names"
        );
        problems.push(Problem { place: node.place, message });
    }
    problems
}
