//! Code mode in a Rust program. A model writes a snippet of Rust against typed functions, and this library compiles it,
//! runs it in a sandbox, carries its calls to MCP servers and to functions of the program, and returns the outcome.
//!
//! ```no_run
//! use toolsmith::{Server, Toolsmith};
//!
//! #[derive(serde::Serialize, schemars::JsonSchema)]
//! struct Order {
//!     id: String,
//!     total_cents: u64,
//! }
//!
//! /// Returns an order.
//! #[toolsmith::tool(server = "shop")]
//! async fn get_order(id: String) -> Result<Order, std::io::Error> {
//!     Ok(Order { id, total_cents: 1_990 })
//! }
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let toolsmith = Toolsmith::builder()
//!     .server("files", Server::stdio("npx").args(["-y", "@modelcontextprotocol/server-filesystem", "/data"]))
//!     .tool(get_order)
//!     .allow("shop.*")
//!     .permission(|question| async move {
//!         println!("{question}");
//!         toolsmith::Decision::No
//!     })
//!     .build()
//!     .await?;
//! let outcome = toolsmith.execute("shop::get_order(\"c-1\").await?.total_cents").await?;
//! assert_eq!(outcome.value::<u64>()?, 1_990);
//! # Ok(())
//! # }
//! ```
//!
//! # The sandbox's helper
//!
//! Compilers and programs are confined by a helper process. Either a program calls [`helper`] first in its `main`, and is
//! its own helper, or it has the program `toolsmith-sandbox` and names it with [`Builder::helper`].
//!
//! # What it uses of the process
//!
//! It prints nothing, installs no signal handlers, and needs a runtime of tokio. The environment is read for the folder of
//! the cache, unless [`Builder::cache`] names one, to find programs and the Rust toolchain, for proxies and certificates,
//! and for values that look like secrets by their names, which errors then mask. All values of a process share these
//! secrets, the cache, the helper, and the cryptography of TLS: the first server over HTTP installs that of ring as the
//! default of rustls.
//!
//! # Features
//!
//! `rmcp` has a handler for MCP clients ([`Toolsmith`]`::handler`), and `agent` makes definitions tools of the crate
//! genai. Both are off by default.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod answer;
mod builder;
mod description;
mod error;
mod event;
mod execute;
#[cfg(feature = "rmcp")]
mod handler;
mod host;
mod local;
mod permission;
mod program;
mod recording;
mod server;
mod tool;
mod toolsmith;

pub use answer::Answer;
pub use builder::Builder;
pub use description::Definition;
pub use error::Error;
pub use event::{Event, Events};
pub use execute::Execute;
#[cfg(feature = "rmcp")]
pub use handler::Handler;
pub use permission::{Decision, PermissionRequest};
pub use program::Program;
pub use recording::{RecordedOutcome, Recording, ReplayedOutcome};
pub use runner::{
    CachedAnswer, CallRecord, CallsRefused, Failure, Outcome, Phase, Phases, SandboxReport, Status, Truncated,
};
pub use server::Server;
pub use snippet::{Diagnostic, Fix};
pub use tool::{IntoTool, Progress, Tool, ToolError};
pub use toolsmith::Toolsmith;
pub use toolsmith_macros::tool;

/// The parts that the code of [`tool`](macro@tool) names.
#[doc(hidden)]
pub mod macros {
    pub use schemars;
    pub use serde;
}

/// Makes this program the helper of its sandbox. Call it first in `main`, before any thread is started: in a normal start
/// it returns at once, and in the helper it never returns.
///
/// ```no_run
/// toolsmith::helper();
/// tokio::runtime::Runtime::new()?.block_on(async { /* … */ });
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn helper() {
    sandbox::entry();
    mcp::entry();
}
