//! Who may call what.
//!
//! One [`PermissionPolicy`] serves nested calls, which programs make, and direct ones. How a person is reached is left to
//! a [`Prompter`]: a person at the terminal, a client, or nobody.

mod answers;
mod identity;
mod policy;
mod prompter;
mod question;
mod refusal;
mod remembered;
mod requested_tool;
pub mod rules;

pub use answers::{ExecutionAnswers, SessionAnswers};
pub use policy::{PermissionPolicy, policy};
pub use prompter::{Answer, Prompter};
pub use question::Question;
pub use refusal::{Reason, Refusal};
pub use remembered::{Content, Remembered};
pub use requested_tool::RequestedTool;
