//! The clients with an entry for Toolsmith, and whether their models see its tools.

use serde::Serialize;

use super::line::{Line, line};
use crate::commands::setup::{Checked, check_installed};

/// A client with an entry.
#[derive(Serialize)]
pub(super) struct ClientFinding {
    /// Its name, and its version if that is known.
    client: String,
    /// Whether its model sees the tools.
    ok: bool,
    what: String,
}

impl From<&Checked> for ClientFinding {
    fn from(checked: &Checked) -> Self {
        ClientFinding { client: checked.title(), ok: checked.is_seen(), what: checked.summary() }
    }
}

impl ClientFinding {
    /// Starts the entries of all installed clients at the same time.
    pub(super) async fn all() -> Vec<Self> {
        check_installed().await.iter().map(Self::from).collect()
    }

    pub(super) fn line(&self) -> Line {
        line(self.ok, self.client.clone(), printable::prose(&self.what))
    }
}

/// Examples for tests of the report.
#[cfg(test)]
pub(super) fn examples(is_complete: bool) -> Vec<ClientFinding> {
    let finding =
        |client: &str, ok, what: &str| ClientFinding { client: client.to_owned(), ok, what: what.to_owned() };
    let whole = "its model sees execute_code whole";
    let hidden = "its model does not see the tools: `alwaysLoad` is not true in the entry";
    if is_complete {
        vec![finding("codex 0.171.0", true, whole), finding("zed", true, whole)]
    } else {
        vec![finding("claude-code 2.1.332", false, hidden)]
    }
}
