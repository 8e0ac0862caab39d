//! The command line.

mod console;
mod conversation;
mod mcp;
mod servers;
mod setup;
mod subagent;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use console::{AskArguments, ChatArguments, TalkArguments};

pub(crate) use self::conversation::{
    ConversationCommand, DeleteArguments, ExportArguments, ListArguments, PrintArguments, PruneArguments,
};
pub(crate) use servers::{
    AccessArguments, AddArguments, CheckArguments, ConfigCommand, ImportArguments, NamedArguments,
    OAuthArguments, Scope, ShowArguments, TransportArgument, TrustArguments,
};

use config::{LONGEST_DESCRIPTION, LoadOptions};

pub(crate) use self::setup::{Client, ClientScope, SetupArguments};
pub(crate) use self::subagent::SubagentArguments;

pub(crate) use self::mcp::{
    CallArguments, LoginArguments, LookArguments, LookCommand, NameArguments, OneArguments, PromptArguments,
    ResourceArguments, ToolsArguments,
};

/// Runs Rust snippets that call MCP tools, compiled in a fraction of a second and confined.
#[derive(Debug, Parser)]
#[command(name = "toolsmith", version, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes of `run`:
  0    ok
  1    runtime error or panic of the snippet
  2    wrong command line or configuration
  3    the snippet does not compile
  4    time limit
  5    memory or output limit
  6    denied, or stopped by the sandbox
  7    failure of the host: toolchain, sandbox, cache, servers
  130  cancelled";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compile and run a snippet, print what it prints and returns.
    Run(RunArguments),
    /// Show what is made of tools: signatures, Rust, the description for a model, a report. Or write a crate.
    Codegen(CodegenArguments),
    /// Look at servers and change which there are; call a tool, observe what it answers, hold servers to their tools.
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Look at the configuration: what holds and where it comes from, what is wrong, its JSON Schema.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Show what the configuration of this folder's project starts and loosens, and agree to it.
    Trust(TrustArguments),
    /// Write `toolsmith serve` into the configuration of an MCP client, or print what to write there.
    Setup(SetupArguments),
    /// Look at the conversations that models have had here, and delete them.
    #[command(subcommand)]
    Conversation(ConversationCommand),
    /// Look after the cache.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Say whether snippets can run on this machine, and what to type where something is missing.
    Doctor(DoctorArguments),
    /// Serve code mode over all servers to an MCP client: over standard input and output, or over HTTP.
    Serve(ServeArguments),
    /// Talk with a model that has the tools of all servers, at the terminal.
    Chat(ChatArguments),
    /// Ask a model that has the tools of all servers one thing, and print its answer.
    Ask(AskArguments),
    /// Serve the built-in demo tools as an MCP server, over standard input and output or over HTTP.
    DemoServer(DemoServerArguments),
    /// Measure compiling, running and calling, as ratios to compiling "hello world".
    Bench(BenchArguments),
}

/// Which configuration.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConfigArguments {
    /// A configuration file (YAML or JSON), on top of your own and the project's; without any server, the built-in demo
    /// server is used.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Fail where the entry of a server is wrong, in place of going on without that server.
    #[arg(long)]
    pub(crate) strict: bool,
}

impl ConfigArguments {
    /// How the configuration is loaded.
    pub(crate) fn options(&self) -> LoadOptions {
        LoadOptions { file: self.config.clone(), strict: self.strict }
    }
}

