//! The command line of `bundle`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::{OutputArguments, ServersArguments};

/// Arguments of `bundle`.
#[derive(Debug, Args)]
pub(crate) struct BundleArguments {
    /// Where to write the bundle: a new folder, or a file whose name ends with `.tar.zst`.
    #[arg(long, value_name = "DIR|FILE.tar.zst")]
    pub(crate) out: PathBuf,
    /// The platform of snippets in the bundle.
    #[arg(long, value_name = "TARGET", default_value = runner::TARGET,
          value_parser = PossibleValuesParser::new([runner::TARGET]))]
    pub(crate) target: String,
    /// The program to include (default: the one that is running), with the `toolsmith-sandbox` beside it. It must be built
    /// from the same sources as the running program. If the program is linked statically, it needs no C library. The
    /// compiler in the bundle always needs the GNU C library.
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
    /// Include compiled bindings of all configured servers. Starts the servers to read their tools.
    #[arg(long)]
    pub(crate) bindings: bool,
    /// A file to add to the bundle: a list of the program's components in CycloneDX's JSON, as `cargo cyclonedx` writes
    /// it. Repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) sbom: Vec<PathBuf>,
    /// A folder to add to the bundle, with the licences of the program's components.
    #[arg(long, value_name = "DIR")]
    pub(crate) licences: Option<PathBuf>,
    /// The level of compression of an archive: 1 is fastest, 19 smallest.
    #[arg(long, value_name = "LEVEL", default_value_t = *::bundle::LEVELS.end(),
          value_parser = clap::value_parser!(i32).range(i64::from(*::bundle::LEVELS.start())..=i64::from(*::bundle::LEVELS.end())))]
    pub(crate) level: i32,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}
