//! The command line's commands and options.

mod adopt;
mod bundle;
mod cache;
mod console;
mod conversation;
mod explain;
mod groups;
#[cfg(test)]
mod help;
mod history;
mod mcp;
mod offers;
mod output;
mod permission;
mod program;
mod sandbox;
mod secret;
mod serve;
mod servers;
mod setup;
mod stats;
mod token;
mod ui;
mod update;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::bundle::BundleArguments;
pub(crate) use self::cache::{
    CacheCommand, CleanArguments, InfoArguments, PruneArguments as CachePruneArguments, WarmArguments,
};
pub(crate) use self::explain::{CompletionsArguments, ExplainArguments, ManArguments, Shell};
pub(crate) use console::{AskArguments, ChatArguments};

pub(crate) use self::conversation::{
    ConversationCommand, DeleteArguments, ExportArguments, ListArguments, PrintArguments, PruneArguments,
};
pub(crate) use servers::{
    AccessArguments, AddArguments, CheckArguments, ConfigCommand, DestinationArguments, ImportArguments,
    NamedArguments, OAuthArguments, Section, ShowArguments, SuggestArguments, TransportArgument,
    TrustArguments,
};

use config::{Demo, LoadOptions, Needs};
use values::{
    NameAndValue, address, description_length, seconds, seconds_or_none, server_and_tool, server_name,
};

pub(crate) use self::history::{
    HistoryCommand, HistoryDeleteArguments, HistoryDiffArguments, HistoryExportArguments,
    HistoryListArguments, HistoryRerunArguments, HistoryShowArguments,
};
pub(crate) use self::offers::OfferArguments;
pub(crate) use self::output::OutputArguments;
pub(crate) use self::permission::{ListPermissionsArguments, PermissionCommand, RevokeArguments};
pub(crate) use self::program::{
    ApproveProgramArguments, CheckProgramsArguments, DeleteProgramArguments, ExportProgramArguments,
    ImportProgramArguments, ListProgramsArguments, NamedProgram, ProgramCommand, RenameProgramArguments,
    RunProgramArguments, RunProgramOptions, SaveProgramArguments, ShowProgramArguments,
    TestProgramsArguments,
};
pub(crate) use self::serve::{ServeArguments, SubagentArguments};
pub(crate) use self::stats::StatsArguments;
pub(crate) use self::token::{NewTokenArguments, TokenCommand, TokensArguments};
pub(crate) use self::ui::UiArguments;
pub(crate) use self::update::UpdateArguments;

pub(crate) use self::adopt::{AdoptArguments, SecretsPlace};
pub(crate) use self::sandbox::SandboxArguments;
pub(crate) use self::secret::SecretCommand;
pub(crate) use self::setup::SetupArguments;

pub(crate) use self::mcp::{
    CallArguments, ClientMetadataArguments, InspectArguments, InspectCommand, LoginArguments, NameArguments,
    OneArguments, PromptArguments, ResourceArguments, ToolsArguments,
};

/// Runs Rust snippets that call MCP tools. A snippet compiles in a fraction of a second, and runs confined.
#[derive(Debug, Parser)]
#[command(name = "toolsmith", version, after_help = EXIT_CODES, help_template = groups::template(commands()))]
pub(crate) struct Arguments {
    /// When to use colours.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, display_order = 900)]
    pub(crate) color: ColorArgument,
    /// Print no progress and no notes on standard error.
    #[arg(long, short, global = true, display_order = 900)]
    pub(crate) quiet: bool,
    /// Print everything that servers write to standard error (default: the last lines of a server that fails), and
    /// every event of subagents in full.
    #[arg(long, short, global = true, conflicts_with = "quiet", display_order = 900)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColorArgument {
    // Comments instead of documentation, which would make the help of every command longer.
    // On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    // Also in pipes and files.
    Always,
    Never,
}

pub(crate) const EXIT_CODES: &str = "\
Exit codes of `run`:
  0    ok
  1    runtime error or panic of the snippet
  2    wrong command line or configuration
  3    the snippet does not compile
  4    time limit
  5    memory or output limit
  6    denied, or stopped by the sandbox
  7    failure of the host: toolchain, sandbox, cache, output, servers
  130  cancelled";

