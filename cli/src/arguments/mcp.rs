//! The command line of the commands of `mcp` that look at servers and call tools.

use clap::{Args, Subcommand};

use super::{ConfigArguments, server_name};

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum LookCommand {
    /// The configured servers, those that are switched off among them. None is started.
    ListServers(LookArguments),
    /// Connect to a server, and say what it says of itself.
    Info(OneArguments),
    /// The tools of all servers, or of one.
    ListTools(ToolsArguments),
    /// Call a tool.
    CallTool(CallArguments),
    /// Connect to a server, and ask it for its tools.
    Test(OneArguments),
    /// Connect to all servers, or to one, and say how they are.
    Status(LookArguments),
}

/// Which configuration, and in which form.
#[derive(Debug, Args)]
pub(crate) struct LookArguments {
    /// Only this server, with details.
    #[arg(value_name = "NAME", value_parser = server_name)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print everything as one JSON value.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which server.
#[derive(Debug, Args)]
pub(crate) struct OneArguments {
    /// The server's name in the configuration.
    #[arg(value_name = "NAME", value_parser = server_name)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print everything as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `mcp list-tools`.
#[derive(Debug, Args)]
pub(crate) struct ToolsArguments {
    #[command(flatten)]
    pub(crate) look: LookArguments,
    /// Also those that are filtered out, denied or held back.
    #[arg(long)]
    pub(crate) show_all: bool,
    /// Only those.
    #[arg(long, conflicts_with = "show_all")]
    pub(crate) show_filtered: bool,
}

/// Arguments of `mcp call-tool`.
#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// The server's name in the configuration.
    #[arg(long, value_name = "NAME", value_parser = server_name)]
    pub(crate) server: String,
    /// The tool's name as its server has it.
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: String,
    /// The arguments, as a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// Do not ask about these tools, as in `run`. Repeatable.
    #[arg(long, value_name = "SERVER.TOOL")]
    pub(crate) allow: Vec<String>,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print the result as one JSON object: success, output, data, error, content.
    #[arg(long)]
    pub(crate) json: bool,
}
