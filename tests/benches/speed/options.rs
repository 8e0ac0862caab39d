//! The command line.

use std::path::{Path, PathBuf};

/// The command line.
pub(crate) struct Options {
    /// `TOOLSMITH_BINARY`: the program to measure (default: the one in the same target folder).
    pub(crate) binary: PathBuf,
    /// `--rounds N`: rounds of each measurement (default 15).
    pub(crate) rounds: u32,
    /// `--tools FILE`: saved `tools/list` results whose tools are measured instead of the demo server's.
    pub(crate) tools: Vec<PathBuf>,
    /// `--json`: prints the figures as one JSON object.
    pub(crate) json: bool,
}

impl Options {
    pub(crate) fn read() -> Self {
        let binary = std::env::var_os("TOOLSMITH_BINARY").map_or_else(beside, PathBuf::from);
        let mut options = Options { binary, rounds: 15, tools: Vec::new(), json: false };
        // Cargo adds `--bench`.
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_else(|| panic!("{name} needs a value"));
            match name.as_str() {
                "--rounds" => options.rounds = value().parse::<u32>().unwrap().max(3),
                "--tools" => options.tools.push(value().into()),
                "--json" => options.json = true,
                _ => panic!("{name} is not an option"),
            }
        }
        options
    }
}

/// The binary in the same target folder.
fn beside() -> PathBuf {
    let itself = std::env::current_exe().unwrap();
    let binary = itself.parent().and_then(Path::parent).unwrap().join("toolsmith");
    assert!(binary.is_file(), "{} is missing: build it first, in the same profile", binary.display());
    binary
}
