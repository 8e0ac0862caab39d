//! The configuration of one server.
//!
//! The caller reads, merges and checks configuration files.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::fd::OwnedFd,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::error::SpawnError;
use crate::in_process::{InProcessServer, OpenError, Tools};
use crate::token_subject::TokenSubject;

/// Default time limit for starting a server with its handshake, and for its whole tool list.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// Default time limit for a single request. Progress reported by the server restarts it.
pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Default interval at which the server of a managed session is pinged.
pub const DEFAULT_PING_INTERVAL: Duration = Duration::from_secs(30);

/// Stands for "no time limit", and for an interval that never passes: ten years, which can still be added to a clock.
pub const NO_TIME_LIMIT: Duration = Duration::from_secs(10 * 365 * 86_400);

/// A time limit in seconds, as configurations and listings write it: 0 stands for none.
#[must_use]
pub fn limit_in_seconds(limit: Duration) -> f64 {
    if limit >= NO_TIME_LIMIT { 0.0 } else { limit.as_secs_f64() }
}

/// One server: its name, its transport and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// The caller's name for the server; it appears in every error.
    pub name: String,
    /// The connection to the server.
    pub transport: Transport,
    /// The time limit for start and handshake together, and for a whole list of tools, resources or prompts.
    pub connect_timeout: Duration,
    /// The time limit for one request: a page of a list, a call.
    pub request_timeout: Duration,
    /// Time limits for calls of single tools, overriding `request_timeout`, by the tools' exact names.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// The interval at which the server of a managed session is pinged; a change of its tool list restarts it.
    /// [`NO_TIME_LIMIT`] for never.
    pub ping_interval: Duration,
    /// The folders sent to the server when it requests roots, as `file://` URIs with names (MCP, client/roots). If
    /// empty, the capability is not declared.
    pub roots: Vec<Root>,
    /// Additional capabilities to declare to the server (`capabilities.experimental`), for servers that understand
    /// them.
    pub experimental: Experimental,
    /// The name and version of the client, as the server sees them (`clientInfo`); those of this program if absent.
    pub client_info: Option<ClientInfo>,
    /// Whether to log messages, headers and times, with secrets masked.
    pub debug: bool,
}

/// The name and version that a client introduces itself with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientInfo {
    /// The program's name, such as `claude-code`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Additional client capabilities to declare to servers. They do not identify the server, so any two are equal: a
/// session is kept if only this changes.
#[derive(Debug, Clone, Default)]
pub struct Experimental(pub Map<String, Value>);

impl PartialEq for Experimental {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Experimental {}

/// A folder that is sent to a server as a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// A `file://` URI.
    pub uri: String,
    /// A name to display.
    pub name: Option<String>,
}

/// The connection to a server: a process or a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A child process that speaks the protocol on its standard input and output.
    Stdio(Command),
    /// Streamable HTTP (MCP 2025-03-26 and later).
    Http(Remote),
    /// HTTP with server-sent events (MCP 2024-11-05): a stream to read from, and a URL to post to.
    Sse(Remote),
    /// The API of an OpenAPI document, which a server within this process calls.
    OpenApi(OpenApi),
    /// A server within this process.
    InProcess(Arc<dyn InProcessServer>),
}

/// The API of an OpenAPI document.
#[derive(Debug, Clone)]
pub struct OpenApi {
    /// The path of the document, or its `http` or `https` URL.
    pub document: String,
    /// The headers of each request, and the API's address: an empty `url` for that of the document.
    pub remote: Remote,
    /// The server's side of its sessions.
    pub server: Arc<dyn ApiServer>,
}

/// The server's side of sessions with an API. Servers with the same identity are equal.
pub trait ApiServer: Send + Sync {
    /// Prepares a session: reads the document.
    ///
    /// # Errors
    /// The reason why the API can't be called.
    fn open<'a>(
        &'a self,
        api: &'a OpenApi,
        connect_timeout: Duration,
    ) -> BoxFuture<'a, Result<Arc<dyn Tools>, OpenError>>;

    /// Everything by which two of them could differ. It has no secrets.
    fn identity(&self) -> String;
}

impl PartialEq for OpenApi {
    fn eq(&self, other: &Self) -> bool {
        (&self.document, &self.remote) == (&other.document, &other.remote)
            && self.server.identity() == other.server.identity()
    }
}

impl Eq for OpenApi {}

impl std::fmt::Debug for dyn ApiServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("ApiServer").field(&self.identity()).finish()
    }
}

