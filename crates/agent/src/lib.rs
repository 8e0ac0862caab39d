//! A model and its tools in a loop: requests, replies, tool calls, and stored conversations.
//!
//! This crate knows neither MCP nor snippets: it reaches tools through [`Toolset`] and models through [`ChatModel`]. A
//! [`Run`] takes a conversation from a message of the user, or of another agent, to the model's final reply, within
//! [`Limits`]; a [`Watcher`] receives all events, and may store them.

#![forbid(unsafe_code)]

#[cfg(feature = "run")]
mod budget;
#[cfg(feature = "run")]
mod event;
#[cfg(feature = "run")]
mod final_answer;
#[cfg(feature = "run")]
mod history;
mod message;
mod model;
#[cfg(feature = "run")]
mod provider;
#[cfg(feature = "run")]
mod run;
mod settings;
#[cfg(feature = "run")]
mod store;
#[cfg_attr(not(feature = "run"), allow(dead_code, reason = "only the poster uses its limits"))]
mod subagent_events;
mod toolset;

#[cfg(feature = "run")]
pub use budget::{CHARACTERS_PER_TOKEN, cut};
#[cfg(feature = "run")]
pub use event::{Compaction, Event, Silent, Watcher};
#[cfg(feature = "run")]
pub use final_answer::{AnswerSchemaError, FINAL_ANSWER, FinalAnswer};
#[cfg(feature = "run")]
pub use history::History;
pub use message::{Block, Message, Role, ToolCall, ToolResult};
pub use model::{ChatModel, Delta, DeltaSink, ModelError, ModelErrorKind, Reply, Request, Stop, Usage};
#[cfg(feature = "run")]
pub use provider::{Provider, SettingsError, SettingsErrorKind};
#[cfg(feature = "run")]
pub use run::{Answer, ContextWindow, Limits, Run, RunError};
pub use settings::{Api, Generation, ModelSettings, Thinking};
#[cfg(feature = "run")]
pub use store::{Conversation, NewConversation, Store, StoreError, StoreErrorKind, StoredMessage, Summary};
pub use subagent_events::{ADDRESS_VARIABLE, EventBatch, EventKind, MAX_BATCH, MOST_EVENTS, SubagentEvent};
#[cfg(feature = "run")]
pub use subagent_events::{EventPoster, ListenerError};
pub use toolset::{ToolDefinition, ToolsError, Toolset};
