//! Models with the tools of all servers: at the terminal (`toolsmith chat` and `ask`), and as one tool of an MCP server
//! (`toolsmith mcp serve`).

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod ask;
mod assistant;
pub mod check;
mod console;
pub mod conversations;
mod options;
mod subagent;

pub use ask::ask;
pub use console::chat;
pub use options::{AskOptions, TalkOptions};
pub use subagent::serve;