/// A program with the commands alone.
fn commands() -> clap::Command {
    Command::augment_subcommands(clap::Command::new("toolsmith"))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compile and run a snippet, and print its output and result.
    Run(RunArguments),
    /// Print what is generated from tools (signatures, Rust code, the description that models read, a report), or write a crate.
    Codegen(CodegenArguments),
    /// Inspect and change the configured servers, call their tools, observe outputs, and pin servers to their tools.
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Check the configuration, show it with the source of each setting, or print its JSON Schema.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Show what this project's configuration starts and permits, and trust it.
    Trust(TrustArguments),
    /// Add `toolsmith serve` to the configurations of the installed MCP clients, or of those that you name.
    Setup(SetupArguments),
    /// Move the servers of an MCP client into Toolsmith's configuration, and put Toolsmith in their place.
    Adopt(AdoptArguments),
    /// Store secrets in the system's keyring; a server's entry reads them with `${keyring:NAME}`.
    #[command(subcommand)]
    Secret(SecretCommand),
    /// Create and list tokens for the users of `serve --http`.
    #[command(subcommand)]
    Token(TokenCommand),
    /// List the permanent answers to questions about permissions, and take them back.
    #[command(subcommand)]
    Permission(PermissionCommand),
    /// List, check and run saved programs: snippets with a name and typed arguments.
    #[command(subcommand)]
    Program(ProgramCommand),
    /// List, print, export and delete saved conversations.
    #[command(subcommand)]
    Conversation(ConversationCommand),
    /// List, show, compare, repeat, export and delete the executions that are kept.
    #[command(subcommand)]
    History(HistoryCommand),
    /// Show the executions that are kept on a local web page: as timelines, compared, and what code mode saved.
    ///
    /// The address that is printed opens it once, in one browser; then the next address is printed.
    Ui(UiArguments),
    /// Show what the cache contains, free space, and compile ahead of time.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Explain an error's code, a status, an exit code, or an error of the Rust compiler.
    Explain(ExplainArguments),
    /// Print a script that completes commands, servers and tools in a shell.
    Completions(CompletionsArguments),
    /// Write a man page for each command.
    Man(ManArguments),
    /// Print how often tools were called, how often they failed, and how long they took.
    Stats(StatsArguments),
    /// Report whether snippets can run on this machine, and how to install what is missing.
    Doctor(DoctorArguments),
    /// Write a bundle: a folder or an archive with everything that is needed to run snippets, also without Rust and network.
    Bundle(BundleArguments),
    /// Compare this version with the newest release, and print how to update.
    Update(UpdateArguments),
    /// Serve code mode for all configured servers, over standard input and output or HTTP.
    ///
    /// The configuration is read again when its files change.
    Serve(ServeArguments),
    /// Chat in the terminal with a model that has the tools of all servers.
    Chat(ChatArguments),
    /// Ask one question to a model that has the tools of all servers, and print its answer.
    Ask(AskArguments),
    /// Serve the built-in demo tools as an MCP server, over standard input and output or HTTP.
    DemoServer(DemoServerArguments),
}

/// Describes `--config` for `mcp serve`.
fn subagent_file(config: clap::Arg) -> clap::Arg {
    config.help("The file that describes the subagent and its servers (YAML or JSON); required")
}

/// Options that choose the configuration.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConfigArguments {
    /// A configuration file (YAML or JSON) that overrides your own and the project's (default: the file that the variable
    /// TOOLSMITH_CONFIG names, if it is set).
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Fail if a server's entry is wrong, instead of leaving the server out.
    #[arg(long)]
    pub(crate) strict: bool,
}

impl ConfigArguments {
    /// Converts the options to those of the loader, for a command that works without servers.
    pub(crate) fn options(&self) -> LoadOptions {
        let file = self.config.clone().or_else(config::file_of_environment);
        LoadOptions { file, strict: self.strict, needs: Needs::Nothing, ..LoadOptions::default() }
    }
}

/// Options that choose the configuration, for commands that use its servers.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ServersArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Use the built-in demo server, a small shop, instead of the configured servers. All other settings stay.
    #[arg(long)]
    pub(crate) demo: bool,
}

