//! The keys of a configuration file and their types, as decoded and as in the JSON Schema.
//!
//! `validation` checks the values together; the comments here are the descriptions in the schema.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

use super::agent::{AgentForm, Models, SubagentForm};
use super::code_mode::{CodeModeForm, DirectNames};
use super::flows::FlowsForm;
use super::history::HistoryForm;
use super::key_macros::{Kind, Merge, section};
use super::key_types::{Address, FilePath, InvalidValue, Seconds, SecondsOrNone, Size, text};
use super::permissions::{AddedGlobs, Glob};
use super::placed::At;
use super::remote_cache::RemoteCacheForm;
use super::serve::ServeForm;
use super::server_form::ServerForm;

section! {
    /// The configuration of Toolsmith.
    #[serde(rename = "toolsmith", rename_all = "camelCase")]
    Settings from File {
        /// The address of this schema, for editors.
        #[serde(rename = "$schema")]
        schema: Option<String>,
        /// The version of this format: "1.0".
        version: Option<Version>,
        /// The MCP servers, by name: 1 to 64 letters, digits, `_` and `-`.
        mcp_servers: Servers,
        /// Settings for all servers.
        global_settings: GlobalForm,
        /// What snippets may use.
        code_mode: CodeModeForm,
        /// What `toolsmith serve` provides, and its limits.
        serve: ServeForm,
        /// The cache, shared by all projects, and the tools whose results are cached.
        cache: CacheForm,
        /// The history of executions, one file for all projects.
        history: HistoryForm,
        /// The answers that may not flow into the calls of other tools.
        flows: FlowsForm,
        /// How tools outside code mode are called.
        direct_names: DirectNames = DirectNames::Plain,
        /// The available models.
        models: Models,
        /// The default model, system prompt and snippet settings.
        defaults: DefaultsForm,
        /// Limits on a model's work.
        agent: AgentForm,
        /// The subagent that this configuration defines.
        subagent: Option<SubagentForm>,
    }
}

text! {
    /// The version of this format.
    Version(()) by version;
}

fn version(version: &str) -> Result<(), InvalidValue> {
    match version {
        "1.0" => Ok(()),
        other => Err(InvalidValue(format!("unknown version {other:?}; write \"1.0\""))),
    }
}

section! {
    /// Settings for all servers.
    #[serde(rename_all = "camelCase")]
    Global from GlobalForm {
        /// Whether servers are used at all; `false` switches MCP off.
        enabled: bool = true,
        /// Time limit for connecting, in seconds; 0 for none.
        timeout: SecondsOrNone = mcp::DEFAULT_CONNECT_TIMEOUT,
        /// Time limit of a request, in seconds; 0 for none.
        request_timeout: SecondsOrNone = mcp::DEFAULT_REQUEST_TIMEOUT,
        /// How often Toolsmith checks whether the server of a kept session still answers, in seconds; 0 for never.
        ping_interval: SecondsOrNone = mcp::DEFAULT_PING_INTERVAL,
        /// Whether calls are counted for `toolsmith stats`.
        stats: bool = true,
        /// Whether messages, headers and times are logged, with secrets masked.
        debug: bool = false,
        /// The MCP registry from which `mcp add --registry` reads entries by their id.
        registry: Option<Address>,
        /// Tools that are not available at all, as `tool` or `server.tool`; `*` matches any text.
        deny: AddedGlobs,
    }
}

section! {
    /// The cache, and the tools whose results are cached.
    #[serde(rename_all = "camelCase")]
    CacheSettings from CacheForm {
        /// Maximum disk space, such as 10GiB; beyond it, the least recently used entries are removed.
        size: Size<u64, { runner::LEAST_SIZE }> = runner::DEFAULT_SIZE,
        /// Read-only tools whose results are cached in memory, as `tool` or `server.tool`; `*` matches any text.
        tools: Vec<Glob> = Vec::new(),
        /// How long a cached result is used, in seconds.
        ttl: Seconds = Duration::from_secs(300),
        /// An object store whose compiled entries several machines share.
        remote: Option<RemoteCacheForm>,
    }
}

section! {
    /// The default model, system prompt and snippet settings.
    #[serde(rename_all = "camelCase")]
    Defaults from DefaultsForm {
        /// The `ref` of the default model.
        model: Option<At<String>>,
        /// A file with the system prompt.
        system_prompt_path: Option<FilePath>,
        /// An alias of the top-level `codeMode`.
        code_mode: CodeModeForm,
    }
}

/// The entries of servers. Each is decoded separately, so that an error in one does not affect the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Servers;

impl<'de> Deserialize<'de> for Servers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::<String, IgnoredAny>::deserialize(deserializer).map(|_| Servers)
    }
}

impl Merge for Servers {
    fn over(self, _: Self) -> Self {
        self
    }
}

impl Kind for Servers {
    type Value = ();

    fn value(self) {}
}

impl JsonSchema for Servers {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Servers".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let entry = generator.subschema_for::<ServerForm>();
        schemars::json_schema!({
            "type": "object",
            "propertyNames": { "pattern": "^[a-zA-Z0-9_-]{1,64}$" },
            "additionalProperties": entry,
        })
    }
}
