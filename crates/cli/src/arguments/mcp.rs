//! The command line of the `mcp` commands that inspect servers and call tools.

use clap::{Args, Subcommand};
use clients::edit::Scope;
use config::{LoadOptions, Needs, ServersOf};

use super::output::OutputArguments;
use super::{AllowArguments, ConfigArguments, ServersArguments, server_and_tool, server_name};

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum InspectCommand {
    /// List the configured servers, including disabled ones, without starting any.
    #[command(alias = "list-servers", visible_alias = "ls")]
    List(InspectArguments),
    /// Connect to a server, and print its details.
    Info(OneArguments),
    /// List the tools of all servers, or of one.
    #[command(alias = "list-tools")]
    Tools(ToolsArguments),
    /// Call a tool, with arguments as KEY=TEXT or KEY:=JSON.
    #[command(alias = "call-tool")]
    Call(CallArguments),
    /// Test all servers, or one: connect and list the tools. Fails if one does not work.
    Test(InspectArguments),
    /// Connect to all servers, or to one, and report their state.
    Status(InspectArguments),
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

/// Arguments of `mcp list`, `mcp status`, `mcp test` and `mcp tools`.
#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// Only this server.
    #[arg(value_name = "NAME", value_parser = server_name)]
    pub(crate) name: Option<String>,
    /// Only the servers of your own configuration (user), or of the project's.
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Scope>,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

impl InspectArguments {
    /// Converts the options to those of the loader. With a scope, a layer may have no server.
    pub(crate) fn options(&self) -> LoadOptions {
        let servers_of = self.scope.map(|scope| match scope {
            Scope::User => ServersOf::User,
            Scope::Project => ServersOf::Project,
        });
        let needs = if servers_of.is_some() { Needs::Nothing } else { Needs::Servers };
        LoadOptions { servers_of, ..self.place.options_with(needs) }
    }
}

/// Arguments of the commands for one server.
#[derive(Debug, Args)]
pub(crate) struct OneArguments {
    /// The server's name in the configuration.
    #[arg(value_name = "NAME", value_parser = server_name)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Arguments of `mcp tools`.
#[derive(Debug, Args)]
pub(crate) struct ToolsArguments {
    #[command(flatten)]
    pub(crate) inspect: InspectArguments,
    /// Also list tools that `enabledTools`, `disabledTools` or `globalSettings.deny` exclude, or a lock file holds back.
    #[arg(long)]
    pub(crate) show_all: bool,
    /// List only the tools that --show-all adds.
    #[arg(long, conflicts_with = "show_all")]
    pub(crate) show_filtered: bool,
    /// Also print the input and output schema of each tool. With --json, they are always printed.
    #[arg(long)]
    pub(crate) schema: bool,
}

/// Arguments of `mcp call`.
#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// The tool, as SERVER.TOOL.
    #[arg(value_name = "SERVER.TOOL", value_parser = server_and_tool, required_unless_present = "server")]
    pub(crate) target: Option<(String, String)>,
    /// The tool's arguments: KEY=TEXT for a text, KEY:=JSON for any other value. A single `-` reads a JSON object from
    /// standard input.
    #[arg(value_name = "ARGUMENT", conflicts_with = "args")]
    pub(crate) arguments: Vec<String>,
    /// All arguments, as a JSON object.
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// The server, in the older form of the command.
    #[arg(long, hide = true, value_parser = server_name, requires = "tool", conflicts_with = "target")]
    pub(crate) server: Option<String>,
    /// The tool, in the older form of the command.
    #[arg(long, hide = true, requires = "server")]
    pub(crate) tool: Option<String>,
    #[command(flatten)]
    pub(crate) permission: AllowArguments,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

impl CallArguments {
    /// The server and the tool.
    pub(crate) fn tool(&self) -> (&str, &str) {
        match (&self.target, &self.server, &self.tool) {
            (Some((server, tool)), _, _) | (None, Some(server), Some(tool)) => (server, tool),
            // The parser requires one of the forms.
            _ => ("", ""),
        }
    }
}

/// Arguments of `mcp login`.
#[derive(Debug, Args)]
pub(crate) struct LoginArguments {
    /// The server's name in the configuration.
    #[arg(value_name = "NAME", value_parser = server_name)]
    pub(crate) name: String,
    /// Print the address to visit, instead of opening a browser. Visit it on any machine, and enter the code that is
    /// printed with it, or paste the address at which the browser ends.
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

/// Arguments of `mcp client-metadata`.
#[derive(Debug, Args)]
pub(crate) struct ClientMetadataArguments {
    /// The https address at which the document will be published.
    #[arg(value_name = "URL")]
    pub(crate) address: String,
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
    #[arg(long = "arg", value_name = "KEY=VALUE", value_parser = super::NameAndValue)]
    pub(crate) args: Vec<(String, String)>,
}