/// A program to start.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// The program: an absolute path, a path relative to `cwd`, or a name that is looked up in `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables set on top of the inherited environment. Variables whose name starts with `TOOLSMITH_` are not
    /// inherited, except for `TOOLSMITH_CACHE_DIR`. Values are never logged and never part of an error.
    pub env: BTreeMap<String, String>,
    /// Variables that are not inherited, unless `env` sets them.
    pub withheld: BTreeSet<String>,
    /// Variables that connect nested instances of this program, set on top of all others. They do not identify the
    /// server. Values are never logged.
    pub handed_on: BTreeMap<String, String>,
    /// The folder to start in; the current one if absent.
    pub cwd: Option<PathBuf>,
    /// The niceness of its processes (`nice(2)`): 0 not at all, 19 uses only idle processor time. It does not
    /// identify the server.
    pub niceness: u8,
    /// Starts it in place of this crate, such as a sandbox.
    pub launcher: Option<Arc<dyn Launcher>>,
}

/// Starts servers in another way than this crate does. Launchers with the same identity are equal.
pub trait Launcher: Send + Sync {
    /// Starts the command, and returns when it has been executed. Blocks.
    ///
    /// # Errors
    /// The reason why it can't be started. Then no process is left.
    fn launch(&self, command: &Command) -> Result<Launched, SpawnError>;

    /// Everything by which a server could distinguish two launchers. It has no secrets.
    fn identity(&self) -> String;
}

impl PartialEq for dyn Launcher {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for dyn Launcher {}

/// A server's process that a [`Launcher`] has started. It leads a session and a process group, passes SIGTERM on to the
/// server, and ends as the server does.
pub struct Launched {
    /// Its process id. It is a child of this process, and nothing else reaps it.
    pub id: u32,
    /// The end of its standard input for writing.
    pub stdin: OwnedFd,
    /// The end of its standard output for reading.
    pub stdout: OwnedFd,
    /// The end of its standard error for reading.
    pub stderr: OwnedFd,
    /// The tier of the sandbox that confines it.
    pub tier: String,
    /// Has it kill all its descendants and end, and returns at once. Dropping it, or the end of this process, does so too.
    pub kill: Box<dyn Fn() + Send + Sync>,
}

/// A server at a URL.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Remote {
    /// An absolute `http` or `https` URL.
    pub url: String,
    /// Headers sent with every request to the server's origin, and to no other. Values are never logged.
    pub headers: BTreeMap<String, String>,
    /// The authorization; `None` for a server that gets only its headers.
    pub oauth: Option<OAuth>,
    /// Whether its transport was assumed from the address, so that the other HTTP transport may be tried.
    pub is_assumed: bool,
}

/// The authorization at a server (MCP, basic/authorization). Missing settings are discovered or registered.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct OAuth {
    /// The file with the tokens of this server: read before the first request, written after each refresh.
    pub store: Option<PathBuf>,
    /// Scopes to request, separated by spaces; by default those that the server names.
    pub scope: Option<String>,
    /// The id of a client that was registered manually.
    pub client_id: Option<String>,
    /// Its secret. Never logged.
    pub client_secret: Option<String>,
    /// The private key by which the client authenticates in place of a secret, as PEM (RFC 7523, section 2.2). Never
    /// logged.
    pub private_key: Option<String>,
    /// The file with that key, if the text is not here.
    pub private_key_file: Option<PathBuf>,
    /// The id under which the authorization server knows the key (`kid`, RFC 7515, section 4.1.4).
    pub key_id: Option<String>,
    /// The authorization endpoint, overriding the discovered one.
    pub authorization_url: Option<String>,
    /// The token endpoint, overriding the discovered one.
    pub token_url: Option<String>,
    /// The registration endpoint, overriding the discovered one.
    pub registration_url: Option<String>,
    /// The https URL of a client metadata document, used as the client's id if the authorization server supports that
    /// (draft-ietf-oauth-client-id-metadata-document).
    pub client_metadata_url: Option<String>,
    /// The grant that obtains tokens.
    pub grant: Grant,
    /// The audience to name in an exchange, besides the server's URL (RFC 8693, section 2.1).
    pub audience: Option<String>,
    /// The user whose token is exchanged ([`Grant::TokenExchange`]). Without one, tokens are for the client itself, which
    /// may only list.
    pub subject: Option<Arc<TokenSubject>>,
}

/// A way to obtain tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grant {
    /// The user agrees in a browser (RFC 6749, section 4.1, with PKCE, RFC 7636).
    #[default]
    AuthorizationCode,
    /// The client's own credentials are enough (RFC 6749, section 4.4): for machines without a user.
    ClientCredentials,
    /// The access token of a user of this process is exchanged (RFC 8693). Without a user, the server is only asked for
    /// lists, with the client's own credentials.
    TokenExchange,
}

impl OAuth {
    /// The grant that is in fact used.
    pub(crate) fn effective_grant(&self) -> Grant {
        match self.grant {
            Grant::TokenExchange if self.subject.is_none() => Grant::ClientCredentials,
            grant => grant,
        }
    }
}

