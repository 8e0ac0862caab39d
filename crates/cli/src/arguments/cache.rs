//! The command line of `cache`.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::conversation::age;
use super::{ConfigArguments, ServersArguments};

/// Subcommands of `cache`.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Show what the cache contains, how much space each part takes, and how much it may take.
    Info(InfoArguments),
    /// Remove everything that no process uses. The next run builds again what it needs.
    Clean(CleanArguments),
    /// Remove the entries that exceed the cache's limits, or a given size or age; the least recently used ones first.
    Prune(PruneArguments),
    /// Compile the crates for snippets and all bindings ahead of time.
    Warm(WarmArguments),
}

/// Arguments of `cache info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print everything as one JSON object, with sizes in bytes.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cache clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanArguments {
    /// Remove without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print what was removed as one JSON object, with sizes in bytes.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cache prune`.
#[derive(Debug, Args)]
pub(crate) struct PruneArguments {
    /// Remove entries until the cache has at most this size, such as 512MiB or 2GiB (default: the limits that
    /// `cache.size` sets).
    #[arg(long, value_name = "SIZE", value_parser = config::parse_size)]
    pub(crate) to: Option<u64>,
    /// Remove entries unused for this long: a number with s, m, h, d (days) or w (weeks), such as 30d.
    #[arg(long, value_name = "TIME", value_parser = age, conflicts_with = "to")]
    pub(crate) older_than: Option<Duration>,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print what was removed as one JSON object, with sizes in bytes.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cache warm`.
#[derive(Debug, Args)]
pub(crate) struct WarmArguments {
    #[command(flatten)]
    pub(crate) place: ServersArguments,
}