impl ServersArguments {
    /// Converts the options to those of the loader, for a command that needs servers.
    pub(crate) fn options(&self) -> LoadOptions {
        self.options_with(Needs::Servers)
    }

    /// The options as words, for another command of this program.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let file =
            self.config.config.iter().flat_map(|file| ["--config".into(), file.clone().into_os_string()]);
        let strict = self.config.strict.then(|| "--strict".into());
        let demo = self.demo.then(|| "--demo".into());
        file.chain(strict).chain(demo).collect()
    }

    /// Like [`ServersArguments::options`], for a command with other needs. With `--demo` it needs the demo server.
    pub(crate) fn options_with(&self, needs: Needs) -> LoadOptions {
        let (needs, demo) = if self.demo { (Needs::Servers, Demo::Only) } else { (needs, Demo::Never) };
        LoadOptions { needs, demo, ..self.config.options() }
    }
}

/// Options for permissions.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AllowArguments {
    /// Call these tools without asking: a name or a glob, such as 'files.read_*' or '*'. Denied tools stay denied.
    /// Repeatable.
    #[arg(long, value_name = "SERVER.TOOL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) allow: Vec<String>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The snippet itself, instead of a file: that of an earlier execution.
    #[arg(skip)]
    pub(crate) code: Option<String>,
    /// The snippet's file, or `-` for standard input.
    #[arg(required_unless_present_any = ["crate_folder", "replay"])]
    pub(crate) file: Option<PathBuf>,
    /// Run the snippet or program of an execution of the history again, with its recorded answers and without any
    /// server, and say what differs. Needs `history.recordings`.
    #[arg(long, value_name = "ID", conflicts_with_all = ["file", "crate_folder", "demo", "check", "args", "allow"])]
    pub(crate) replay: Option<String>,
    /// Run the program of a crate written by `codegen --out`, against the bindings in the crate.
    #[arg(long = "crate", value_name = "DIR", conflicts_with = "file")]
    pub(crate) crate_folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    /// Print the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Compile and link only, and print the tools that the snippet can call. No tool runs. Toolsmith connects to a
    /// server only if its tool list is not cached or may be out of date.
    #[arg(long)]
    pub(crate) check: bool,
    /// Time limit for the whole run, compiling included, in seconds (at most 86400). Overrides `codeMode.sandbox.wallClock`.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// An argument for the snippet, available as `args.get("KEY")`. Repeatable.
    #[arg(long = "arg", value_name = "KEY=VALUE", value_parser = NameAndValue)]
    pub(crate) args: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) permission: AllowArguments,
}

/// Output formats of `codegen`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The signatures that a model reads.
    Signatures,
    /// The full documentation of each tool, as a model gets it on request.
    Documentation,
    /// The generated code.
    Rust,
    /// The description of `execute_code` that models read under `serve`.
    Description,
    /// How much of the schemas became types, why the rest did not, and how many tokens schemas and signatures have.
    Report,
}

/// Arguments of `codegen`.
#[derive(Debug, Args)]
pub(crate) struct CodegenArguments {
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    /// Read the tools from a lock file instead of the servers.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tools", "config", "demo"])]
    pub(crate) lock: Option<PathBuf>,
    /// Read the tools from a saved `tools/list` result instead of the servers. Needs --server.
    #[arg(long, value_name = "FILE", requires = "servers", conflicts_with_all = ["config", "demo"])]
    pub(crate) tools: Option<PathBuf>,
    /// Include only this server. Repeatable. With --tools, name exactly one: the server that the list is from.
    #[arg(long = "server", value_name = "NAME", value_parser = server_name)]
    pub(crate) servers: Vec<String>,
    /// Write a crate for `cargo build` and `run --crate` into this folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "json"])]
    pub(crate) out: Option<PathBuf>,
    /// With --out: leave out the sources of dependencies (about 40 MB); `cargo build` then downloads them.
    #[arg(long, requires = "out")]
    pub(crate) no_vendor: bool,
    /// The output format (default: signatures).
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Print one JSON object: the signatures with their documentation, the report (with --format report), or the
    /// difference (with --diff).
    #[arg(long)]
    pub(crate) json: bool,
    /// Maximum length of a tool's description in its signature, in characters; 0 leaves descriptions out.
    #[arg(long, value_name = "CHARACTERS", value_parser = description_length)]
    pub(crate) description_length: Option<usize>,
    /// List the tools that differ between two saved lists or lock files.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"],
          conflicts_with_all = ["config", "demo", "lock", "tools", "servers", "out", "format", "description_length"])]
    pub(crate) diff: Vec<PathBuf>,
}

