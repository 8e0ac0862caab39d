//! The calls that need no answer of the user: those that a command line allows, and the tools that a saved program is
//! approved to call, each in one version on one server.

use std::collections::{BTreeMap, BTreeSet};

use flows::{Flow, FlowAction, Pair};
use serde::{Deserialize, Serialize};

use super::requested_tool::RequestedTool;

/// The calls that need no answer of the user, besides those that the configuration allows.
#[derive(Debug, Clone, Default)]
pub struct Allowed<'a> {
    /// The tools that the command line allows, as globs of `server.tool`.
    pub globs: &'a [String],
    /// The tools that a saved program is approved to call.
    pub approved: ApprovedTools,
}

/// The tools that a saved program is approved to call, by `server.tool`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovedTools {
    tools: BTreeMap<String, ApprovedTool>,
    /// The flows that the approval covers, which are kept beside the tools.
    #[serde(skip)]
    flows: BTreeSet<Pair>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovedTool {
    /// The hash of the tool.
    hash: String,
    /// The identity of its server.
    reached: String,
}

impl ApprovedTools {
    /// These tools, with their present hashes and servers.
    pub fn of(tools: &[RequestedTool]) -> Self {
        let approved = |tool: &RequestedTool| {
            (tool.name(), ApprovedTool { hash: tool.hash.clone(), reached: tool.reached.clone() })
        };
        ApprovedTools { tools: tools.iter().map(approved).collect(), flows: BTreeSet::new() }
    }

    /// The same tools, with these flows between them.
    #[must_use]
    pub fn with(self, flows: BTreeSet<Pair>) -> Self {
        ApprovedTools { flows, ..self }
    }

    /// The flows that the approval covers.
    pub fn flows(&self) -> &BTreeSet<Pair> {
        &self.flows
    }

    /// Whether the approval covers all of these flows that are asked about; those that are denied need no approval.
    pub fn covers(&self, flows: &[Flow]) -> bool {
        flows.iter().all(|flow| flow.then == FlowAction::Deny || self.flows.contains(&flow.pair()))
    }

    /// The names, as `server.tool`, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Whether a tool is approved as its server offers it now.
    pub(super) fn has(&self, requested: &RequestedTool) -> bool {
        let is_known = !requested.hash.is_empty() && !requested.reached.is_empty();
        let approved = self.tools.get(&requested.name()).filter(|_| is_known);
        approved
            .is_some_and(|approved| approved.hash == requested.hash && approved.reached == requested.reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_version_on_the_same_server_is_approved() {
        let tool = |hash: &str, reached: &str| RequestedTool {
            hash: hash.to_owned(),
            reached: reached.to_owned(),
            ..RequestedTool::new("s", "t", None)
        };
        let approved = ApprovedTools::of(&[tool("1", "x")]);
        assert!(approved.has(&tool("1", "x")));
        assert!(!approved.has(&tool("2", "x")) && !approved.has(&tool("1", "y")));
        assert!(!ApprovedTools::of(&[tool("", "x")]).has(&tool("", "x")), "an unknown tool");
        assert!(!ApprovedTools::of(&[tool("1", "")]).has(&tool("1", "")), "an unknown server");
        assert!(!ApprovedTools::default().has(&tool("1", "x")));
    }
}
