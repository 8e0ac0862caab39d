//! Shows the full command of a local server before its first start on this machine.
//!
//! Started commands are recorded in the cache by identity, so a changed entry counts as new.

use std::path::Path;

use config::{ConfigLayer, Server};
use terminal::Notifier;

use crate::catalog::identity;

/// The cache folder with one file for each command that was started.
const FOLDER: &str = "started";

/// Shows the command of a server that was never started before, as written in its entry.
pub fn report(server: &Server, notifier: &Notifier) {
    let is_local = matches!(server.connection.transport, mcp::Transport::Stdio(_));
    // The demo server is this program. If notes are suppressed, nothing is recorded and the command is shown later.
    if !is_local || server.layer == ConfigLayer::Demo || notifier.is_quiet() {
        return;
    }
    let is_new = config::cache_folder().is_ok_and(|cache| is_new(&cache.join(FOLDER), &identity(server)));
    if is_new {
        let (name, target) = (&server.connection.name, printable::exact(&server.target));
        notifier.info(&format!("{name} is started for the first time: {target}"));
    }
}

/// Whether this name is new; records it. If recording fails, it is new the next time too.
fn is_new(folder: &Path, name: &str) -> bool {
    let _ = system::private::create_inside(folder);
    let file = folder.join(name);
    !file.exists() && {
        let _ = system::private::write(&file, b"");
        true
    }
}

#[cfg(test)]
mod tests {
    use super::is_new;

    #[test]
    fn a_recorded_name_is_not_new() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("below");
        assert!(is_new(&folder, "a") && is_new(&folder, "b"));
        assert!(!is_new(&folder, "a"));
    }
}
