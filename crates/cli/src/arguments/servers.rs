//! The command line of the commands that inspect and change configurations.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use clients::Client;
use clients::edit::Scope;
use config::InvalidValue;
use config::Permission;

use super::offers::OfferArguments;
use super::output::OutputArguments;
use super::{ConfigArguments, NameAndValue, ServersArguments, seconds_or_none, server_name};

/// Subcommands of `config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the JSON Schema of configurations.
    Schema,
    /// Check a configuration and report every error with file and line. Starts no server. Exit code 2 if there are
    /// errors.
    Check(CheckArguments),
    /// Print the effective configuration, with the layer that each setting comes from. Literal values in `env`,
    /// `headers` and `client_secret` are masked, and so are secrets in addresses.
    Show(ShowArguments),
    /// Print a proposal for a section of the configuration, as YAML to check and paste. Nothing is changed. Uses the known
    /// tools of the servers, and asks servers whose tools are not known.
    Suggest(SuggestArguments),
}

/// Arguments of `config suggest`.
#[derive(Debug, Args)]
pub(crate) struct SuggestArguments {
    /// The section.
    pub(crate) section: Section,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
}

/// A section that can be proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Labels of tools: private and untrusted answers, and calls that leave.
    Flows,
}

/// Arguments of `config check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The files to check, each on its own (default: all layers that apply in this folder).
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print everything as one JSON object: `ok` and `problems`, each with its place.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `config show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Arguments of `trust`.
#[derive(Debug, Args)]
pub(crate) struct TrustArguments {
    /// The project's folder (default: this one).
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
    /// Trust the configuration without asking.
    #[arg(long, conflicts_with_all = ["show", "remove"])]
    pub(crate) yes: bool,
    /// Only show what the configuration does, and whether it is trusted.
    #[arg(long, conflicts_with = "remove")]
    pub(crate) show: bool,
    /// Revoke the trust.
    #[arg(long)]
    pub(crate) remove: bool,
    /// With --show: print everything as one JSON object.
    #[arg(long, requires = "show")]
    pub(crate) json: bool,
}

/// A transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportArgument {
    /// A program, over its standard input and output.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events.
    Sse,
}

/// Options for what new servers may do.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AccessArguments {
    /// Confine the new servers that are local programs (`sandbox: true`).
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// Allow calls to all tools of the new servers without asking.
    #[arg(long, conflicts_with = "permission")]
    pub(crate) trust: bool,
    /// Permission for the tools of the new servers: allow, ask, ask-each or deny (default: you are asked on a terminal,
    /// otherwise `ask`).
    #[arg(long, value_name = "PERMISSION", value_parser = permission)]
    pub(crate) permission: Option<Permission>,
}

/// Options for the file to which servers are added.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DestinationArguments {
    /// Which configuration to change (default: the project's if this folder has one, otherwise your own, which counts in
    /// all folders). `project` writes a new `toolsmith.yaml` if there is none.
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Scope>,
    #[command(flatten)]
    pub(crate) access: AccessArguments,
    /// Replace an existing server of the same name.
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Arguments of `mcp add`.
#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// The server's name.
    #[arg(value_parser = server_name)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) destination: DestinationArguments,
    #[command(flatten)]
    pub(crate) offer: OfferArguments,
    /// The transport (default: stdio for a command; for a URL sse if its path ends with /sse, otherwise http).
    #[arg(long, value_enum, alias = "type")]
    pub(crate) transport: Option<TransportArgument>,
    /// The program of a stdio server.
    #[arg(long, conflicts_with = "line")]
    pub(crate) command: Option<String>,
    /// An argument of the program. Repeatable.
    #[arg(long = "arg", value_name = "ARGUMENT", conflicts_with = "line", allow_hyphen_values = true)]
    pub(crate) args: Vec<String>,
    /// An environment variable of the program; `KEY=${KEY}` copies it from the environment. Repeatable.
    #[arg(long = "env", short = 'e', value_name = "KEY=VALUE", value_parser = NameAndValue)]
    pub(crate) env: Vec<(String, String)>,
    /// The program's working folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<String>,
    /// An OpenAPI document, whose operations become the tools: a file, or its URL. `--url` is then where the API is.
    #[arg(long, value_name = "FILE|URL", conflicts_with_all = ["command", "line", "transport"])]
    pub(crate) openapi: Option<String>,
    /// The URL of an http or sse server.
    #[arg(long, conflicts_with_all = ["command", "line"])]
    pub(crate) url: Option<String>,
    /// An HTTP header to send to the server. Repeatable.
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = NameAndValue)]
    pub(crate) headers: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) oauth: OAuthArguments,
    /// Time limit for connecting, in seconds; 0 for none (default: `globalSettings.timeout`, at most 86400).
    #[arg(long, value_name = "SECONDS", value_parser = seconds_or_none)]
    pub(crate) timeout: Option<Duration>,
    /// Time limit for a request, in seconds; 0 for none (default: `globalSettings.requestTimeout`, at most 86400).
    #[arg(long, value_name = "SECONDS", value_parser = seconds_or_none)]
    pub(crate) request_timeout: Option<Duration>,
    /// Whether the server is enabled.
    #[arg(long, value_name = "BOOLEAN", action = clap::ArgAction::Set)]
    pub(crate) enabled: Option<bool>,
    /// The command of a stdio server with its arguments, or the URL of an http or sse server. Options of `mcp add` must
    /// come before it.
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) line: Vec<String>,
}

/// OAuth settings of `mcp add`.
#[derive(Debug, Args)]
pub(crate) struct OAuthArguments {
    /// Scopes to request, separated by spaces.
    #[arg(long = "oauth-scope", value_name = "SCOPES")]
    pub(crate) scopes: Option<String>,
    /// The id of a client that was registered manually.
    #[arg(long = "oauth-client-id", value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// The client's secret; `${VARIABLE}` keeps it out of the file.
    #[arg(long = "oauth-client-secret", value_name = "SECRET")]
    pub(crate) client_secret: Option<String>,
    /// The client's private key as PEM, in place of a secret; `${VARIABLE}` keeps it out of the file.
    #[arg(long = "oauth-private-key", value_name = "PEM")]
    pub(crate) private_key: Option<String>,
    /// The file with the client's private key.
    #[arg(long = "oauth-private-key-file", value_name = "FILE", conflicts_with = "private_key")]
    pub(crate) private_key_file: Option<String>,
    /// The id under which the authorization server knows that key.
    #[arg(long = "oauth-key-id", value_name = "ID")]
    pub(crate) key_id: Option<String>,
    /// The authorization endpoint.
    #[arg(long = "oauth-authorization-url", value_name = "URL")]
    pub(crate) authorization_url: Option<String>,
    /// The token endpoint.
    #[arg(long = "oauth-token-url", value_name = "URL")]
    pub(crate) token_url: Option<String>,
    /// The registration endpoint.
    #[arg(long = "oauth-registration-url", value_name = "URL")]
    pub(crate) registration_url: Option<String>,
    /// The https URL of a client metadata document.
    #[arg(long = "oauth-client-metadata-url", value_name = "URL")]
    pub(crate) client_metadata_url: Option<String>,
    /// The grant type.
    #[arg(long = "oauth-grant", value_name = "GRANT", value_parser = ["authorization_code", "client_credentials"])]
    pub(crate) grant: Option<String>,
}

/// Arguments of `mcp import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The file to import: JSON with comments, or Codex's TOML.
    #[arg(value_name = "FILE", default_value = ".mcp.json")]
    pub(crate) file: PathBuf,
    /// Import the servers of this client's own configuration instead of a file.
    #[arg(long, value_enum, value_name = "CLIENT", conflicts_with = "file")]
    pub(crate) from: Option<Client>,
    #[command(flatten)]
    pub(crate) destination: DestinationArguments,
}

