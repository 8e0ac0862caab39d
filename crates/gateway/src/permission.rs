//! Permission to call tools.
//!
//! One [`PermissionPolicy`] decides about nested calls, made by programs, and direct calls. A [`Prompter`] asks the
//! user: at the terminal, through a client, or not at all.

mod answers;
mod approved;
mod flow_gate;
mod identity;
mod in_force;
mod policy;
mod prompter;
mod question;
mod refusal;
mod remembered;
mod requested_tool;
pub mod rules;

pub use answers::{ExecutionAnswers, SessionAnswers};
pub use approved::{Allowed, ApprovedTools};
pub use flow_gate::{FLOWS_META, FlowGate, possible_flows};
pub use identity::share_identities;
pub use in_force::{CurrentServers, InForce};
pub use policy::{PermissionPolicy, policy};
pub use prompter::{Answer, Prompter};
pub use question::Question;
pub use refusal::{Reason, Refusal};
pub use remembered::{AnsweredBy, Content, Remembered, RememberedAnswer};
pub use requested_tool::RequestedTool;
