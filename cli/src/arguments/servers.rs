//! The command line of what looks at configurations and changes them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use config::Permission;

use super::{ConfigArguments, key_value, seconds, server_name};

/// Subcommands of `config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the JSON Schema of configurations.
    Schema,
    /// Tell everything that is wrong with a configuration, with places; nothing is started. Exit code 2 if anything is.
    Check(CheckArguments),
    /// Print what holds, and which layer each part comes from; secrets are masked.
    Show(ShowArguments),
}

/// Arguments of `config check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The files, each by itself (default: all layers that would be used here).
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// Arguments of `config show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print everything as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `trust`.
#[derive(Debug, Args)]
pub(crate) struct TrustArguments {
    /// The project's folder (default: this one).
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
    /// Agree without being asked.
    #[arg(long, conflicts_with_all = ["show", "remove"])]
    pub(crate) yes: bool,
    /// Only show what it says, and whether it is trusted.
    #[arg(long, conflicts_with = "remove")]
    pub(crate) show: bool,
    /// Take the trust back.
    #[arg(long)]
    pub(crate) remove: bool,
}

/// Whose file is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Scope {
    /// `toolsmith.yaml` in this folder, or the configuration that is there.
    #[default]
    Project,
    /// The user's own file.
    User,
}

/// A transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportArgument {
    /// A program that is started.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events.
    Sse,
}

/// What newly written servers may be asked to do.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AccessArguments {
    /// Whose file is changed.
    #[arg(long, value_enum, default_value_t = Scope::Project)]
    pub(crate) scope: Scope,
    /// All tools of the server may be called without asking.
    #[arg(long, conflicts_with = "permission")]
    pub(crate) trust: bool,
    /// Whether its tools may be called: allow, ask, ask-each or deny. Asked for on a terminal, and otherwise ask.
    #[arg(long, value_name = "PERMISSION", value_parser = permission)]
    pub(crate) permission: Option<Permission>,
    /// Replace what is there under the same name.
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Arguments of `mcp add`.
#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// What the server is called.
    #[arg(value_parser = server_name)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) access: AccessArguments,
    /// How the server is reached (default: stdio with a command, http with an address).
    #[arg(long, value_enum, alias = "type")]
    pub(crate) transport: Option<TransportArgument>,
    /// The program of a stdio server.
    #[arg(long, conflicts_with = "line")]
    pub(crate) command: Option<String>,
    /// An argument for it. Repeatable.
    #[arg(long = "arg", value_name = "ARGUMENT", conflicts_with = "line", allow_hyphen_values = true)]
    pub(crate) args: Vec<String>,
    /// An environment variable for it; `KEY=${KEY}` takes it from the environment. Repeatable.
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) env: Vec<(String, String)>,
    /// The folder that it starts in.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<String>,
    /// The address of an http or sse server.
    #[arg(long, conflicts_with_all = ["command", "line"])]
    pub(crate) url: Option<String>,
    /// A header that it is sent. Repeatable.
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = key_value)]
    pub(crate) headers: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) oauth: OAuthArguments,
    /// Longest time to connect, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Longest time of a request, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) request_timeout: Option<Duration>,
    /// Whether the server is used.
    #[arg(long, value_name = "BOOLEAN", action = clap::ArgAction::Set)]
    pub(crate) enabled: Option<bool>,
    /// The command of a stdio server with its arguments, behind `--`.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) line: Vec<String>,
}

/// OAuth settings of `mcp add`.
#[derive(Debug, Args)]
pub(crate) struct OAuthArguments {
    /// Scopes to ask for, separated by spaces.
    #[arg(long = "oauth-scope", value_name = "SCOPES")]
    pub(crate) scopes: Option<String>,
    /// A client that was registered by hand.
    #[arg(long = "oauth-client-id", value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// Its secret; `${VARIABLE}` keeps it out of the file.
    #[arg(long = "oauth-client-secret", value_name = "SECRET")]
    pub(crate) client_secret: Option<String>,
    /// The authorization endpoint.
    #[arg(long = "oauth-authorization-url", value_name = "URL")]
    pub(crate) authorization_url: Option<String>,
    /// The token endpoint.
    #[arg(long = "oauth-token-url", value_name = "URL")]
    pub(crate) token_url: Option<String>,
    /// The registration endpoint.
    #[arg(long = "oauth-registration-url", value_name = "URL")]
    pub(crate) registration_url: Option<String>,
    /// The https address of a client metadata document.
    #[arg(long = "oauth-client-metadata-url", value_name = "URL")]
    pub(crate) client_metadata_url: Option<String>,
    /// How tokens are got: authorization_code or client_credentials.
    #[arg(long = "oauth-grant", value_name = "GRANT", value_parser = ["authorization_code", "client_credentials"])]
    pub(crate) grant: Option<String>,
}

/// Arguments of `mcp import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The file (default: .mcp.json).
    #[arg(value_name = "FILE", default_value = ".mcp.json")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) access: AccessArguments,
}

/// Arguments of `mcp remove|enable|disable`.
#[derive(Debug, Args)]
pub(crate) struct NamedArguments {
    /// The server.
    #[arg(value_parser = server_name)]
    pub(crate) name: String,
    /// Whose file is changed.
    #[arg(long, value_enum, default_value_t = Scope::Project)]
    pub(crate) scope: Scope,
}

fn permission(text: &str) -> Result<Permission, String> {
    serde_json::from_value(text.into()).map_err(|_| "write allow, ask, ask-each or deny".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        crate::arguments::Arguments::command().debug_assert();
    }

    #[test]
    fn a_permission_is_read_as_the_configuration_writes_it() {
        use config::Permission::{Allow, Ask, AskEach, Deny};
        for (name, permission) in [("allow", Allow), ("ask", Ask), ("ask-each", AskEach), ("deny", Deny)] {
            assert_eq!(super::permission(name), Ok(permission));
        }
        let wrong = "write allow, ask, ask-each or deny".to_owned();
        assert_eq!([super::permission("AskEach"), super::permission("")], [Err(wrong.clone()), Err(wrong)]);
    }
}
