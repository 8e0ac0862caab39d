//! A model's interface for the loop: it takes a conversation and tools, and returns a message.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::toolset::ToolDefinition;

/// A model. Dropping the future of a reply cancels the request.
pub trait ChatModel: Send + Sync {
    /// Its name in the configuration.
    fn name(&self) -> &str;

    /// Requests the next message. `sink` receives the parts of the reply as they arrive, and retries.
    fn reply<'a>(
        &'a self,
        request: &'a Request<'a>,
        sink: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// A request to a model.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Instructions for the whole conversation.
    pub system: &'a str,
    /// The conversation so far; the last message is the user's or the tools'.
    pub messages: &'a [Message],
    /// The available tools.
    pub tools: &'a [ToolDefinition],
}

/// A model's reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The assistant's message.
    pub message: Message,
    /// The reason why the message ends.
    pub stop: Stop,
    /// The tokens used.
    pub usage: Usage,
}

/// The reason why a model's message ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The message is complete.
    End,
    /// The model waits for its tool calls.
    ToolCalls,
    /// The message reached its maximum length.
    Length,
    /// The provider refuses to continue.
    Refused(String),
    /// Another reason of the provider.
    Other(String),
}

/// Token counts, as reported by the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, including cached ones.
    pub input: u64,
    /// Output tokens, including thoughts.
    pub output: u64,
    /// The part of `input` that the provider had cached.
    #[serde(default)]
    pub cached: u64,
}

impl Usage {
    /// All tokens.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The sum with the usage of another reply.
    #[must_use]
    pub fn and(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
        }
    }
}

/// A part of a reply that is still incomplete.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delta<'a> {
    /// More of the text.
    Text(&'a str),
    /// More of the thoughts.
    Thinking(&'a str),
    /// The request failed and is retried; the parts received so far are invalid.
    Retry {
        /// The number of the failed attempt, from 1 on.
        attempt: u32,
        /// The wait before the next one.
        wait: Duration,
        /// The reason why it failed.
        why: &'a str,
    },
}

/// Receives the parts of a reply as they arrive. It must not take long.
pub trait DeltaSink: Send + Sync {
    /// Handles a part.
    fn delta(&self, delta: Delta<'_>);
}

/// An error that prevented a model's reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{model}: {message}")]
pub struct ModelError {
    /// The model's name in the configuration.
    pub model: String,
    /// The kind of failure.
    pub kind: ModelErrorKind,
    /// The failure and its remedy, without any key.
    pub message: String,
}

/// The kind of a model's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The provider rejected the request, and would reject it again.
    Refused,
    /// The key is missing or wrong.
    Unauthorized,
    /// Too many requests, even after all attempts.
    RateLimited,
    /// The provider failed, even after all attempts.
    Provider,
    /// The provider was not reached, or the connection broke, even after all attempts.
    Network,
    /// The time limit was reached.
    Timeout,
    /// The reply does not match the provider's documentation.
    Malformed,
}
