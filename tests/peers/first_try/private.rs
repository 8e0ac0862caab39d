//! The private servers, which no model knows: their domains, names and formats were made up for these tasks.
//!
//! They are Python programs in `private/`. Each stores its state in a file of the workspace, a copy of the data file
//! next to the program. Every execution starts new server processes, and its changes must outlive them.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::workspace::ROOT;
use crate::{product::Checked, servers::Installed};

/// The lock file with observed answers of their tools, which `private/observe` writes.
pub(super) const OBSERVED: &str = include_str!("private/observed.lock");

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/first_try/private");
/// Their names in the configuration, which are also the names of their programs and data files.
const NAMES: [&str; 5] = ["hives", "kilns", "lockers", "props", "trams"];

/// Their configuration entries.
pub(super) fn entries(installed: &Installed) -> impl Iterator<Item = (String, Value)> {
    let entry = |name: &str| {
        json!({
            "command": installed.python("python"),
            // `-B`: Python writes no bytecode files next to the programs.
            "args": ["-B", format!("{PROGRAMS}/{name}.py"), format!("{ROOT}/private/{name}.json")],
        })
    };
    NAMES.map(|name| (name.to_owned(), entry(name))).into_iter()
}

/// Copies their data files into a folder.
pub(super) fn data(folder: &Path) -> Checked<()> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    NAMES.iter().map(|name| format!("{name}.json")).try_for_each(|file| {
        let copied = fs::copy(Path::new(PROGRAMS).join(&file), folder.join(&file));
        copied.map(drop).map_err(|error| format!("{file}: {error}"))
    })
}
