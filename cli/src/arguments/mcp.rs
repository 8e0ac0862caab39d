//! The command line of the commands of `mcp` that look at servers and call tools.

use clap::builder::NonEmptyStringValueParser;
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
    /// The resources of a server.
    ListResources(OneArguments),
    /// The templates of a server's resources.
    ListResourceTemplates(OneArguments),
    /// Read a resource of a server.
    ReadResource(ResourceArguments),
    /// The prompts of a server.
    ListPrompts(OneArguments),
    /// Fill in a prompt of a server, and print its messages.
    GetPrompt(PromptArguments),
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
    /// Only print the address to visit; the browser must be on this machine.
    #[arg(long)]
    pub(crate) no_browser: bool,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
}

/// Which server, and nothing else.
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
    /// The resource's address, as the server lists it.
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
