//! Describes in words what a confined server may use.

use std::fmt::Display;

use sandbox::Network;

use crate::Settings;

impl Settings {
    /// The grants of the server, with the words for each kind.
    pub fn in_words(&self) -> [(&'static str, String); 6] {
        let network = match self.network {
            Network::None => "none",
            Network::Loopback => "only its own processes, over a loopback interface of its own",
            Network::Full => "all of it",
        };
        [
            (
                "reads",
                also(
                    "the system's programs, its own installation and its working folder",
                    &paths(&self.read),
                ),
            ),
            ("writes", also("a /tmp of its own and its package manager's cache", &paths(&self.write))),
            ("network", network.to_owned()),
            ("variables", also("those of its entry, PATH, HOME and locale", &self.env)),
            ("processes", self.processes.to_string()),
            ("memory", size(self.memory)),
        ]
    }
}

fn paths(paths: &[std::path::PathBuf]) -> Vec<impl Display> {
    paths.iter().map(|path| path.display()).collect()
}

/// The grants of every server, and the further ones of this server.
fn also(always: &str, more: &[impl Display]) -> String {
    more.iter().fold(always.to_owned(), |text, one| format!("{text}, {one}"))
}

/// A size in the largest unit that divides it.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(bits, _)| bytes > 0 && bytes.trailing_zeros() >= *bits);
    unit.map_or_else(|| format!("{bytes} bytes"), |(bits, name)| format!("{} {name}", bytes >> bits))
}
