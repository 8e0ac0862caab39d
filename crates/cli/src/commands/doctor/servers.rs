//! The servers that are local programs, and whether they are confined.

use config::Config;
use serde::Serialize;

use super::line::{Line, line};

/// A server that is a local program.
#[derive(Serialize)]
pub(super) struct ServerFinding {
    server: String,
    /// Whether its entry confines it.
    confined: bool,
}

impl ServerFinding {
    /// The local programs of a configuration.
    pub(super) fn all(config: &Config) -> Vec<Self> {
        let is_program =
            |server: &&config::Server| matches!(server.connection.transport, mcp::Transport::Stdio(_));
        let finding = |server: &config::Server| ServerFinding {
            server: server.connection.name.clone(),
            confined: server.sandbox.is_some(),
        };
        config.servers.iter().filter(is_program).map(finding).collect()
    }
}

/// A line for each server. The advice is printed once.
pub(super) fn lines(findings: &[ServerFinding]) -> Vec<Line> {
    let first = findings.iter().find(|finding| !finding.confined).map(|finding| &*finding.server);
    let text = |finding: &ServerFinding| match first {
        _ if finding.confined => "confined".to_owned(),
        Some(name) if name == finding.server => {
            format!(
                "not confined: runs with your rights; to confine it: toolsmith mcp sandbox {name} --learn"
            )
        }
        _ => "not confined".to_owned(),
    };
    findings.iter().map(|finding| line(true, finding.server.clone(), text(finding))).collect()
}

/// Examples for tests of the report.
#[cfg(test)]
pub(super) fn examples(is_complete: bool) -> Vec<ServerFinding> {
    let finding = |server: &str, confined| ServerFinding { server: server.to_owned(), confined };
    vec![finding("files", is_complete), finding("git", true), finding("memory", is_complete)]
}
