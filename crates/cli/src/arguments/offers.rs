//! The options of `mcp add` for servers that someone else describes: entries of registries, and bundles.

use clap::Args;

use super::values::NameAndValue;

/// Options for entries of registries and bundles.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OfferArguments {
    /// Add the server that an MCP registry describes: by its id there (`NAMESPACE/NAME`, or `NAMESPACE/NAME@VERSION`), or
    /// by the entry itself, in a file or at an https address.
    #[arg(long, value_name = "ENTRY",
          conflicts_with_all = ["line", "command", "args", "url", "cwd", "transport"])]
    pub(crate) registry: Option<String>,
    /// The package to use of an entry with several: npm, pypi, nuget, oci, mcpb or remote (default: the first that can
    /// be used).
    #[arg(long, value_name = "KIND", requires = "registry")]
    pub(crate) package: Option<String>,
    /// The SHA-256 hash of a bundle (`mcp add NAME FILE.mcpb`); required for one at an https address.
    #[arg(long, value_name = "HASH", value_parser = super::values::sha256)]
    pub(crate) sha256: Option<String>,
    /// A value that the entry or the bundle asks for; `NAME=${VARIABLE}` reads it from the environment. Repeatable.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = NameAndValue)]
    pub(crate) values: Vec<(String, String)>,
}
