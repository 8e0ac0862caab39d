//! The servers that no model knows: domains, names and formats were made up for these tasks.
//!
//! They are programs for Python in `private/`. Each keeps its state in a file of the workspace, which is a copy of the
//! data beside the program: every execution has servers of its own, and what it wrote must outlive them.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::workspace::ROOT;
use crate::{product::Checked, servers::Installed};

/// What their tools were seen to answer, as `private/observe` writes it down.
pub(super) const OBSERVED: &str = include_str!("private/observed.lock");

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/first_try/private");
/// Their names in the configuration, and the names of their programs and data.
const NAMES: [&str; 5] = ["hives", "kilns", "lockers", "props", "trams"];

/// Their entries in the configuration.
pub(super) fn entries(installed: &Installed) -> impl Iterator<Item = (String, Value)> {
    let entry = |name: &str| {
        json!({
            "command": installed.python("python"),
            // `-B`: nothing is written beside the programs.
            "args": ["-B", format!("{PROGRAMS}/{name}.py"), format!("{ROOT}/private/{name}.json")],
        })
    };
    NAMES.map(|name| (name.to_owned(), entry(name))).into_iter()
}

/// Puts their data into a folder.
pub(super) fn data(folder: &Path) -> Checked<()> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    NAMES.iter().map(|name| format!("{name}.json")).try_for_each(|file| {
        let copied = fs::copy(Path::new(PROGRAMS).join(&file), folder.join(&file));
        copied.map(drop).map_err(|error| format!("{file}: {error}"))
    })
}
