//! The form of a server's entry. Its rules, and the server that it describes, are in `server`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::key_macros::{Kind, plain, record};
use super::key_types::{Address, Expanded, FilePath, Seconds};
use super::permissions::{Glob, Permission};
use super::placed::{AsWritten, At};

record! {
    /// A server: a `command` that is started, or a `url`.
    #[derive(Default)]
    #[serde(rename_all = "camelCase", default)]
    ServerKeys from ServerForm {
        /// stdio, http or sse. Without it, `command` means stdio and `url` http.
        #[serde(rename = "type")]
        transport or "transport": Option<ServerType>,
        /// The program of a stdio server.
        command: Option<At<AsWritten<Expanded>>>,
        /// Its arguments.
        args: Option<At<Vec<AsWritten<Expanded>>>>,
        /// Environment variables for it, on top of the inherited ones.
        env: Option<At<BTreeMap<String, At<Expanded>>>>,
        /// The folder that it starts in, from the folder of this file on.
        cwd: Option<At<FilePath>>,
        /// Whether it inherits the variables with keys of models (`api_key_env`).
        inherit_model_keys: At<bool> = false,
        /// The address of an http or sse server.
        url: Option<At<AsWritten<Expanded>>>,
        /// Headers that it is sent.
        headers: Option<At<BTreeMap<String, At<Expanded>>>>,
        /// How toolsmith is authorized at the server; `false` where it is not.
        oauth: Option<At<OAuthChoice>>,
        /// Longest time to connect, in seconds (default: that of `globalSettings`).
        timeout: Option<Seconds>,
        /// Longest time of a request, in seconds (default: that of `globalSettings`).
        request_timeout: Option<Seconds>,
        /// The same for calls of single tools, by name.
        tool_timeouts: BTreeMap<String, Seconds>,
        /// Whether the server is used.
        enabled: bool = true,
        /// Whether snippets may call its tools; otherwise each is called directly.
        code_mode: bool = true,
        /// Only these tools, by name; `*` stands for any text.
        enabled_tools: Option<At<Vec<Glob>>>,
        /// All tools but these. Excludes `enabledTools`.
        disabled_tools: Option<At<Vec<Glob>>>,
        /// Whether all tools may be called without asking.
        trust: At<bool> = false,
        /// Whether the tools may be called.
        permission: Permission = Permission::default(),
        /// The same by tools' names; the first that fits decides, and `permission` for the rest.
        permissions: Permissions,
        /// Whether arguments are checked against the tools' input schemas before a call leaves.
        check_input: bool = true,
        /// Folders that the server may be told of: paths, or file:// addresses.
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
    /// A program that is started.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events, of older servers.
    Sse,
}

plain!(ServerType, Permission);

/// How to be authorized, or not at all.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OAuthChoice {
    /// `false`: never; `true`: as without the key.
    Plain(bool),
    Given(Box<OAuthForm>),
}

record! {
    /// OAuth settings; what is not given is discovered or registered.
    #[derive(Default)]
    #[serde(default)]
    OAuthKeys from OAuthForm {
        /// Scopes to ask for, separated by spaces.
        scope: Option<Expanded>,
        /// A client that was registered by hand.
        client_id or "clientId": Option<Expanded>,
        /// Its secret.
        client_secret or "clientSecret": Option<At<Expanded>>,
        /// The authorization endpoint.
        authorization_url or "authorizationUrl": Option<Address>,
        /// The token endpoint.
        token_url or "tokenUrl": Option<Address>,
        /// The registration endpoint.
        registration_url or "registrationUrl": Option<Address>,
        /// An https address of a client metadata document.
        client_metadata_url or "clientMetadataUrl": Option<MetadataAddress>,
        /// How tokens are got.
        grant: Grant = Grant::AuthorizationCode,
    }
}

/// How tokens are got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Grant {
    /// A person agrees in a browser.
    AuthorizationCode,
    /// The client's own credentials are enough.
    ClientCredentials,
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
        Some(address.value())
            .filter(|url| url.scheme() == "https")
            .map(MetadataAddress)
            .ok_or("the address of a client's metadata must begin with https://")
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
        let form = OAuthForm::deserialize(MapAccessDeserializer::new(map))?;
        Ok(OAuthChoice::Given(Box::new(form)))
    }
}

impl JsonSchema for OAuthChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OAuth".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let form = generator.subschema_for::<OAuthForm>();
        schemars::json_schema!({ "anyOf": [{ "type": "boolean" }, form] })
    }
}

/// Permissions by tools' names, in their order.
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
        formatter.write_str("keys with values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Permissions, A::Error> {
        let mut rules = Vec::new();
        while let Some((name, permission)) = map.next_entry::<String, _>()? {
            rules.push((Glob::new(&name), permission));
        }
        Ok(Permissions(rules))
    }
}

/// A folder that the server may be told of: a path from the file's folder on, or a `file://` address.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "TextAndPath")]
#[schemars(with = "String")]
pub(crate) struct RootFolder(mcp::Root);

/// A text, and the path that it is if it is one.
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
            address.ok_or("a root is a path, or an address that begins with file://")?
        } else {
            let path: PathBuf = given.path.value();
            let path = std::path::absolute(&path).unwrap_or(path);
            url::Url::from_directory_path(&path)
                .map_err(|()| "this path is no folder that an address could name")?
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
