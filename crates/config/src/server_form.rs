//! The form of a server's entry. Its rules are in `server`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::confinement::GrantedPath;
use super::key_macros::{Kind, Written, plain, record};
use super::key_types::{Address, Count, Expanded, FilePath, SecondsOrNone, Size, VariableName};
use super::permissions::{Glob, Permission};
use super::placed::{AsWritten, At};

record! {
    /// A server: a `command` to start, or a `url` to connect to.
    #[derive(Default)]
    #[serde(rename_all = "camelCase", default)]
    ServerKeys from ServerForm {
        /// stdio, http, sse or openapi (default: stdio with `command`; openapi with `openapi`; with `url` sse if its path ends with `/sse`, otherwise http).
        #[serde(rename = "type")]
        transport or "transport": Option<ServerType>,
        /// The program of a stdio server.
        command: Option<At<AsWritten<Expanded>>>,
        /// Its arguments.
        args: Option<At<Vec<AsWritten<Expanded>>>>,
        /// Environment variables, in addition to the inherited ones.
        env: Option<At<BTreeMap<String, At<Expanded>>>>,
        /// Its working folder, relative to the folder of this file.
        cwd: Option<At<FilePath>>,
        /// Whether it inherits the variables with API keys of models (`api_key_env`).
        inherit_model_keys: At<bool> = false,
        /// Whether it is confined, or what a confined server may use (default: `false`).
        sandbox: Option<At<SandboxChoice>>,
        /// An OpenAPI document, whose operations are the tools: a path, or an http or https address.
        openapi: Option<At<AsWritten<DocumentPlace>>>,
        /// The address of an http or sse server, or of the API of `openapi`.
        url: Option<At<AsWritten<Expanded>>>,
        /// HTTP headers of each request.
        headers: Option<At<BTreeMap<String, At<Expanded>>>>,
        /// How Toolsmith is authorized at the server; `false` disables OAuth.
        oauth: Option<At<OAuthChoice>>,
        /// Time limit for connecting, in seconds; 0 for none (default: that of `globalSettings`).
        timeout: Option<SecondsOrNone>,
        /// Time limit of a request, in seconds; 0 for none (default: that of `globalSettings`).
        request_timeout: Option<SecondsOrNone>,
        /// Time limits of calls, in seconds, by tool name; 0 for none.
        tool_timeouts: BTreeMap<String, SecondsOrNone>,
        /// How often Toolsmith checks whether the server of a kept session still answers, in seconds; 0 for never
        /// (default: that of `globalSettings`).
        ping_interval: Option<SecondsOrNone>,
        /// Whether the server is used.
        enabled: bool = true,
        /// Whether snippets may call its tools; if not, each is called directly.
        code_mode: bool = true,
        /// Only these tools, by name; `*` matches any text.
        enabled_tools: Option<At<Vec<Glob>>>,
        /// All tools except these. Excludes `enabledTools`.
        disabled_tools: Option<At<Vec<Glob>>>,
        /// Whether all tools may be called without asking.
        trust: At<bool> = false,
        /// Whether the tools may be called.
        permission: Permission = Permission::default(),
        /// Permissions by tool name; the first match decides, otherwise `permission`.
        permissions: Permissions,
        /// Whether arguments are checked against the tools' input schemas before a call is sent.
        check_input: bool = true,
        /// Whether an answer that does not fit the tool's output schema is an error.
        check_output: bool = true,
        /// Whether executions get their own session with it, or a client's executions share one.
        session: SessionMode = SessionMode::Auto,
        /// Whether sessions with it may be opened before an execution needs them (`serve.spares`).
        spare: bool = true,
        /// Folders that the server may list as roots: paths, or file:// addresses.
        roots: Vec<RootFolder>,
        /// Whether messages, headers and times are logged, with secrets masked (default: that of `globalSettings`).
        debug: Option<bool>,
    }
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
// Its name in the published schema.
#[schemars(rename = "Transport")]
pub(crate) enum ServerType {
    /// A local program.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events, for older servers.
    Sse,
    /// The API of an OpenAPI document.
    OpenApi,
}

/// Whether a server is confined, or what it may use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SandboxChoice {
    /// `false`: not confined; `true`: the default.
    Plain(bool),
    Given(Box<ServerSandboxForm>),
}

