//! Saved programs: their files, what they are approved for, their recorded runs, and whether they still fit the tools
//! that they call.

pub mod approvals;
pub mod check;
mod difference;
pub mod functions;
mod kept_check;
mod recorded;
pub mod saving;
// Signed with the keys of the remote cache.
#[cfg(feature = "remote-cache")]
pub mod skill;
#[cfg(feature = "remote-cache")]
mod skill_text;
mod store;

pub use approvals::{Approval, Approvals};
pub use kept_check::KeptCheck;
pub use recorded::{RecordedRun, RecordedRuns};
#[cfg(feature = "remote-cache")]
pub use skill::Skill;
#[cfg(feature = "remote-cache")]
pub use skill_text::skill_md;
pub use store::{ProgramStore, SavedProgram, Scope, invalid};
