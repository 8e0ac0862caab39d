//! The form of a configuration file: its keys and their types, as they are decoded and as the JSON Schema has them.
//!
//! What the values mean together is checked by `validation`; the comments here are the descriptions in the schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{Deserializer, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::agent::{AgentForm, Models, SubagentForm};
use super::code_mode::{CodeModeForm, DirectNames};
use super::key_macros::{Kind, Merge, section};
use super::key_types::{FilePath, Seconds, Size, text};
use super::permissions::Glob;
use super::placed::At;
use super::serve::ServeForm;
use super::server_form::ServerForm;

section! {
    /// The configuration of toolsmith.
    #[serde(rename = "toolsmith", rename_all = "camelCase")]
    Settings from File {
        /// The address of this schema, for editors.
        #[serde(rename = "$schema")]
        schema: Option<String>,
        /// The version of this form: "1.0".
        version: Option<Version>,
        /// The MCP servers, by name: 1 to 64 letters, digits, `_` and `-`.
        mcp_servers: Servers,
        /// What holds for all servers.
        global_settings: GlobalForm,
        /// What snippets may use.
        code_mode: CodeModeForm,
        /// What `toolsmith serve` offers, and within what bounds.
        serve: ServeForm,
        /// The cache, which all projects share; not in a project's file.
        cache: CacheForm,
        /// How tools outside code mode are called.
        direct_names: DirectNames = DirectNames::Plain,
        /// The models that can be used.
        models: Models,
        /// What holds where nothing else is chosen.
        defaults: DefaultsForm,
        /// Within what bounds a model works.
        agent: AgentForm,
        /// The one subagent that this configuration describes.
        subagent: Option<SubagentForm>,
    }
}

text! {
    /// The version of this form.
    Version(()) by version;
}

fn version(version: &str) -> Result<(), String> {
    match version {
        "1.0" => Ok(()),
        other => Err(format!("version {other:?} is not known; write \"1.0\"")),
    }
}

section! {
    /// What holds for all servers.
    #[serde(rename_all = "camelCase")]
    Global from GlobalForm {
        /// Longest time to connect, in seconds.
        timeout: Seconds = mcp::DEFAULT_CONNECT_TIMEOUT,
        /// Longest time of a request, in seconds.
        request_timeout: Seconds = mcp::DEFAULT_REQUEST_TIMEOUT,
        /// Whether messages, headers and times are logged, with secrets masked.
        debug: bool = false,
        /// Tools that are not there at all, as `tool` or `server.tool`; `*` stands for any text.
        deny: Denied,
    }
}

/// Tools that are denied by any layer: what the user denies, no project brings back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Denied(Vec<Glob>);

impl Merge for Denied {
    fn over(self, weaker: Self) -> Self {
        Denied([weaker.0, self.0].concat())
    }
}

impl Kind for Denied {
    type Value = Vec<Glob>;

    fn value(self) -> Vec<Glob> {
        self.0
    }
}

section! {
    /// The cache, which all projects share.
    #[serde(rename_all = "camelCase")]
    CacheSettings from CacheForm {
        /// Most bytes that it takes on the disk, such as 10GiB; beyond, what was used longest ago goes.
        size: Size<u64, { runner::LEAST_SIZE }> = runner::DEFAULT_SIZE,
    }
}

section! {
    /// What holds where nothing else is chosen.
    #[serde(rename_all = "camelCase")]
    Defaults from DefaultsForm {
        /// The `ref` of a model.
        model: Option<At<String>>,
        /// A file with the text that a conversation starts with.
        system_prompt_path: Option<FilePath>,
        /// As at the top level.
        code_mode: CodeModeForm,
    }
}

/// The entries of servers. They are decoded one by one, so that a broken one leaves the others as they are.
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
