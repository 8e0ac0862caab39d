//! The command line of `mcp serve`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::ConfigArguments;

/// Arguments of `mcp serve`.
#[derive(Debug, Args)]
pub(crate) struct SubagentArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Serve over streamable HTTP at this address, such as 127.0.0.1:8080, in place of standard input and output; the
    /// endpoint is /mcp. Port 0 takes a free one. Where it is served stands on standard error.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// The environment variable with the token that HTTP clients must show (`Authorization: Bearer …`), of 16 characters or
    /// more. Needed where the address can be reached from other machines. No server that is started gets to see it.
    #[arg(long, value_name = "VARIABLE", requires = "http")]
    pub(crate) token_env: Option<String>,
    /// Do not ask about these tools: a name or a glob, such as 'files.read_*' or '*'. What the configuration denies stays
    /// denied. Repeatable.
    #[arg(long, value_name = "SERVER.TOOL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) allow: Vec<String>,
    /// No notes on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
