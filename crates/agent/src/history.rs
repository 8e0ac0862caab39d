//! A conversation in memory: every message, and the part that a model reads.
//!
//! A summary replaces the messages before it for the model only. The messages themselves stay, here and in the store.

use std::borrow::Cow;

use crate::budget::CHARACTERS_PER_TOKEN;
use crate::message::{Block, Message, Role};
use crate::model::Usage;
use crate::store::StoredMessage;

/// Tokens that are assumed for an image, a sound or a document: providers do not count them by their bytes.
const MEDIA_TOKENS: u64 = 1_600;

/// Introduces a summary to the model.
const SUMMARY_INTRODUCTION: &str = "The conversation so far was summarized, because it became too long:";

/// Introduces to the model the task that was in progress when a summary was made.
const TASK_INTRODUCTION: &str =
    "The task in progress, in the user's own words. Continue it from where the summary ends:";

/// A conversation: its messages in order, with the tokens that the provider has counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    messages: Vec<Message>,
    /// The number of messages that the provider has counted, and the tokens of the request and reply.
    counted: Option<(usize, u64)>,
}

impl History {
    /// Adds a message; `usage` is that of the reply, and zero for other messages.
    pub fn push(&mut self, message: Message, usage: Usage) {
        let is_counted = message.role == Role::Assistant && usage.total() > 0;
        let is_summary = summary(&message).is_some();
        self.messages.push(message);
        if is_counted {
            self.counted = Some((self.messages.len(), usage.total()));
        } else if is_summary {
            self.counted = None;
        }
    }

    /// All messages, including those that a summary replaces for the model.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The messages that a model reads: the last summary and what follows it, or all messages.
    #[must_use]
    pub fn for_model(&self) -> Cow<'_, [Message]> {
        let Some((at, text)) = self.last_summary() else { return Cow::Borrowed(&self.messages) };
        let (before, after) = (self.messages.get(..at), self.messages.get(at + 1..));
        let (before, mut after) = (before.unwrap_or_default(), after.unwrap_or_default());
        // The summary may repeat what a tool returned: it must not end its own mark.
        let text = text.replace("</summary", "</ summary");
        let mut blocks = vec![Block::text(format!("{SUMMARY_INTRODUCTION}\n<summary>\n{text}\n</summary>"))];
        if let Some(task) = task_in_progress(before) {
            blocks.push(Block::text(TASK_INTRODUCTION));
            blocks.extend(task.blocks.iter().cloned());
        }
        // Not every provider accepts two messages of the user in a row.
        if let Some((next, rest)) = after.split_first().filter(|(next, _)| next.role == Role::User) {
            blocks.extend(next.blocks.iter().cloned());
            after = rest;
        }
        Cow::Owned(
            std::iter::once(Message { role: Role::User, blocks }).chain(after.iter().cloned()).collect(),
        )
    }

    /// About how many tokens the messages for the model have: as counted by the provider, and estimated from there on.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        match self.counted {
            Some((count, tokens)) => {
                let uncounted = self.messages.get(count..).unwrap_or_default();
                tokens.saturating_add(uncounted.iter().map(estimate).sum())
            }
            None => self.for_model().iter().map(estimate).sum(),
        }
    }

    /// Whether the model has answered since the last summary, so that another one would have something to summarize.
    pub(crate) fn has_grown(&self) -> bool {
        let since = self.last_summary().map_or(0, |(at, _)| at + 1);
        self.messages.get(since..).unwrap_or_default().iter().any(|message| message.role == Role::Assistant)
    }

    fn last_summary(&self) -> Option<(usize, &str)> {
        let summaries = self.messages.iter().enumerate().rev();
        summaries.into_iter().find_map(|(at, message)| Some((at, summary(message)?)))
    }
}

impl FromIterator<StoredMessage> for History {
    fn from_iter<T: IntoIterator<Item = StoredMessage>>(stored: T) -> Self {
        let mut history = History::default();
        stored.into_iter().for_each(|kept| history.push(kept.message, kept.usage));
        history
    }
}

