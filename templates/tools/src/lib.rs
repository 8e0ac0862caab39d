//! Generated bindings: one module per MCP server.
//!
//! The bindings of the demo server are an example of generated code, and let the crate compile as it is. They are a
//! snapshot of the generator's tests.

#[rustfmt::skip]
#[path = "../../../codegen/tests/snapshots/demo.snap.rs"]
#[allow(unsafe_code, reason = "the markers of a manifest are in sections of their own names")]
pub mod demo;