/// What may be called without asking, and how much is told meanwhile.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct MannerArguments {
    /// Do not ask about these tools: a name or a glob, such as 'files.read_*' or '*'. What the configuration denies stays
    /// denied. Repeatable.
    #[arg(long, value_name = "SERVER.TOOL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) allow: Vec<String>,
    /// Show all that subagents tell of themselves, not only its beginnings.
    #[arg(long)]
    pub(crate) verbose: bool,
    /// No notes and no progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Over what is served.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ListeningArguments {
    /// Serve over streamable HTTP at this address, such as 127.0.0.1:8080, in place of standard input and output; the
    /// endpoint is /mcp, and /healthz and /readyz say how it is. Port 0 takes a free one. Where it is served stands on
    /// standard error. Another address needs a new start, other than the files of the configuration, which are read again
    /// when they change.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// The environment variable with the token that HTTP clients must show (`Authorization: Bearer …`), of 16 characters or
    /// more; another token needs a new start. Needed where the address can be reached from other machines. No server that
    /// is started gets to see the variable.
    #[arg(long, value_name = "VARIABLE", requires = "http")]
    pub(crate) token_env: Option<String>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The snippet's file; `-` reads standard input.
    #[arg(required_unless_present = "crate_folder")]
    pub(crate) file: Option<PathBuf>,
    /// Run the program of a crate that `codegen --out` has written, against the tools that it was written for.
    #[arg(long = "crate", value_name = "DIR", conflicts_with = "file")]
    pub(crate) crate_folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Compile and link only, and print the tools that the snippet can call: none runs, no session is opened.
    #[arg(long)]
    pub(crate) check: bool,
    /// Longest time for compiling and running, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// An argument for the snippet, which reads it with `args.get("KEY")`. Repeatable.
    #[arg(long = "arg", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) args: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) manner: MannerArguments,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    #[command(flatten)]
    pub(crate) listening: ListeningArguments,
    #[command(flatten)]
    pub(crate) manner: MannerArguments,
}

/// What `codegen` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The tools as a model reads them.
    Signatures,
    /// Everything about each tool, as a model reads it that asks for more.
    Documentation,
    /// The generated code.
    Rust,
    /// The whole description of the tool that runs snippets.
    Description,
    /// How much of the schemas became types, with reasons for the rest, and what that saves.
    Report,
}

/// Arguments of `codegen`.
#[derive(Debug, Args)]
pub(crate) struct CodegenArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// A lock file with the tools; no server is asked.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tools", "config"])]
    pub(crate) lock: Option<PathBuf>,
    /// A saved answer to `tools/list`; no server is asked. Needs --server.
    #[arg(long, value_name = "FILE", requires = "servers", conflicts_with = "config")]
    pub(crate) tools: Option<PathBuf>,
    /// Only this server; with --tools, what the server is called. Repeatable.
    #[arg(long = "server", value_name = "NAME", value_parser = server_name)]
    pub(crate) servers: Vec<String>,
    /// Write a crate that `cargo build` takes and `run --crate` runs.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["format", "json"])]
    pub(crate) out: Option<PathBuf>,
    /// With --out: leave out the sources of other crates (about 40 MB), which `cargo build` then downloads.
    #[arg(long, requires = "out")]
    pub(crate) no_vendor: bool,
    /// What to print (default: signatures).
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Print a report or a difference as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The longest description of a tool in its signature, in characters; 0 leaves descriptions out.
    #[arg(long, value_name = "CHARACTERS", value_parser = description_length)]
    pub(crate) description_length: Option<usize>,
    /// Name the tools that differ between two saved lists or lock files.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"],
          conflicts_with_all = ["config", "lock", "tools", "servers", "out", "format", "description_length"])]
    pub(crate) diff: Vec<PathBuf>,
    /// No progress and no notes on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Subcommands of `mcp`.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Call a tool without an output schema and infer one from its answer, merged with what was observed before.
    Observe(ObserveArguments),
    /// Write the tools of all servers into the lock file, and hold the servers to them: what changes is held back.
    Lock(PinArguments),
    /// Add a server to a configuration file.
    Add(Box<AddArguments>),
    /// Take over the servers from the JSON of another client: .mcp.json, Claude Desktop, Cursor, VS Code.
    Import(ImportArguments),
    /// Remove a server from a configuration file.
    Remove(NamedArguments),
    /// Switch a server on.
    Enable(NamedArguments),
    /// Switch a server off; its entry stays.
    Disable(NamedArguments),
    /// Log in at a server behind an address: a person agrees in a browser, and the tokens are kept.
    Login(LoginArguments),
    /// Forget the tokens of a server, and have them revoked where its authorization server does that.
    Logout(NameArguments),
    /// Serve the subagent that a configuration file describes to an MCP client, as one tool: over standard input and
    /// output, or over HTTP.
    Serve(SubagentArguments),
    #[command(flatten)]
    Look(LookCommand),
}

