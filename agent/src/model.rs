//! A model as the loop sees it: asked with a conversation and tools, it answers with a message.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::toolset::ToolDefinition;

/// A model. Dropping the future of a reply gives the request up.
pub trait ChatModel: Send + Sync {
    /// What it is called in the configuration.
    fn name(&self) -> &str;

    /// Asks for the next message. `heard` is told what comes before it is whole, and what is tried again.
    fn reply<'a>(
        &'a self,
        request: &'a Request<'a>,
        heard: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What holds for the whole conversation.
    pub system: &'a str,
    /// The conversation up to now; the last message is a user's or the tools'.
    pub messages: &'a [Message],
    /// The tools that it may call.
    pub tools: &'a [ToolDefinition],
}

/// What a model answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The assistant's message.
    pub message: Message,
    /// Why it ends there.
    pub stop: Stop,
    /// What it cost.
    pub usage: Usage,
}

/// Why a model's message ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It has said what it had to say.
    End,
    /// It waits for the tools that it has called.
    ToolCalls,
    /// Its message is as long as it may be.
    Length,
    /// The provider refuses to let it go on.
    Refused(String),
    /// For a reason that only the provider knows.
    Other(String),
}

/// Tokens, as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read, cached ones included.
    pub input: u64,
    /// Written, thoughts included.
    pub output: u64,
    /// Of `input`: those that the provider had cached.
    #[serde(default)]
    pub cached: u64,
}

impl Usage {
    /// All tokens.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// With what another reply cost.
    #[must_use]
    pub fn and(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
        }
    }
}

/// What comes before a reply is whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delta<'a> {
    /// More of the text.
    Text(&'a str),
    /// More of the thoughts.
    Thinking(&'a str),
    /// The request failed and is made again; what was heard of its reply does not count.
    Retry {
        /// Which attempt failed, from 1 on.
        attempt: u32,
        /// How long is waited before the next one.
        wait: Duration,
        /// Why it failed.
        why: &'a str,
    },
}

/// Who is told what comes before a reply is whole. It must not take long.
pub trait DeltaSink: Send + Sync {
    /// Something came.
    fn delta(&self, delta: Delta<'_>);
}

/// Why a model did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{model}: {message}")]
pub struct ModelError {
    /// What the model is called in the configuration.
    pub model: String,
    /// What kind of failure it is.
    pub kind: ModelErrorKind,
    /// What happened and what to do, without any key.
    pub message: String,
}

/// What kind of failure a model's is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The provider refused the request: another one like it would be refused as well.
    Refused,
    /// The key is missing or wrong.
    Unauthorized,
    /// Too many requests, still after all attempts.
    RateLimited,
    /// The provider failed, still after all attempts.
    Provider,
    /// The provider was not reached, or broke off, still after all attempts.
    Network,
    /// It took too long.
    Timeout,
    /// What it answered is not what its provider's documentation says.
    Malformed,
}
