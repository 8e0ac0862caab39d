//! A server `gate` whose calls of `pass` are answered when the test opens it.

use std::fs;

use tempfile::TempDir;

use crate::harness::FAULT_SERVER;

/// The gate; dropping it ends the waiting servers.
pub struct Gate(TempDir);

impl Gate {
    pub fn new() -> Self {
        Gate(tempfile::tempdir().unwrap())
    }

    /// A configuration with only this server.
    pub fn config(&self) -> String {
        let folder = self.0.path();
        format!(
            "mcpServers:\n  gate: {{ command: {FAULT_SERVER:?}, args: [gate, {folder:?}], trust: true }}\n"
        )
    }

    /// The entry of a server `name` that sends nothing until the gate is open.
    pub fn late(&self, name: &str) -> String {
        let folder = self.0.path();
        format!(
            "  {name}: {{ command: {FAULT_SERVER:?}, args: [late, {folder:?}], trust: true, timeout: 3600 }}\n"
        )
    }

    /// The messages of the calls so far, in order of arrival.
    pub fn arrived(&self) -> Vec<String> {
        let log = fs::read_to_string(self.0.path().join("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Opens the gate for all calls.
    pub fn open(&self) {
        fs::write(self.0.path().join("open"), "").unwrap();
    }
}
