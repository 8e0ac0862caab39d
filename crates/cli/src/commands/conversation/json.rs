//! Conversations as JSON, for `list --json`, `print --json` and `export`.

use agent::{Block, StoredMessage, Summary, Usage};
use serde::Serialize;

use gateway::failure::Failure;
use system::calendar::of_milliseconds;

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
    /// The number of messages in all branches.
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
    /// A conversation without its messages.
    pub(super) fn of(summary: &'a Summary) -> Self {
        Conversation {
            id: &summary.id,
            label: summary.about.label.as_deref(),
            parent_run: summary.about.parent_run.as_deref(),
            model: &summary.about.model,
            folder: &summary.about.folder,
            title: &summary.title,
            begun: of_milliseconds(summary.begun),
            changed: of_milliseconds(summary.changed),
            usage: summary.usage,
            message_count: summary.messages,
            messages: None,
        }
    }

    /// A conversation with these messages.
    pub(super) fn with(summary: &'a Summary, messages: &'a [StoredMessage]) -> Self {
        let messages = messages.iter().map(|kept| Message {
            id: &kept.id,
            parent: kept.parent.as_deref(),
            at: of_milliseconds(kept.at),
            role: kept.message.role.name(),
            blocks: &kept.message.blocks,
            usage: kept.usage,
        });
        Conversation { messages: Some(messages.collect()), ..Self::of(summary) }
    }
}

/// Writes JSON with invisible and control characters escaped, which does not change its meaning.
pub(super) fn json(value: &impl Serialize, pretty: bool) -> Result<String, Failure> {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    Ok(printable::json(&text.map_err(Failure::system)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_without_changing_the_meaning() {
        let text = "a\u{1b}[2J\u{9b}31m\u{202e}\u{7f}\n\"é🦀";
        let written = json(&[text], false).unwrap();
        assert!(written.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{written:?}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&written).unwrap()[0], text);
        assert!(json(&[text], true).unwrap().contains('\n'));
    }
}
