//! The command line of `serve` and `mcp serve`.

use clap::Args;
use config::{LoadOptions, Needs};
use server::options::ServeOptions;
use terminal::LogFormat;

use super::values::address;
use super::{AllowArguments, Command, ConfigArguments, McpCommand, ServersArguments};

/// Options for the transport of a server.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ListeningArguments {
    /// Serve over streamable HTTP at this address, such as 127.0.0.1:8080, instead of standard input and output. The
    /// endpoint is /mcp; /healthz and /readyz report its health. Port 0 selects a free port. The address is printed on
    /// standard error. Changing the address needs a restart.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// The environment variable with the token that HTTP clients must send (`Authorization: Bearer …`), at least 16
    /// characters. Required if the address can be reached from other machines, unless the configuration has tokens of
    /// users or an issuer (`serve.tokens`, `serve.auth`). Changing the token needs a restart. The variable is not passed on
    /// to the servers that are started.
    #[arg(long, value_name = "VARIABLE", requires = "http")]
    pub(crate) token_env: Option<String>,
    /// How messages are written to standard error: as lines of text, or as JSON lines with `time`, `level` and
    /// `message`. In JSON, the message about the end of an execution also has its status, times and identifiers.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormatArgument,
}

/// The form of messages on standard error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormatArgument {
    /// Lines of text.
    #[default]
    Text,
    /// JSON lines.
    Json,
}

impl From<LogFormatArgument> for LogFormat {
    fn from(argument: LogFormatArgument) -> Self {
        match argument {
            LogFormatArgument::Text => LogFormat::Text,
            LogFormatArgument::Json => LogFormat::Json,
        }
    }
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    #[command(flatten)]
    pub(crate) listening: ListeningArguments,
    #[command(flatten)]
    pub(crate) permission: AllowArguments,
    #[command(flatten)]
    pub(crate) page: PageArguments,
}

/// Options for the page of `serve`.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct PageArguments {
    /// Also serve the page of `toolsmith ui` at this loopback address; without ADDRESS, at a free port. Its address,
    /// which works once, is printed on standard error. The page shows the open questions of clients, too.
    #[arg(long, value_name = "ADDRESS", value_parser = address, num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    pub(crate) ui: Option<std::net::SocketAddr>,
    /// The page can change things. It also answers the permission questions of clients that can't ask their user.
    #[arg(long, requires = "ui")]
    pub(crate) allow_actions: bool,
}

/// Arguments of `mcp serve`.
#[derive(Debug, Args)]
pub(crate) struct SubagentArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    #[command(flatten)]
    pub(crate) listening: ListeningArguments,
    #[command(flatten)]
    pub(crate) permission: AllowArguments,
}

impl Command {
    /// Whether it serves clients over HTTP.
    pub(crate) fn serves_http(&self) -> bool {
        let listening = match self {
            Command::Serve(arguments) => &arguments.listening,
            Command::Mcp(McpCommand::Serve(arguments)) => &arguments.listening,
            _ => return false,
        };
        listening.http.is_some()
    }
}

impl From<ServeArguments> for ServeOptions {
    fn from(arguments: ServeArguments) -> Self {
        // Servers may be added while it runs.
        let load = arguments.place.options_with(Needs::Nothing).without_untrusted();
        serve_options(load, arguments.listening, arguments.permission)
    }
}

impl From<SubagentArguments> for ServeOptions {
    fn from(arguments: SubagentArguments) -> Self {
        serve_options(arguments.place.options(), arguments.listening, arguments.permission)
    }
}

fn serve_options(
    load: LoadOptions,
    listening: ListeningArguments,
    permission: AllowArguments,
) -> ServeOptions {
    ServeOptions {
        load,
        http: listening.http,
        token_variable: listening.token_env,
        allow: permission.allow,
        questions: None,
    }
}