/// Arguments of `mcp observe`.
#[derive(Debug, Args)]
pub(crate) struct ObserveArguments {
    /// The tool, as SERVER.TOOL.
    #[arg(value_name = "SERVER.TOOL", value_parser = server_and_tool)]
    pub(crate) tool: (String, String),
    /// The arguments of the call, as a JSON object. Repeatable: one call each.
    #[arg(long = "args", value_name = "JSON", default_value = "{}")]
    pub(crate) args: Vec<String>,
    #[command(flatten)]
    pub(crate) place: LockArguments,
    /// Do not ask about these tools, as in `run`. Repeatable.
    #[arg(long, value_name = "SERVER.TOOL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) allow: Vec<String>,
    /// Forget what was observed of the tool instead of calling it.
    #[arg(long, conflicts_with = "args")]
    pub(crate) forget: bool,
}

/// Subcommands of `cache`.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Build ahead what snippets are compiled against: the crates on offer, and the bindings of all servers.
    Warm(WarmArguments),
}

/// Arguments of `cache warm`.
#[derive(Debug, Args)]
pub(crate) struct WarmArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// No progress and no notes on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print everything as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which configuration, and which lock file.
#[derive(Debug, Args)]
pub(crate) struct LockArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// The lock file (default: `toolsmith.lock` beside the configuration).
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,
    /// No progress and no notes on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Arguments of `mcp lock`.
#[derive(Debug, Args)]
pub(crate) struct PinArguments {
    #[command(flatten)]
    pub(crate) place: LockArguments,
    /// Accept the tools of these servers as they are now; of all servers without a name.
    #[arg(long, value_name = "NAME", num_args = 0.., value_parser = server_name)]
    pub(crate) accept: Option<Vec<String>>,
}

/// Arguments of `demo-server`.
#[derive(Debug, Args)]
pub(crate) struct DemoServerArguments {
    /// Serve over streamable HTTP at this address, such as 127.0.0.1:8080, in place of standard input and output. Port
    /// 0 takes a free one. Where it is served stands on standard output.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// Offer each tool under so many further names (`echo_1`, `echo_2`, …), to try what a large server is like.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=400))]
    pub(crate) copies: u32,
}

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Rounds of each measurement; medians are printed.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub(crate) rounds: u32,
    /// A saved answer to `tools/list` whose tools are generated and compiled, in place of the demo server's.
    /// Repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Vec<PathBuf>,
    /// Print the figures as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Longest time that can be asked for: a day.
const LONGEST_TIMEOUT: f64 = 86_400.0;

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is not a number of seconds"))?;
    if seconds > 0.0 && seconds <= LONGEST_TIMEOUT {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!("{text} is out of range: more than 0, at most {LONGEST_TIMEOUT} seconds"))
    }
}

fn description_length(text: &str) -> Result<usize, String> {
    let length = text.parse().map_err(|_| format!("{text:?} is not a number of characters"))?;
    if length <= LONGEST_DESCRIPTION {
        Ok(length)
    } else {
        Err(format!("{length} is too long; at most {LONGEST_DESCRIPTION}"))
    }
}

fn server_name(text: &str) -> Result<String, String> {
    config::check_server_name(text).map(|()| text.to_owned())
}

fn server_and_tool(text: &str) -> Result<(String, String), String> {
    match text.split_once('.') {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
            Ok((server.to_owned(), tool.to_owned()))
        }
        _ => Err(format!("{text:?} is not SERVER.TOOL")),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("{text:?} is not KEY=VALUE")),
    }
}
