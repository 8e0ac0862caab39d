//! Executions that are kept: one SQLite file for all processes of a user.
//!
//! [`History`] queues what an execution does, and one thread of the process writes it, behind the answers: `recorder`
//! and `sink` are its ends in an execution, `event` is what is queued, `writer` the thread, `rows` its statements,
//! and `prune` the bounds on age and size. `kept` bounds texts and masks secrets before anything is written, `tokens`
//! estimates what code mode saves. [`Reader`] reads the file for commands and pages. Which executions are recorded is
//! decided elsewhere.
//!
//! [`statistics`] counts calls in the same file, also if no executions are kept.

mod clock;
mod differences;
mod error;
mod event;
pub mod execution_history;
mod file;
mod filter;
mod kept;
mod prune;
mod reader;
mod record;
mod recorder;
mod rows;
mod schema;
pub mod shown;
mod sink;
pub mod statistics;
#[cfg(test)]
mod tests;
mod tokens;
mod tool_calls;
mod writer;

pub use database::Durability;
pub use differences::{Calls, Differences, Member, Tally};
pub use error::{HistoryError, HistoryErrorKind};
pub use event::{Ending, NewExecution, Requester};
pub use file::file;
pub use filter::{Filter, Page};
pub use reader::Reader;
pub use record::{Arguments, Call, Execution, PhaseStart, Question, Savings, Summary, Tokens};
pub use recorder::{History, RecordedExecution};
pub use tool_calls::{LastCall, LatestCalls, ToolCalls};
