//! Generated bindings: one module per MCP server.
//!
//! The bindings of the demo server are checked in as an example of generated code, and so that the crate compiles as it
//! is.

#[rustfmt::skip]
pub mod demo;
