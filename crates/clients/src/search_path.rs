//! The search path that servers need. Desktop applications often start with only the system's folders in `PATH`, and
//! then find no program that a version manager or a package manager of the user has installed.

use std::path::{Path, PathBuf};

use config::{ConfigLayer, layers};
use serde_json::Value as Json;

/// The folders in which every application finds programs.
const SYSTEM: [&str; 6] = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The search path of this process, if a server of the user's configuration or of `config` needs one of its folders:
/// its command is a plain name that is not in the system's folders. `None` if no server does.
pub(crate) fn needed(config: Option<&Path>) -> Option<String> {
    let user = layers::user_file().ok().flatten().map(ConfigLayer::User);
    let named = config.map(|file| ConfigLayer::Named(file.to_owned()));
    let commands = user.into_iter().chain(named).flat_map(|layer| commands(&layer));
    let search_path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> =
        std::env::split_paths(&search_path).filter(|folder| folder.is_absolute()).collect();
    let is_in = |folder: &Path, command: &str| folder.join(command).is_file();
    let is_needed = commands.into_iter().any(|command| {
        !SYSTEM.iter().any(|folder| is_in(Path::new(folder), &command))
            && folders.iter().any(|folder| is_in(folder, &command))
    });
    is_needed.then(|| std::env::join_paths(folders).ok()?.into_string().ok()).flatten()
}

/// The commands of a configuration's servers that are looked up in the search path.
fn commands(layer: &ConfigLayer) -> Vec<String> {
    let Ok(layers) = layers::alone(layer) else { return Vec::new() };
    let trees = layers.documents.iter().map(|document| document.tree.to_json());
    let servers = trees.filter_map(|tree| tree.get("mcpServers")?.as_object().cloned()).flatten();
    let commands = servers.filter_map(|(_, entry)| {
        let command = entry.get("command").and_then(Json::as_str)?.split_whitespace().next()?;
        // `toolsmith` means this program, wherever it is.
        (!command.contains('/') && command != "toolsmith").then(|| command.to_owned())
    });
    commands.collect()
}