record! {
    /// Grants of a confined server beyond its installation and its working folder.
    #[derive(Default)]
    #[serde(default)]
    ServerSandboxKeys from ServerSandboxForm {
        /// Paths that it may read.
        read: Vec<GrantedPath> = Vec::new(),
        /// Paths that it may read and write.
        write: Vec<GrantedPath> = Vec::new(),
        /// Its network.
        network: Network = server_sandbox::Network::Full,
        /// Variables of Toolsmith's environment that it inherits, by name.
        env: Vec<VariableName>,
        /// Maximum processes and threads besides the first.
        processes: Count<u64> = server_sandbox::Settings::PROCESSES,
        /// Maximum memory of each process, such as 512MiB; of all together where control groups are delegated.
        memory: Size<u64, MIN_SERVER_MEMORY> = server_sandbox::Settings::MEMORY,
    }
}

/// Minimum memory of a server, in bytes (16 MiB).
const MIN_SERVER_MEMORY: u64 = 16 << 20;

/// The network of a confined server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Network {
    /// None.
    None,
    /// A loopback interface of its own.
    Loopback,
    /// The machine's.
    Full,
}

impl Kind for Network {
    type Value = server_sandbox::Network;

    fn value(self) -> server_sandbox::Network {
        match self {
            Network::None => server_sandbox::Network::None,
            Network::Loopback => server_sandbox::Network::Loopback,
            Network::Full => server_sandbox::Network::Full,
        }
    }
}

impl Written for Network {
    fn written(value: &server_sandbox::Network) -> serde_json::Value {
        match value {
            server_sandbox::Network::None => "none",
            server_sandbox::Network::Loopback => "loopback",
            server_sandbox::Network::Full => "full",
        }
        .into()
    }
}

impl Kind for SandboxChoice {
    type Value = Option<server_sandbox::Settings>;

    fn value(self) -> Self::Value {
        match self {
            SandboxChoice::Plain(false) => None,
            SandboxChoice::Plain(true) => Some(server_sandbox::Settings::default()),
            SandboxChoice::Given(form) => {
                let ServerSandboxKeys { read, write, network, env, processes, memory } = form.value();
                Some(server_sandbox::Settings { read, write, network, env, processes, memory })
            }
        }
    }
}

/// Which session the executions of `toolsmith serve` use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionMode {
    /// `fresh`, except with a server that keeps nothing between requests (MCP 2026-07-28): all executions of a subject
    /// share one.
    #[default]
    Auto,
    /// Each execution has its own.
    Fresh,
    /// All executions of a client session share one.
    Shared,
}

plain!(ServerType, Permission, SessionMode);

/// OAuth settings, or whether to use OAuth at all.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OAuthChoice {
    /// `false`: never; `true`: the default.
    Plain(bool),
    Given(Box<OAuthForm>),
}

record! {
    /// OAuth settings; missing ones are discovered or registered.
    #[derive(Default)]
    #[serde(default)]
    OAuthKeys from OAuthForm {
        /// Scopes to request, separated by spaces.
        scope: Option<Expanded>,
        /// The ID of a client registered in advance.
        client_id or "clientId": Option<Expanded>,
        /// Its secret.
        client_secret or "clientSecret": Option<At<Expanded>>,
        /// The private key by which the client authenticates, as PEM, in place of a secret.
        private_key or "privateKey": Option<At<Expanded>>,
        /// The file with that key.
        private_key_file or "privateKeyFile": Option<At<FilePath>>,
        /// The id under which the authorization server knows that key.
        key_id or "keyId": Option<Expanded>,
        /// The authorization endpoint.
        authorization_url or "authorizationUrl": Option<Address>,
        /// The token endpoint.
        token_url or "tokenUrl": Option<Address>,
        /// The registration endpoint.
        registration_url or "registrationUrl": Option<Address>,
        /// An https address of a client metadata document.
        client_metadata_url or "clientMetadataUrl": Option<MetadataAddress>,
        /// The OAuth grant.
        grant: Grant = Grant::AuthorizationCode,
        /// The audience to name in an exchange of tokens.
        audience: Option<Expanded>,
    }
}

/// The OAuth grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Grant {
    /// The user approves in a browser.
    AuthorizationCode,
    /// The client's own credentials are enough.
    ClientCredentials,
    /// The access token of each subject of `serve --http` is exchanged.
    TokenExchange,
}

plain!(Grant);

/// The address of a client metadata document.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "Address")]
#[schemars(inline)]
pub(crate) struct MetadataAddress(#[schemars(with = "String")] url::Url);

impl TryFrom<Address> for MetadataAddress {
    type Error = &'static str;

    fn try_from(address: Address) -> Result<Self, &'static str> {
        let url = address.value();
        mcp::check_metadata_address(url.as_str()).map(|()| MetadataAddress(url))
    }
}