/// The summary that a message consists of.
fn summary(message: &Message) -> Option<&str> {
    message.blocks.iter().find_map(|block| match block {
        Block::Summary { text } => Some(text.as_str()),
        _ => None,
    })
}

/// The user's last message, unless the model has answered it.
fn task_in_progress(messages: &[Message]) -> Option<&Message> {
    let is_answered =
        messages.last().is_none_or(|last| last.role == Role::Assistant && last.calls().is_empty());
    let is_task = |message: &&Message| message.role == Role::User && summary(message).is_none();
    if is_answered { None } else { messages.iter().rev().find(is_task) }
}

/// About how many tokens a message has.
pub(crate) fn estimate(message: &Message) -> u64 {
    message.blocks.iter().map(block_tokens).sum()
}

fn block_tokens(block: &Block) -> u64 {
    match block {
        Block::Text { text } | Block::Thinking { text, .. } | Block::Summary { text } => text_tokens(text),
        Block::Media { .. } => MEDIA_TOKENS,
        Block::ToolCall(call) => text_tokens(&call.name) + text_tokens(&call.arguments.to_string()),
        Block::ToolResult(result) => result.blocks.iter().map(block_tokens).sum(),
    }
}

/// About how many tokens a text has. Bytes are counted, because characters outside of ASCII have more tokens.
pub(crate) fn text_tokens(text: &str) -> u64 {
    u64::try_from(text.len().div_ceil(CHARACTERS_PER_TOKEN)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::ToolCall;

    fn said(history: &mut History, role: Role, text: &str) {
        history.push(Message::text(role, text), Usage::default());
    }

    fn summarized(history: &mut History, text: &str) {
        let blocks = vec![Block::Summary { text: text.to_owned() }];
        history.push(Message { role: Role::User, blocks }, Usage { input: 900, output: 9, cached: 0 });
    }

    #[test]
    fn a_model_reads_the_last_summary_and_what_follows_it() {
        let mut history = History::default();
        said(&mut history, Role::User, "first");
        said(&mut history, Role::Assistant, "one");
        assert_eq!(*history.for_model(), *history.messages());
        summarized(&mut history, "old summary");
        said(&mut history, Role::User, "second");
        said(&mut history, Role::Assistant, "two");
        summarized(&mut history, "new summary");
        said(&mut history, Role::User, "third");
        let read = history.for_model();
        assert_eq!((read.len(), read[0].role), (1, Role::User));
        let text = read[0].texts();
        assert!(text.contains("new summary") && text.ends_with("third"), "{text}");
        assert!(!text.contains("old summary") && !text.contains("second"), "{text}");
        assert_eq!(history.messages().len(), 7);
    }

    #[test]
    fn a_task_in_progress_stays_in_the_users_words() {
        let mut history = History::default();
        said(&mut history, Role::User, "do it all");
        let call =
            ToolCall { id: "1".into(), name: "t".into(), arguments: json!({}), signatures: Vec::new() };
        let blocks = vec![Block::ToolCall(call)];
        history.push(Message { role: Role::Assistant, blocks }, Usage::default());
        said(&mut history, Role::Tool, "half done");
        summarized(&mut history, "half is done");
        said(&mut history, Role::Assistant, "going on");
        let read = history.for_model();
        assert_eq!(read.len(), 2);
        assert!(read[0].texts().contains("half is done") && read[0].texts().ends_with("do it all"));
    }

    #[test]
    fn tokens_are_counted_by_the_provider_and_estimated_from_there_on() {
        let mut history = History::default();
        said(&mut history, Role::User, "12345678");
        assert_eq!(history.tokens(), 2);
        history.push(Message::text(Role::Assistant, "x"), Usage { input: 100, output: 20, cached: 90 });
        said(&mut history, Role::User, "12345");
        assert_eq!(history.tokens(), 122);
        assert!(history.has_grown());
        summarized(&mut history, "short");
        assert!(history.tokens() < 60 && !history.has_grown(), "{}", history.tokens());
    }
}
