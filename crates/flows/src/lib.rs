//! Flows: whether a call may be made after the answers that were received before it.
//!
//! Sound and coarse: an answer that was received counts as part of all that is sent later. [`Rules`] has what the
//! configuration says, [`State`] what one execution or one client's session has received, and [`Guard`] decides about
//! the calls of one execution. [`provenance`] compares the arguments of a call with earlier answers, and [`suggestion`]
//! proposes labels. Nothing here reads, sends or asks: the gateway does.

#![forbid(unsafe_code)]

mod flow;
mod guard;
mod labels;
pub mod provenance;
mod rules;
mod state;
pub mod suggestion;
mod text;

pub use config::{FlowAction, FlowScope};
pub use flow::{Flow, Pair};
pub use guard::{Call, Decision, Guard};
pub use labels::Labels;
pub use rules::Rules;
pub use state::{MAX_SOURCES, State};
pub use text::{carried, lines, sources};