/// Whether an address is that of an event stream (MCP 2024-11-05): the last segment of its path is `sse`. This is how
/// every reader of a configuration assumes the transport of an address whose transport nobody named.
#[must_use]
pub fn is_event_stream(address: &str) -> bool {
    let behind_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = behind_scheme.split(['?', '#']).next().unwrap_or_default().trim_end().trim_end_matches('/');
    path.rsplit_once('/').is_some_and(|(_, last)| last.eq_ignore_ascii_case("sse"))
}

impl Transport {
    /// The name of the transport in configurations.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
            Self::InProcess(_) => "in-process",
            Self::OpenApi(_) => "openapi",
        }
    }

    /// The address, headers and authorization of a server that is reached over HTTP.
    #[must_use]
    pub fn remote(&self) -> Option<&Remote> {
        match self {
            Self::Stdio(_) | Self::InProcess(_) => None,
            Self::Http(remote) | Self::Sse(remote) | Self::OpenApi(OpenApi { remote, .. }) => Some(remote),
        }
    }
}

impl std::fmt::Debug for Command {
    // Environment values are often secrets: only the names are shown.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Command")
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("withheld", &self.withheld)
            .field("handed_on", &self.handed_on.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .field("launcher", &self.launcher.as_ref().map(|launcher| launcher.identity()))
            .finish()
    }
}

impl std::fmt::Debug for Remote {
    // Header values are often secrets: only the names are shown.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Remote")
            .field("url", &self.url)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("oauth", &self.oauth)
            .field("is_assumed", &self.is_assumed)
            .finish()
    }
}

impl std::fmt::Debug for OAuth {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("OAuth")
            .field("store", &self.store)
            .field("scope", &self.scope)
            .field("client_id", &self.client_id)
            .field("client_secret", &self.client_secret.as_ref().map(|_| "…"))
            .field("private_key", &self.private_key.as_ref().map(|_| "…"))
            .field("private_key_file", &self.private_key_file)
            .field("key_id", &self.key_id)
            .field("authorization_url", &self.authorization_url)
            .field("token_url", &self.token_url)
            .field("registration_url", &self.registration_url)
            .field("client_metadata_url", &self.client_metadata_url)
            .field("grant", &self.grant)
            .field("audience", &self.audience)
            .field("subject", &self.subject)
            .finish()
    }
}

impl ServerConfig {
    /// The authorization at a remote server.
    #[must_use]
    pub fn oauth(&self) -> Option<&OAuth> {
        self.transport.remote()?.oauth.as_ref()
    }

    /// The same server with the tokens of a user, if each user has its own.
    #[must_use]
    pub fn of_subject(&self, subject: Option<&Arc<TokenSubject>>) -> Self {
        let mut config = self.clone();
        if let Transport::Http(remote) | Transport::Sse(remote) = &mut config.transport
            && let Some(oauth) = remote.oauth.as_mut().filter(|oauth| oauth.grant == Grant::TokenExchange)
        {
            oauth.subject = subject.cloned();
        }
        config
    }

    /// Whether calls need a user whose token is exchanged, and there is none.
    pub(crate) fn lacks_subject(&self) -> bool {
        self.oauth().is_some_and(|oauth| oauth.grant == Grant::TokenExchange && oauth.subject.is_none())
    }

    /// A server with this transport and the default timeouts.
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            request_timeout: DEFAULT_REQUEST_TIMEOUT,
            tool_timeouts: BTreeMap::new(),
            ping_interval: DEFAULT_PING_INTERVAL,
            roots: Vec::new(),
            experimental: Experimental::default(),
            client_info: None,
            debug: false,
        }
    }

    /// A child process with the inherited environment and folder, and the default timeouts.
    pub fn stdio(
        name: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let command = Command {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            ..Command::default()
        };
        Self::new(name, Transport::Stdio(command))
    }

    /// A server with streamable HTTP at `url`, with the default timeouts.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name, Transport::Http(Remote { url: url.into(), ..Remote::default() }))
    }

    /// A server with HTTP and server-sent events at `url`, with the default timeouts.
    pub fn sse(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name, Transport::Sse(Remote { url: url.into(), ..Remote::default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::is_event_stream;

    #[test]
    fn an_address_is_an_event_stream_if_its_path_ends_with_sse() {
        for stream in [
            "https://x.example/sse",
            "https://x.example/sse/",
            "https://x.example/sse//",
            "https://x.example/mcp/SSE?key=a/b",
            "https://x.example/v1/sse/?a=1#b",
            "https://x.example/sse#/mcp",
            "http://127.0.0.1:8000/sse ",
            "${BASE}/sse",
        ] {
            assert!(is_event_stream(stream), "{stream}");
        }
        for other in [
            "https://x.example/mcp",
            "https://sse",
            "https://sse/",
            "https://x.example/sse/mcp",
            "https://x.example/mcp?path=/sse",
            "https://x.example/mcp#/sse",
            "https://x.example/mysse",
            "https://x.example/",
            "sse",
            "",
        ] {
            assert!(!is_event_stream(other), "{other}");
        }
    }
}
