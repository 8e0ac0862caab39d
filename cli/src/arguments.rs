//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

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
    /// Serve the built-in demo tools as an MCP server over standard input and output.
    DemoServer,
    /// Measure compiling, running and calling, as ratios to compiling "hello world".
    Bench(BenchArguments),
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The snippet's file; `-` reads standard input.
    pub(crate) file: PathBuf,
    /// Configuration file (YAML or JSON) with the MCP servers; the built-in demo server without one.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
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
    /// No progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Rounds of each measurement; medians are printed.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub(crate) rounds: u32,
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

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("{text:?} is not KEY=VALUE")),
    }
}