/// Subcommands of `mcp`.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Call a tool, and infer its output schema from the results or correct the declared one; earlier observations are merged.
    Observe(ObserveArguments),
    /// Pin servers to their tools: write all tools into the lock file; tools that change later are held back.
    Lock(PinArguments),
    /// Add a server to a configuration file.
    Add(Box<AddArguments>),
    /// Import servers from the file of another client, such as .mcp.json, or from an installed client (--from).
    Import(ImportArguments),
    /// Remove a server from a configuration file.
    Remove(NamedArguments),
    /// Enable a server.
    Enable(NamedArguments),
    /// Disable a server, and keep its entry.
    Disable(NamedArguments),
    /// Show what a confined server may do, set its grants, or watch it and find the grants that it needs.
    Sandbox(SandboxArguments),
    /// Log in to a remote server in the browser, and store the tokens.
    Login(LoginArguments),
    /// Delete the tokens of a server, and revoke them if its authorization server supports revocation.
    Logout(NameArguments),
    /// Print the metadata document of this program as an OAuth client, to be published at an https address.
    ///
    /// The address is then the client's id: write it as `oauth.client_id` of a server.
    ClientMetadata(ClientMetadataArguments),
    /// Serve the subagent of a configuration file to MCP clients as one tool, over standard input and output or HTTP.
    ///
    /// The configuration is read once: a change needs a restart.
    #[command(mut_arg("config", subagent_file))]
    Serve(SubagentArguments),
    #[command(flatten)]
    Inspect(InspectCommand),
}

/// Arguments of `mcp observe`.
#[derive(Debug, Args)]
pub(crate) struct ObserveArguments {
    /// The tool, as SERVER.TOOL.
    #[arg(value_name = "SERVER.TOOL", value_parser = server_and_tool)]
    pub(crate) tool: (String, String),
    /// The arguments of the call, as a JSON object. Repeatable: each one makes a call.
    #[arg(long = "args", value_name = "JSON", default_value = "{}")]
    pub(crate) args: Vec<String>,
    #[command(flatten)]
    pub(crate) place: LockArguments,
    #[command(flatten)]
    pub(crate) permission: AllowArguments,
    /// Delete the observations of the tool instead of calling it.
    #[arg(long, conflicts_with = "args")]
    pub(crate) forget: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// Compare the contents of every file of the bundle with the bundle's manifest, and not only sizes.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Run the commands that fix what is missing. Each one is shown, and you are asked before it runs.
    #[arg(long, conflicts_with = "json")]
    pub(crate) fix: bool,
    /// With --fix: run the commands without asking, except those that need root, which are only printed.
    #[arg(long, short, requires = "fix")]
    pub(crate) yes: bool,
}

/// Options that choose the configuration and the lock file.
#[derive(Debug, Args)]
pub(crate) struct LockArguments {
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    /// The lock file (default: `toolsmith.lock` next to the configuration).
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Arguments of `mcp lock`.
#[derive(Debug, Args)]
pub(crate) struct PinArguments {
    #[command(flatten)]
    pub(crate) place: LockArguments,
    /// Accept the current tools of these servers, or of all servers if none is named.
    #[arg(long, value_name = "NAME", num_args = 0.., value_parser = server_name)]
    pub(crate) accept: Option<Vec<String>>,
}

/// Arguments of `demo-server`.
#[derive(Debug, Args)]
pub(crate) struct DemoServerArguments {
    /// Serve over streamable HTTP at this address, such as 127.0.0.1:8080, instead of standard input and output. Port 0
    /// selects a free port. The address is printed on standard output.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// Serve each tool under N further names (`echo_1`, `echo_2`, …), to try out a large server.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=400))]
    pub(crate) copies: u32,
}
