//! Which answers may not flow into which calls, and where the arguments of a call come from. Pure: no input or output.

#![forbid(unsafe_code)]

pub mod provenance;
pub mod suggestion;
