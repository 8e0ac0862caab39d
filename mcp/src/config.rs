//! What is needed to reach one server.
//!
//! Reading, merging and checking configuration files is left to the caller.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// How long starting a server and its handshake may take, and how long its whole tool list may take, unless configured.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a single request may take unless configured.
pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// One server: what it is called here, how it is reached, how long it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// The caller's name for the server; it appears in every error.
    pub name: String,
    /// How the server is reached.
    pub transport: Transport,
    /// The limit for start and handshake together, and for a whole tool list.
    pub connect_timeout: Duration,
    /// The limit for one request: a page of the tool list, a call.
    pub request_timeout: Duration,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// A child process that speaks the protocol on its standard input and output.
    Stdio {
        /// The program: an absolute path, a path relative to `cwd`, or a name that is looked up in `PATH`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables set on top of the inherited environment. Variables whose name starts with `TOOLSMITH_` are not
        /// inherited. Values are never logged and never part of an error.
        env: BTreeMap<String, String>,
        /// The folder to start in; the current one if absent.
        cwd: Option<PathBuf>,
    },
}

impl std::fmt::Debug for Transport {
    // Values of the environment are often secrets: only the names are shown.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Stdio { command, args, env, cwd } = self;
        formatter
            .debug_struct("Stdio")
            .field("command", command)
            .field("args", args)
            .field("env", &env.keys().collect::<Vec<_>>())
            .field("cwd", cwd)
            .finish()
    }
}

impl ServerConfig {
    /// A server behind `transport`, with the default time-outs.
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            request_timeout: DEFAULT_REQUEST_TIMEOUT,
        }
    }

    /// A child process with the inherited environment and folder, and the default time-outs.
    pub fn stdio(
        name: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self::new(
            name,
            Transport::Stdio {
                command: command.into(),
                args: args.into_iter().map(Into::into).collect(),
                env: BTreeMap::new(),
                cwd: None,
            },
        )
    }
}
