//! The command line of `setup`.

use std::path::PathBuf;

use clap::Args;
use clients::container::{Container, ContainerProgram};
use clients::{Client, ClientScope};

use super::server_name;

/// Arguments of `setup`.
#[derive(Debug, Args)]
pub(crate) struct SetupArguments {
    /// The clients (default: all clients found on this machine; you see what changes, and are asked once).
    #[arg(value_enum, value_name = "CLIENT")]
    pub(crate) clients: Vec<Client>,
    /// Without CLIENT: change the files without asking.
    #[arg(long, short = 'y', conflicts_with = "print")]
    pub(crate) yes: bool,
    /// Print the entry and the file it belongs in, instead of writing it.
    #[arg(long)]
    pub(crate) print: bool,
    /// Remove the entry, and change nothing else (default: from all clients that have it).
    #[arg(long, conflicts_with_all = ["print", "config", "force", "approve", "required", "trust"])]
    pub(crate) remove: bool,
    /// Start the entry as the client does, report what its model sees, and change nothing (default: all installed clients
    /// that have the entry). Exits with 1 if a model does not see the tools.
    #[arg(long, conflicts_with_all = ["print", "remove", "config", "container", "force", "approve", "required", "trust"])]
    pub(crate) check: bool,
    /// A configuration for `toolsmith serve`; it overrides your own and the project's.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Let the client start Toolsmith in a container, with this program.
    #[arg(long, value_enum, value_name = "PROGRAM", conflicts_with = "remove")]
    pub(crate) container: Option<ContainerProgram>,
    /// With --container: the image, which you build as docs/container.md describes.
    #[arg(long, value_name = "NAME", default_value = "toolsmith", requires = "container")]
    pub(crate) image: String,
    /// The server's name in the client.
    #[arg(long, default_value = "toolsmith", value_parser = server_name)]
    pub(crate) name: String,
    /// Which configuration of the client to change.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scope: ClientScope,
    /// Replace an entry that has the same name but differs.
    #[arg(long)]
    pub(crate) force: bool,
    /// Let the client call Toolsmith's tools without asking each time (codex, gemini, qwen; default: you are asked on a
    /// terminal if you name clients). Toolsmith's own permissions still apply to the calls of snippets.
    #[arg(long)]
    pub(crate) approve: bool,
    /// Let the client end with an error if Toolsmith does not start, instead of working without it (codex).
    #[arg(long)]
    pub(crate) required: bool,
    /// Move the servers that only the project's configuration in this folder has to your own configuration, which counts in
    /// all folders (default: you are asked on a terminal when a client's file has changed). Fails if none can be moved.
    #[arg(long, conflicts_with_all = ["print", "remove", "check", "container"])]
    pub(crate) move_servers: bool,
    /// Allow calls to all tools of SERVER, so that Toolsmith does not ask about them. SERVER must be in your own
    /// configuration. Default: you are asked on a terminal if you name one client. Repeatable.
    #[arg(long, value_name = "SERVER", value_parser = server_name, conflicts_with = "print")]
    pub(crate) trust: Vec<String>,
}

impl SetupArguments {
    /// The container, if the client is to start one.
    pub(crate) fn container(&self) -> Option<Container> {
        self.container.map(|program| Container { program, image: self.image.clone() })
    }
}
