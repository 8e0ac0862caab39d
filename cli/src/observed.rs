//! Output schemas that were inferred from answers, for tools that declare none; they are kept in `toolsmith.lock`.

use std::collections::BTreeMap;

use mcp::Lock;
use serde_json::Value;

use crate::tool_list::{as_declared, digest};

/// Observed output schemas, by server and tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ObservedOutputs(BTreeMap<String, BTreeMap<String, Value>>);

impl ObservedOutputs {
    /// Those of a lock.
    pub(crate) fn of(lock: &Lock) -> Self {
        let servers = lock.servers.iter().map(|(name, server)| {
            let tools = server.tools.iter().filter_map(|(name, tool)| {
                let observed = tool.observed.as_ref()?;
                Some((name.clone(), observed.output_schema.clone()))
            });
            (name.clone(), tools.collect())
        });
        ObservedOutputs(servers.collect())
    }

    /// A tool as the server sent it, with what was observed of it.
    pub(crate) fn tool(&self, server: &str, raw: &Value) -> Option<codegen::Tool> {
        let mut tool = as_declared(raw)?;
        let observed = self.0.get(server).and_then(|tools| tools.get(&tool.name));
        if let (None, Some(schema)) = (&tool.output_schema, observed) {
            tool.output_schema = Some(schema.clone());
            tool.observed = true;
        }
        Some(tool)
    }

    /// What equal observations of a server have in common.
    pub(crate) fn digest(&self, server: &str) -> String {
        // Writing JSON values to a string does not fail.
        digest(&serde_json::to_vec(&self.0.get(server)).unwrap_or_default())
    }
}
