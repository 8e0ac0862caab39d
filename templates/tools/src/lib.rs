//! Generated bindings: one module per MCP server.
//!
//! Checked in are those of the demo server, as an example of what the generator makes and so that the
//! crate compiles as it stands.

#[rustfmt::skip]
pub mod demo;