impl Kind for MetadataAddress {
    type Value = url::Url;

    fn value(self) -> url::Url {
        self.0
    }
}

impl Kind for OAuthChoice {
    type Value = Self;

    fn value(self) -> Self {
        self
    }
}

/// Implements decoding, and the schema, of `true`, `false` or a mapping.
macro_rules! plain_or_given {
    ($choice:ident, $form:ident, $name:literal, $expected:literal) => {
        impl<'de> Deserialize<'de> for $choice {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Choice;

                impl<'de> Visitor<'de> for Choice {
                    type Value = $choice;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str($expected)
                    }

                    fn visit_bool<E>(self, value: bool) -> Result<$choice, E> {
                        Ok($choice::Plain(value))
                    }

                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$choice, A::Error> {
                        let form = $form::deserialize(MapAccessDeserializer::new(map))?;
                        Ok($choice::Given(Box::new(form)))
                    }
                }

                deserializer.deserialize_any(Choice)
            }
        }

        impl JsonSchema for $choice {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let form = generator.subschema_for::<$form>();
                schemars::json_schema!({ "anyOf": [{ "type": "boolean" }, form] })
            }
        }
    };
}

plain_or_given!(OAuthChoice, OAuthForm, "OAuth", "`oauth: false`, or a mapping");
plain_or_given!(SandboxChoice, ServerSandboxForm, "ServerSandbox", "`sandbox: true`, or a mapping");

/// Permissions by tool name, in file order.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(with = "BTreeMap<String, Permission>")]
pub(crate) struct Permissions(pub(super) Vec<(Glob, Permission)>);

impl Kind for Permissions {
    type Value = Vec<(Glob, Permission)>;

    fn value(self) -> Self::Value {
        self.0
    }
}

impl<'de> Deserialize<'de> for Permissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Permissions;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Permissions, A::Error> {
        let mut rules = Vec::new();
        while let Some((name, permission)) = map.next_entry::<String, _>()? {
            rules.push((Glob::new(&name), permission));
        }
        Ok(Permissions(rules))
    }
}

/// A folder that the server may list as a root: a path relative to the file's folder, or a `file://` address.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "TextAndPath")]
#[schemars(with = "String")]
pub(crate) struct RootFolder(mcp::Root);

/// An OpenAPI document: a path relative to the file's folder, or an address.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "TextAndPath")]
#[schemars(with = "String")]
pub(crate) struct DocumentPlace(String);

impl TryFrom<TextAndPath> for DocumentPlace {
    type Error = &'static str;

    fn try_from(given: TextAndPath) -> Result<Self, &'static str> {
        let text = given.text.0;
        if text.contains("://") {
            return super::key_types::server_address(&text).map(|address| DocumentPlace(address.into()));
        }
        let path: PathBuf = given.path.value();
        let path = std::path::absolute(&path).unwrap_or(path);
        let path = path.into_os_string().into_string();
        path.map(DocumentPlace).map_err(|_| "the path of a document must be UTF-8")
    }
}

impl Kind for DocumentPlace {
    type Value = String;

    fn value(self) -> String {
        self.0
    }
}

/// A text, and the same text as a path.
#[derive(Deserialize)]
#[serde(rename = "\0text and path")]
struct TextAndPath {
    text: Expanded,
    path: FilePath,
}

impl TryFrom<TextAndPath> for RootFolder {
    type Error = &'static str;

    fn try_from(given: TextAndPath) -> Result<Self, &'static str> {
        let address = if given.text.0.contains("://") {
            let address = url::Url::parse(&given.text.0).ok().filter(|address| address.scheme() == "file");
            address.ok_or("a root is a path, or an address that starts with file://")?
        } else {
            let path: PathBuf = given.path.value();
            let path = std::path::absolute(&path).unwrap_or(path);
            url::Url::from_directory_path(&path)
                .map_err(|()| "this path can't be written as a file:// address")?
        };
        let segments = address.path_segments();
        let name = segments
            .and_then(|mut segments| segments.rfind(|segment| !segment.is_empty()).map(str::to_owned));
        Ok(RootFolder(mcp::Root { uri: String::from(address).trim_end_matches('/').to_owned(), name }))
    }
}

impl Kind for RootFolder {
    type Value = mcp::Root;

    fn value(self) -> mcp::Root {
        self.0
    }
}
