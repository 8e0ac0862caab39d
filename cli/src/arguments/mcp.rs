//! The command line of the `mcp` commands that inspect servers and call tools.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use super::{ConfigArguments, server_name};

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum LookCommand {
    /// List the configured servers, including disabled ones, without starting any.
    ListServers(LookArguments),
    /// Connect to a server, and print its details.
    Info(OneArguments),
    /// List the tools of all servers, or of one.
    ListTools(ToolsArguments),
    /// Call a tool.
    CallTool(CallArguments),
    /// Test a server: connect to it and list its tools.
    Test(OneArguments),
    /// Connect to all servers, or to one, and report their state.
    Status(LookArguments),
    /// List the resources of a server.
    ListResources(OneArguments),
    /// List the resource templates of a server.
    ListResourceTemplates(OneArguments),
    /// Read a resource of a server.
    ReadResource(ResourceArguments),
    /// List the prompts of a server.
    ListPrompts(OneArguments),
    /// Fill in a prompt of a server, and print its messages.
    GetPrompt(PromptArguments),
}

/// Arguments of `mcp list-servers` and `mcp status`.
#[derive(Debug, Args)]
pub(crate) struct LookArguments {
    /// Show only this server.
    #[arg(value_name = "NAME", value_parser = server_name)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print everything as one JSON value.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of the commands for one server.
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
    /// Also list tools that `enabledTools`, `disabledTools` or `globalSettings.deny` exclude, or a lock file holds back.
    #[arg(long)]
    pub(crate) show_all: bool,
    /// List only the tools that --show-all adds.
    #[arg(long, conflicts_with = "show_all")]
    pub(crate) show_filtered: bool,
}

/// Arguments of `mcp call-tool`.
#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// The server's name in the configuration.
    #[arg(long, value_name = "NAME", value_parser = server_name)]
    pub(crate) server: String,
    /// The tool's name, as the server lists it.
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: String,
    /// The arguments, as a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// Call these tools without asking, as in `run`. Repeatable.
    #[arg(long, value_name = "SERVER.TOOL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) allow: Vec<String>,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print the result as one JSON object: success, output, data, error, content.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `mcp login`.
#[derive(Debug, Args)]
pub(crate) struct LoginArguments {
    /// The server's name in the configuration.
    #[arg(value_name = "NAME", value_parser = server_name)]
    pub(crate) name: String,
    /// Print the address to visit instead of opening a browser. The browser must be on this machine.
    #[arg(long)]
    pub(crate) no_browser: bool,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
}

/// Arguments of `mcp logout`.
#[derive(Debug, Args)]
pub(crate) struct NameArguments {
    /// The server's name in the configuration.
    #[arg(value_name = "NAME", value_parser = server_name)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
}

/// Arguments of `mcp read-resource`.
#[derive(Debug, Args)]
pub(crate) struct ResourceArguments {
    #[command(flatten)]
    pub(crate) one: OneArguments,
    /// The resource's URI, as the server lists it.
    #[arg(value_name = "URI")]
    pub(crate) uri: String,
}

/// Arguments of `mcp get-prompt`.
#[derive(Debug, Args)]
pub(crate) struct PromptArguments {
    #[command(flatten)]
    pub(crate) one: OneArguments,
    /// The prompt's name, as the server lists it.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: String,
    /// An argument of the prompt. Repeatable.
    #[arg(long = "arg", value_name = "KEY=VALUE", value_parser = super::key_value)]
    pub(crate) args: Vec<(String, String)>,
}
