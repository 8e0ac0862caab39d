//! The form of a configuration file: its keys and their types, as they are decoded and as the JSON Schema has them.
//!
//! What the values mean together is checked by `check`; the comments here are the descriptions in the schema.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::agent::{AgentForm, Models, SubagentForm};
use super::code_mode::{CodeModeForm, DirectNames};
use super::decode::At;
use super::kinds::{FilePath, Seconds, Size, text};
use super::policy::{Glob, Permission};
use super::section::{Kind, Merge, section};
use super::serve::ServeForm;

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

fn version(version: String) -> Result<(), String> {
    match version.as_str() {
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
        let entry = generator.subschema_for::<ServerEntry>();
        schemars::json_schema!({
            "type": "object",
            "propertyNames": { "pattern": "^[a-zA-Z0-9_-]{1,64}$" },
            "additionalProperties": entry,
        })
    }
}

/// A server: a `command` that is started, or a `url`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct ServerEntry {
    /// stdio, http or sse. Without it, `command` means stdio and `url` http.
    #[serde(rename = "type", alias = "transport")]
    pub(super) transport: Option<At<String>>,
    /// The program of a stdio server.
    pub(super) command: Option<At<String>>,
    /// Its arguments.
    pub(super) args: Option<At<Vec<At<String>>>>,
    /// Environment variables for it, on top of the inherited ones.
    pub(super) env: Option<At<BTreeMap<String, At<String>>>>,
    /// The folder that it starts in, from the folder of this file on.
    pub(super) cwd: Option<At<String>>,
    /// Whether it inherits the variables with keys of models (`api_key_env`).
    pub(super) inherit_model_keys: Option<At<bool>>,
    /// The address of an http or sse server.
    pub(super) url: Option<At<String>>,
    /// Headers that it is sent.
    pub(super) headers: Option<At<BTreeMap<String, At<String>>>>,
    /// How toolsmith is authorized at the server; `false` where it is not.
    pub(super) oauth: Option<At<OAuthChoice>>,
    /// Longest time to connect, in seconds (default 60).
    pub(super) timeout: Option<At<f64>>,
    /// Longest time of a request, in seconds (default 30).
    pub(super) request_timeout: Option<At<f64>>,
    /// The same for calls of single tools, by name.
    pub(super) tool_timeouts: BTreeMap<String, At<f64>>,
    /// Whether the server is used (default true).
    pub(super) enabled: Option<bool>,
    /// Whether snippets may call its tools (default true); otherwise each is called directly.
    pub(super) code_mode: Option<bool>,
    /// Only these tools, by name; `*` stands for any text.
    pub(super) enabled_tools: Option<At<Vec<String>>>,
    /// All tools but these. Excludes `enabledTools`.
    pub(super) disabled_tools: Option<At<Vec<String>>>,
    /// Whether all tools may be called without asking.
    pub(super) trust: Option<At<bool>>,
    /// Whether the tools may be called (default ask).
    pub(super) permission: Option<At<Permission>>,
    /// The same by tools' names; the first that fits decides, and `permission` for the rest.
    pub(super) permissions: Ordered<Permission>,
    /// Whether arguments are checked against the tools' input schemas before a call leaves (default true).
    pub(super) check_input: Option<bool>,
    /// Folders that the server may be told of: paths, or file:// addresses.
    pub(super) roots: Vec<At<String>>,
    /// Whether messages, headers and times are logged, with secrets masked.
    pub(super) debug: Option<bool>,
}

/// How to be authorized, or not at all.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OAuthChoice {
    /// `false`: never; `true`: as without the key.
    Plain(bool),
    Given(Box<OAuthEntry>),
}

impl Default for OAuthChoice {
    fn default() -> Self {
        OAuthChoice::Plain(true)
    }
}

/// OAuth settings; what is not given is discovered or registered.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OAuthEntry {
    /// Scopes to ask for, separated by spaces.
    pub(super) scope: Option<At<String>>,
    /// A client that was registered by hand.
    #[serde(alias = "clientId")]
    pub(super) client_id: Option<At<String>>,
    /// Its secret.
    #[serde(alias = "clientSecret")]
    pub(super) client_secret: Option<At<String>>,
    /// The authorization endpoint.
    #[serde(alias = "authorizationUrl")]
    pub(super) authorization_url: Option<At<String>>,
    /// The token endpoint.
    #[serde(alias = "tokenUrl")]
    pub(super) token_url: Option<At<String>>,
    /// The registration endpoint.
    #[serde(alias = "registrationUrl")]
    pub(super) registration_url: Option<At<String>>,
    /// An https address of a client metadata document.
    #[serde(alias = "clientMetadataUrl")]
    pub(super) client_metadata_url: Option<At<String>>,
    /// How tokens are got (default authorization_code).
    pub(super) grant: Option<At<GrantEntry>>,
}

/// How tokens are got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum GrantEntry {
    /// A person agrees in a browser.
    #[default]
    AuthorizationCode,
    /// The client's own credentials are enough.
    ClientCredentials,
}

impl<'de> Deserialize<'de> for OAuthChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OAuthVisitor)
    }
}

struct OAuthVisitor;

impl<'de> Visitor<'de> for OAuthVisitor {
    type Value = OAuthChoice;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`oauth: false`, or keys with values")
    }

    fn visit_bool<E>(self, value: bool) -> Result<OAuthChoice, E> {
        Ok(OAuthChoice::Plain(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OAuthChoice, A::Error> {
        let entry = OAuthEntry::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        Ok(OAuthChoice::Given(Box::new(entry)))
    }
}

impl JsonSchema for OAuthChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OAuth".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let entry = generator.subschema_for::<OAuthEntry>();
        schemars::json_schema!({ "anyOf": [{ "type": "boolean" }, entry] })
    }
}

/// A mapping whose order matters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ordered<V>(pub(super) Vec<(At<String>, V)>);

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Ordered(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Ordered<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<V>(std::marker::PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for InOrder<V> {
            type Value = Ordered<V>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("keys with values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(InOrder(std::marker::PhantomData))
    }
}

impl<V: JsonSchema> JsonSchema for Ordered<V> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        BTreeMap::<String, V>::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        BTreeMap::<String, V>::json_schema(generator)
    }
}
