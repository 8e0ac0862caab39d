//! A server `gate` whose calls of `pass` are answered when the test says so.

use std::fs;

use tempfile::TempDir;

use crate::harness::FAULT_SERVER;

/// The gate; gone with it are those who still wait.
pub(crate) struct Gate(TempDir);

impl Gate {
    pub(crate) fn new() -> Self {
        Gate(tempfile::tempdir().unwrap())
    }

    /// A configuration with the server, and nothing else.
    pub(crate) fn config(&self) -> String {
        let folder = self.0.path();
        format!(
            "mcpServers:\n  gate: {{ command: {FAULT_SERVER:?}, args: [gate, {folder:?}], trust: true }}\n"
        )
    }

    /// The entry of a server `name` that says nothing before all may pass, however long it takes.
    pub(crate) fn late(&self, name: &str) -> String {
        let folder = self.0.path();
        format!(
            "  {name}: {{ command: {FAULT_SERVER:?}, args: [late, {folder:?}], trust: true, timeout: 3600 }}\n"
        )
    }

    /// The messages of those who have come, in their order.
    pub(crate) fn came(&self) -> Vec<String> {
        let log = fs::read_to_string(self.0.path().join("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Lets all pass from now on.
    pub(crate) fn open(&self) {
        fs::write(self.0.path().join("open"), "").unwrap();
    }
}
