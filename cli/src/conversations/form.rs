//! Conversations as JSON: what `list --json`, `print --json` and `export` print.

use std::time::{Duration, SystemTime};

use agent::{Block, Kept, Summary, Usage};
use serde::Serialize;

use crate::calendar;
use crate::failure::Failure;

/// A conversation.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Conversation<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_run: Option<&'a str>,
    model: &'a str,
    folder: &'a str,
    title: &'a str,
    begun: String,
    changed: String,
    usage: Usage,
    /// How many there are, in all branches.
    message_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Message<'a>>>,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    id: &'a str,
    parent: Option<&'a str>,
    at: String,
    role: &'static str,
    blocks: &'a [Block],
    usage: Usage,
}

impl<'a> Conversation<'a> {
    /// Without messages.
    pub(super) fn of(summary: &'a Summary) -> Self {
        Conversation {
            id: &summary.id,
            label: summary.about.label.as_deref(),
            parent_run: summary.about.parent_run.as_deref(),
            model: &summary.about.model,
            folder: &summary.about.folder,
            title: &summary.title,
            begun: time(summary.begun),
            changed: time(summary.changed),
            usage: summary.usage,
            message_count: summary.messages,
            messages: None,
        }
    }

    /// With these messages.
    pub(super) fn with(summary: &'a Summary, messages: &'a [Kept]) -> Self {
        let messages = messages.iter().map(|kept| Message {
            id: &kept.id,
            parent: kept.parent.as_deref(),
            at: time(kept.at),
            role: kept.message.role.name(),
            blocks: &kept.message.blocks,
            usage: kept.usage,
        });
        Conversation { messages: Some(messages.collect()), ..Self::of(summary) }
    }
}

/// A time in milliseconds since 1970 as RFC 3339 has it, in UTC.
pub(super) fn time(at: i64) -> String {
    let since = Duration::from_millis(u64::try_from(at).unwrap_or(0));
    SystemTime::UNIX_EPOCH.checked_add(since).map(calendar::timestamp).unwrap_or_default()
}

/// JSON in which everything is escaped that is invisible, which means the same.
pub(super) fn json(value: &impl Serialize, pretty: bool) -> Result<String, Failure> {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    Ok(printable::json(&text.map_err(Failure::host)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_terminals_is_escaped_and_means_the_same() {
        let text = "a\u{1b}[2J\u{9b}31m\u{202e}\u{7f}\n\"é🦀";
        let written = json(&[text], false).unwrap();
        assert!(written.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{written:?}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&written).unwrap()[0], text);
        assert!(json(&[text], true).unwrap().contains('\n'));
    }

    #[test]
    fn times_out_of_reach_are_no_panic() {
        assert_eq!(time(1_500), "1970-01-01T00:00:01.500Z");
        assert_eq!(time(-1), "1970-01-01T00:00:00.000Z");
        time(i64::MAX);
    }
}
