//! A flow: answers of one tool that go into calls of another.

use config::FlowAction;

use crate::labels::Labels;

/// The tool whose answers were received, and the tool that is called, as `server.tool`.
pub type Pair = (String, String);

/// A flow that is asked about or denied: answers of one tool go into calls of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// The tool that is called, as `server.tool`.
    pub to: String,
    /// The tool whose answers were received, as `server.tool`.
    pub from: String,
    /// The labels of these answers.
    pub labels: Labels,
    /// Whether the user is asked, or the call fails.
    pub then: FlowAction,
}

impl Flow {
    /// The tools of the flow.
    #[must_use]
    pub fn pair(&self) -> Pair {
        (self.from.clone(), self.to.clone())
    }
}
