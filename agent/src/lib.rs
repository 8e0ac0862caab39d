//! A model and its tools in a loop: what a model is asked, what it answers, which tools it calls, what is kept of it.
//!
//! This crate knows neither MCP nor snippets: it reaches tools through [`Toolset`] and models through [`ChatModel`].
//! A [`Run`] takes a conversation from a message of a person, or of another agent, to the model's last word, within
//! [`Limits`]; a [`Watcher`] sees everything that happens meanwhile, and keeps it where it wants to.

mod budget;
mod event;
mod final_answer;
mod forward;
mod message;
mod model;
mod provider;
mod run;
mod settings;
mod store;
mod toolset;

pub use budget::{CHARACTERS_PER_TOKEN, cut};
pub use event::{Event, Silent, Watcher};
pub use final_answer::{FINAL_ANSWER, FinalAnswer};
pub use forward::{ADDRESS_VARIABLE, EventKind, Listener, Poster, SubagentEvent};
pub use message::{Block, Message, Role, ToolCall, ToolResult};
pub use model::{ChatModel, Delta, Heard, ModelError, ModelErrorKind, Reply, Request, Stop, Usage};
pub use provider::Provider;
pub use run::{Answer, Limits, Run, RunError};
pub use settings::{Api, Generation, ModelSettings, Thinking};
pub use store::{Conversation, Kept, NewConversation, Store, StoreError, Summary};
pub use toolset::{ToolDefinition, Toolset};
