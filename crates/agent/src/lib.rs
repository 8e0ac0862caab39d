//! A model and its tools in a loop: requests, replies, tool calls, and stored conversations.
//!
//! This crate knows neither MCP nor snippets: it reaches tools through [`Toolset`] and models through [`ChatModel`]. A
//! [`Run`] takes a conversation from a message of the user, or of another agent, to the model's final reply, within
//! [`Limits`]; a [`Watcher`] receives all events, and may store them.

#![forbid(unsafe_code)]

mod budget;
mod event;
mod final_answer;
mod history;
mod message;
mod model;
mod provider;
mod run;
mod settings;
mod store;
mod subagent_events;
mod toolset;

pub use budget::{CHARACTERS_PER_TOKEN, cut};
pub use event::{Compaction, Event, Silent, Watcher};
pub use final_answer::{AnswerSchemaError, FINAL_ANSWER, FinalAnswer};
pub use history::History;
pub use message::{Block, Message, Role, ToolCall, ToolResult};
pub use model::{ChatModel, Delta, DeltaSink, ModelError, ModelErrorKind, Reply, Request, Stop, Usage};
pub use provider::{Provider, SettingsError, SettingsErrorKind};
pub use run::{Answer, ContextWindow, Limits, Run, RunError};
pub use settings::{Api, Generation, ModelSettings, Thinking};
pub use store::{Conversation, NewConversation, Store, StoreError, StoreErrorKind, StoredMessage, Summary};
pub use subagent_events::{
    ADDRESS_VARIABLE, EventBatch, EventKind, EventPoster, ListenerError, MAX_BATCH, MOST_EVENTS,
    SubagentEvent,
};
pub use toolset::{ToolDefinition, ToolsError, Toolset};