/// Arguments of `mcp remove|enable|disable`.
#[derive(Debug, Args)]
pub(crate) struct NamedArguments {
    /// The server's name.
    #[arg(value_parser = server_name)]
    pub(crate) name: String,
    /// Which configuration to change (default: the project's if this folder has one, otherwise your own).
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Scope>,
}

fn permission(text: &str) -> Result<Permission, InvalidValue> {
    serde_json::from_value(text.into())
        .map_err(|_| InvalidValue("write allow, ask, ask-each or deny".to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::AddArguments;

    #[test]
    fn the_command_line_is_consistent() {
        crate::arguments::Arguments::command().debug_assert();
    }

    /// Reads these words as those of `mcp add`.
    fn added(words: &[&str]) -> Result<AddArguments, clap::Error> {
        use clap::Parser as _;
        let words = ["toolsmith", "mcp", "add"].iter().chain(words);
        let parsed = crate::arguments::Arguments::try_parse_from(words)?;
        let crate::arguments::Command::Mcp(crate::arguments::McpCommand::Add(add)) = parsed.command else {
            panic!("another command")
        };
        Ok(*add)
    }

    #[test]
    fn a_command_follows_the_name_with_or_without_two_dashes() {
        let line: Vec<String> = ["npx", "-y", "pkg", "--config", "x"].map(str::to_owned).to_vec();
        for dashes in [&["--"][..], &[]] {
            let words = [&["a", "-e", "KEY=1"], dashes, &["npx", "-y", "pkg", "--config", "x"]].concat();
            let add = added(&words).unwrap();
            assert_eq!((add.line, add.env), (line.clone(), vec![("KEY".to_owned(), "1".to_owned())]));
        }
        assert!(added(&["a", "--no-such-option"]).is_err());
    }

    #[test]
    fn permissions_are_parsed_as_in_the_configuration() {
        use config::Permission::{Allow, Ask, AskEach, Deny};
        for (name, permission) in [("allow", Allow), ("ask", Ask), ("ask-each", AskEach), ("deny", Deny)] {
            assert_eq!(super::permission(name), Ok(permission));
        }
        for wrong in ["AskEach", ""] {
            let refused = super::permission(wrong).unwrap_err();
            assert_eq!(refused.to_string(), "write allow, ask, ask-each or deny");
        }
    }
}
