//! The command line of `ui`.

use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;

use super::ServersArguments;
use super::values::address;

/// The address without a choice: a free port of this machine.
const DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Arguments of `ui`.
#[derive(Debug, Args)]
pub(crate) struct UiArguments {
    /// The loopback address to listen at; port 0 selects a free port.
    #[arg(long, value_name = "ADDRESS", value_parser = address, default_value_t = DEFAULT)]
    pub(crate) address: SocketAddr,
    /// The page can change things; without this option, it only reads.
    #[arg(long)]
    pub(crate) allow_actions: bool,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
}
