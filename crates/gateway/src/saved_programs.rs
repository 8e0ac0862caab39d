//! Saved programs: their files, what they are approved for, their recorded runs, and whether they still fit the tools
//! that they call.

pub mod approvals;
pub mod check;
mod difference;
pub mod functions;
mod kept_check;
mod recorded;
pub mod saving;
pub mod skill;
mod skill_text;
mod store;

pub use approvals::{Approval, Approvals};
pub use kept_check::KeptCheck;
pub use recorded::{RecordedRun, RecordedRuns};
pub use skill::Skill;
pub use skill_text::skill_md;
pub use store::{ProgramStore, SavedProgram, Scope, invalid};
