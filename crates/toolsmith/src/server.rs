//! Servers, as a program describes them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcp::{Command, OpenApi, Remote, ServerConfig, Transport};

/// An MCP server.
///
/// ```
/// use toolsmith::Server;
///
/// let notes = Server::stdio("uvx").args(["mcp-server-time"]).variable("TZ", "Europe/Stockholm");
/// let shop = Server::http("https://shop.example.com/mcp").header("Authorization", "Bearer …");
/// ```
#[derive(Debug, Clone)]
pub struct Server {
    transport: Transport,
    request_timeout: Option<Duration>,
    connect_timeout: Option<Duration>,
}

impl Server {
    /// A program that speaks the protocol on its standard input and output. It inherits this process's environment.
    pub fn stdio(command: impl Into<String>) -> Self {
        Server::new(Transport::Stdio(Command { command: command.into(), ..Command::default() }))
    }

    /// A server with streamable HTTP at an absolute `http` or `https` URL.
    pub fn http(url: impl Into<String>) -> Self {
        Server::new(Transport::Http(Remote { url: url.into(), ..Remote::default() }))
    }

    /// A server with HTTP and server-sent events (MCP 2024-11-05).
    pub fn sse(url: impl Into<String>) -> Self {
        Server::new(Transport::Sse(Remote { url: url.into(), ..Remote::default() }))
    }

    /// An API with an `OpenAPI` document (3.0 or 3.1): its operations are the tools. The document is an absolute path,
    /// or an `http` or `https` URL. `url` is the address of the API; `None`: that of the document.
    ///
    /// ```
    /// use toolsmith::Server;
    ///
    /// let shop = Server::openapi("/etc/shop/openapi.yaml", Some("https://shop.example.com/v2"));
    /// ```
    pub fn openapi(document: impl Into<String>, url: Option<&str>) -> Self {
        let remote = Remote { url: url.unwrap_or_default().to_owned(), ..Remote::default() };
        let server = openapi::Server::new("all operations".to_owned(), Arc::new(|_: &str| true));
        Server::new(Transport::OpenApi(OpenApi {
            document: document.into(),
            remote,
            server: Arc::new(server),
        }))
    }

    pub(crate) fn new(transport: Transport) -> Self {
        Server { transport, request_timeout: None, connect_timeout: None }
    }

    /// Adds arguments of the command. A server at a URL has none.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        if let Transport::Stdio(command) = &mut self.transport {
            command.args.extend(args.into_iter().map(Into::into));
        }
        self
    }

    /// Sets a variable of the command's environment. Its value is a secret: it is never logged and never in an error.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Transport::Stdio(command) = &mut self.transport {
            command.env.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the folder in which the command starts; by default that of this process.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Transport::Stdio(command) = &mut self.transport {
            command.cwd = Some(folder.into());
        }
        self
    }

    /// Sets a header of each request. Its value is a secret, as with [`Server::variable`].
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Transport::Http(remote) | Transport::Sse(remote) | Transport::OpenApi(OpenApi { remote, .. }) =
            &mut self.transport
        {
            remote.headers.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the time limit of one request, which progress restarts (default: 30 s).
    #[must_use]
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.request_timeout = Some(limit);
        self
    }

    /// Sets the time limit for starting it with its handshake, and for its list of tools (default: 60 s).
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = Some(limit);
        self
    }

    /// The server as an entry of a configuration.
    pub(crate) fn entry(self, name: &str) -> config::Server {
        let target = match &self.transport {
            Transport::Stdio(command) => command.command.clone(),
            Transport::Http(remote) | Transport::Sse(remote) => remote.url.clone(),
            Transport::OpenApi(api) => api.document.clone(),
            Transport::InProcess(_) => "functions of this program".to_owned(),
        };
        let mut connection = ServerConfig::new(name, self.transport);
        connection.request_timeout = self.request_timeout.unwrap_or(connection.request_timeout);
        connection.connect_timeout = self.connect_timeout.unwrap_or(connection.connect_timeout);
        config::Server::new(connection, target)
    }
}
