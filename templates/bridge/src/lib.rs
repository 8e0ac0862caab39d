//! The library that a generated program links: the wire types of the broker, the program's end of it, and the helpers
//! for snippets and generated bindings.
//!
//! The host links the same crate for [`wire`], [`frame`] and [`presentable`], so that both ends agree. The bindings
//! define the tools and the host decides on calls; this crate only carries them.

mod answer;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod arbitrary;
mod args;
pub mod blocks;
pub mod call;
#[allow(unsafe_code, reason = "takes the socket that the host opened before the program started")]
mod client;
mod content;
pub mod convert;
mod error;
mod fault;
pub mod frame;
mod generated;
mod helpers;
pub mod instantiate;
mod items;
mod lookup;
mod origin;
mod panics;
pub mod prelude;
mod python;
mod resource;
pub mod result;
mod run;
mod scalar;
pub mod size;
pub mod tail;
pub mod tool;
mod union;
mod unmade;
mod unread;
mod view;
mod warning;
pub mod wire;
mod written;

pub use args::{Args, PROGRAM_ARGUMENTS};
pub use blocks::emit;
pub use content::{Content, presentable};
pub use convert::Extra;
pub use error::{ToolError, ToolErrorKind};
pub use fault::fault;
pub use helpers::{Amount, concurrently, progress};
pub use lookup::{DescribeTools, SearchTools, describe_tools, search_tools};
pub use origin::{Edited, Origin};
pub use resource::{
    ListResources, ReadResource, Resource, ResourceContent, mcp_resource_read, mcp_resources_list,
};
pub use result::ToolResult;
pub use run::{
    Encoded, Failure, RESULT_LIMIT, Running, STACK, encode, encoding, on_thread, outside_runtime, run,
};
pub use scalar::Scalar;

/// The result type of snippets: any error converts into [`anyhow::Error`] with `?`.
pub type Result<T, E = anyhow::Error> = std::result::Result<T, E>;
