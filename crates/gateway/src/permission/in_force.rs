//! The selection of remembered answers that apply to the servers and tools of a configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{Config, Permission};

use super::remembered::{Remembered, RememberedAnswer};
use super::requested_tool::RequestedTool;
use super::rules;
use crate::resources;
use crate::tool_list::ToolList;

/// Whether a remembered answer applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InForce {
    /// The tool is called without a question.
    Yes,
    /// The configuration asks at every call, or denies the tool.
    Overruled,
    /// The tool has changed since.
    ToolChanged,
    /// No tool list of the server is known, so nobody knows whether the tool has changed.
    ToolUnknown,
    /// No configured server is the one that the answer covers.
    OtherServer,
}

impl InForce {
    /// The word for it in JSON.
    pub fn word(self) -> &'static str {
        match self {
            InForce::Yes => "in_force",
            InForce::Overruled => "overruled",
            InForce::ToolChanged => "tool_changed",
            InForce::ToolUnknown => "tool_unknown",
            InForce::OtherServer => "other_server",
        }
    }

    /// Explains it in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            InForce::Yes => "in force",
            InForce::Overruled => "overruled by the configuration",
            InForce::ToolChanged => "not in force: the tool has changed",
            InForce::ToolUnknown => "in force unless the tool has changed",
            InForce::OtherServer => "not in force here: it covers another server",
        }
    }
}

/// The configured servers, as answers cover them.
pub struct CurrentServers<'a> {
    config: &'a Config,
    lists: BTreeMap<String, Arc<ToolList>>,
    /// The server's identity, by its name.
    identities: BTreeMap<String, String>,
}

impl<'a> CurrentServers<'a> {
    /// The servers of a configuration that are in `answers`, with the tools that are known of them. Reads the programs
    /// of these servers.
    pub fn of(
        config: &'a Config,
        remembered: &Remembered,
        answers: &[RememberedAnswer],
        lists: BTreeMap<String, Arc<ToolList>>,
    ) -> Self {
        let is_named =
            |server: &&config::Server| answers.iter().any(|answer| answer.server == server.connection.name);
        let identity =
            |server: &config::Server| (server.connection.name.clone(), remembered.identity(server));
        let identities = config.servers.iter().filter(is_named).map(identity).collect();
        CurrentServers { config, lists, identities }
    }

    /// Whether an answer applies.
    pub fn in_force(&self, answer: &RememberedAnswer) -> InForce {
        let RememberedAnswer { server, tool, .. } = answer;
        if self.identities.get(server) != Some(&answer.reached) {
            return InForce::OtherServer;
        }
        if matches!(rules::holds(self.config, &[], server, tool), Permission::AskEach | Permission::Deny) {
            return InForce::Overruled;
        }
        let requested = match self.lists.get(server) {
            _ if resources::is_name(tool) => RequestedTool::reading(server),
            None => return InForce::ToolUnknown,
            Some(list) => RequestedTool::new(server, tool, Some(list)),
        };
        if requested.hash == answer.hash { InForce::Yes } else { InForce::ToolChanged }
    }
}

#[cfg(test)]
mod tests {
    use config::{Rules, Server};
    use serde_json::json;

    use super::*;
    use crate::permission::AnsweredBy;

    fn config(permission: Permission) -> Config {
        let server = Server {
            permissions: Rules { rules: Vec::new(), otherwise: permission },
            ..Server::new(mcp::ServerConfig::stdio("s", "sh", [""; 0]), String::new())
        };
        Config { servers: vec![server], ..Config::default() }
    }

    #[test]
    fn an_answer_applies_to_the_same_tool_of_the_same_server() {
        let home = tempfile::tempdir().unwrap();
        let (mut remembered, _) = Remembered::read_in(home.path(), Some(home.path()));
        let asking = config(Permission::Ask);
        let list = |text: &str| {
            let tool = json!({ "name": "t", "description": text, "inputSchema": { "type": "object" } });
            BTreeMap::from([("s".to_owned(), Arc::new(ToolList::new(&[tool])))])
        };
        let reached = remembered.identity(&asking.servers[0]);
        let tools = [
            RequestedTool::new("s", "t", Some(&list("x")["s"])).on(reached.clone()),
            RequestedTool::reading("s").on(reached),
        ];
        remembered.add(&tools, AnsweredBy::Terminal).unwrap();
        let answers = remembered.answers();
        let states = |config: &Config, lists| -> Vec<InForce> {
            let current = CurrentServers::of(config, &remembered, &answers, lists);
            answers.iter().map(|answer| current.in_force(answer)).collect()
        };
        assert_eq!(states(&asking, list("x")), [InForce::Yes, InForce::Yes]);
        assert_eq!(states(&asking, list("y")), [InForce::Yes, InForce::ToolChanged]);
        assert_eq!(states(&asking, BTreeMap::new()), [InForce::Yes, InForce::ToolUnknown]);
        assert_eq!(states(&config(Permission::AskEach), list("x")), [InForce::Overruled; 2]);
        let mut other = asking.clone();
        other.servers[0].connection = mcp::ServerConfig::stdio("s", "ls", [""; 0]);
        assert_eq!(states(&other, list("x")), [InForce::OtherServer; 2]);
        assert_eq!(states(&Config::default(), list("x")), [InForce::OtherServer; 2]);
    }
}
