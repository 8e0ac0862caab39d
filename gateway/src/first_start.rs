//! The command of a local server is shown whole before it is started for the first time on this machine.
//!
//! What was started before is remembered in the cache, by everything that says how; a changed entry is another one.

use std::path::Path;

use config::{ConfigLayer, Server};
use terminal::Notifier;

use crate::catalog::identity;

/// The folder of the cache with a file for each command that was started.
const FOLDER: &str = "started";

/// Tells the command of a server that was never started before, as it is written in its entry.
pub fn tell(server: &Server, notifier: &Notifier) {
    let is_local = matches!(server.connection.transport, mcp::Transport::Stdio(_));
    // The demo server is this program. What nobody is shown is as new the next time.
    if !is_local || server.layer == ConfigLayer::Demo || notifier.is_quiet() {
        return;
    }
    let is_new = config::cache_folder().is_ok_and(|cache| is_new(&cache.join(FOLDER), &identity(server)));
    if is_new {
        let (name, target) = (&server.connection.name, printable::exact(&server.target));
        notifier.note(&format!("{name} is started for the first time: {target}"));
    }
}

/// Whether nothing is there under this name; from now on, something is. What can't be remembered is new the next time.
fn is_new(folder: &Path, name: &str) -> bool {
    let _ = std::fs::create_dir_all(folder);
    let file = folder.join(name);
    !file.exists() && {
        let _ = std::fs::write(&file, "");
        true
    }
}

#[cfg(test)]
mod tests {
    use super::is_new;

    #[test]
    fn what_was_there_once_is_not_new() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("below");
        assert!(is_new(&folder, "a") && is_new(&folder, "b"));
        assert!(!is_new(&folder, "a"));
    }
}
