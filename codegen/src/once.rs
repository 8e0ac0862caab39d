//! Texts about several tools of a server, in which each type is written once.

use std::collections::BTreeSet;

/// The types that earlier texts about tools of a server show.
#[derive(Debug, Default)]
pub struct Once {
    seen: BTreeSet<String>,
}

impl Once {
    /// A tool's signature without the types that an earlier one shows.
    pub fn signature(&mut self, signature: &str) -> String {
        let new =
            signature.lines().filter(|line| line.starts_with("///") || self.seen.insert((*line).to_owned()));
        new.collect::<Vec<_>>().join("\n")
    }

    /// A tool's documentation without the types that an earlier one shows.
    pub fn documentation(&mut self, documentation: &str) -> String {
        let new = documentation.split("\n\n").filter(|block| self.seen.insert((*block).to_owned()));
        new.collect::<Vec<_>>().join("\n\n")
    }
}
