//! Recordings: what an execution requested of its servers, with the answers, so that it can be replayed without them.
//!
//! Secrets are masked before anything is kept. A recording also has the tools that the program was compiled against, so
//! that a replay compiles the same program.

mod difference;
mod kept;
mod recorder;
mod replay;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use config::Config;
use runner::{Cache, CallFailure, Catalog, Question};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use terminal::Notifier;

use crate::catalog::ToolLists;
use crate::observed::ObservedOutputs;
use crate::pins::{Known, Pins};
use crate::tool_list::ToolList;

pub use difference::{differences, value};
pub use kept::ReplayableRun;
pub use recorder::{Recorder, masked};
pub use replay::{Mismatch, Replay, compared};

/// Maximum size of the answers in a recording, in bytes (16 MiB).
pub const RECORDING_LIMIT: usize = 16 << 20;

/// The requests of an execution, in the order of its answers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// The requests.
    pub calls: Vec<RecordedCall>,
}

/// A request and its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedCall {
    /// The request.
    pub request: RecordedRequest,
    /// The answer.
    pub answer: RecordedAnswer,
}

/// A request of a program.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RecordedRequest {
    /// The call of a tool.
    Tool {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
        /// The arguments, in canonical form.
        arguments: Box<RawValue>,
    },
    /// A question about tools or resources.
    LookUp(Question),
    /// The search for the server of a resource.
    Locate {
        /// The resource.
        uri: String,
        /// The server that the program named.
        server: Option<String>,
    },
    /// The contents of a resource.
    Resource {
        /// The server's name.
        server: String,
        /// The resource.
        uri: String,
    },
}

/// An answer to a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RecordedAnswer {
    /// A value: of a call, MCP's `CallToolResult`.
    Value(Box<RawValue>),
    /// There was none.
    Failure(CallFailure),
}

impl RecordedRequest {
    /// The request as text; equal requests have the same, however a recorded one was formatted.
    pub(crate) fn key(&self) -> String {
        // A request always has a text: all its parts are texts and JSON.
        let text = |request: &RecordedRequest| serde_json::to_string(request).unwrap_or_default();
        match self {
            RecordedRequest::Tool { server, tool, arguments } => match strict_json::canonical(arguments) {
                Ok(arguments) => {
                    text(&RecordedRequest::Tool { server: server.clone(), tool: tool.clone(), arguments })
                }
                Err(_) => text(self),
            },
            _ => text(self),
        }
    }

    /// The request in a few words.
    pub fn name(&self) -> String {
        match self {
            RecordedRequest::Tool { server, tool, .. } => format!("{server}.{tool}"),
            RecordedRequest::LookUp(_) => "a question about tools or resources".to_owned(),
            RecordedRequest::Locate { uri, .. } | RecordedRequest::Resource { uri, .. } => {
                format!("the resource {uri}")
            }
        }
    }

    /// The arguments of a call; for other requests, all that they say.
    pub(crate) fn content(&self) -> Value {
        match self {
            RecordedRequest::Tool { arguments, .. } => {
                serde_json::from_str(arguments.get()).unwrap_or_default()
            }
            other => serde_json::to_value(other).unwrap_or_default(),
        }
    }
}

/// Tool definitions, as their servers list them, by server.
pub type RecordedTools = BTreeMap<String, Vec<Value>>;

/// The definitions of the tools in a manifest, from these lists.
pub fn tools_of(manifest: &[String], lists: &ToolLists) -> RecordedTools {
    let wanted: BTreeSet<&str> = manifest.iter().map(String::as_str).collect();
    let mut tools = RecordedTools::new();
    for (server, list) in lists.all() {
        let is_wanted = |tool: &Value| {
            tool["name"].as_str().is_some_and(|name| wanted.contains(format!("{server}.{name}").as_str()))
        };
        let named: Vec<Value> = list.tools().filter(is_wanted).collect();
        if !named.is_empty() {
            tools.insert(server, named);
        }
    }
    tools
}

/// The bindings of recorded tools. They do not depend on the present configuration.
pub fn catalog(tools: &RecordedTools, cache: &Cache, notifier: &Notifier) -> Catalog {
    let known = Known { observed: ObservedOutputs::default(), pins: Pins::default() };
    let mut lists = ToolLists::new(known);
    for (server, tools) in tools {
        lists.insert(server, Arc::new(ToolList::new(tools)));
    }
    lists.generate(cache, &Config::default(), notifier)
}
