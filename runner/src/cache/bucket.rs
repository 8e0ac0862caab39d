//! The buckets of the cache: what each holds, and where.

use std::path::{Path, PathBuf};

/// What the cache holds. The number in a bucket's name rises when the form of its entries changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bucket {
    /// What compilers said of themselves, one JSON file each.
    Toolchains,
    /// Bridge and crates on offer, compiled: one folder a key.
    Layers,
    /// Bindings of a server, compiled: one folder a key.
    Bindings,
    /// Linked programs: one folder a key.
    Programs,
    /// Tool lists of servers, one JSON file each.
    Catalogs,
    /// Generated bindings: one folder a key.
    Generated,
    /// Results of tools that were too long to be shown, one JSON file each; readable by their owner alone.
    Results,
    /// cargo's home: downloaded sources, shared by all layers.
    CargoHome,
    /// What is being built.
    Temporary,
}

impl Bucket {
    /// All of them.
    pub(crate) const ALL: [Bucket; 9] = [
        Bucket::Toolchains,
        Bucket::Layers,
        Bucket::Bindings,
        Bucket::Programs,
        Bucket::Catalogs,
        Bucket::Generated,
        Bucket::Results,
        Bucket::CargoHome,
        Bucket::Temporary,
    ];

    /// The name of its folder.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Bucket::Toolchains => "toolchains-v1",
            Bucket::Layers => "layers-v1",
            Bucket::Bindings => "bindings-v1",
            Bucket::Programs => "programs-v1",
            Bucket::Catalogs => "catalogs-v1",
            Bucket::Generated => "generated-v2",
            Bucket::Results => "results",
            Bucket::CargoHome => "cargo-home-v1",
            Bucket::Temporary => "temporary-v1",
        }
    }

    /// Permissions of its folder.
    pub(super) fn mode(self) -> u32 {
        if self == Bucket::Results { 0o700 } else { 0o777 }
    }

    /// Its folder, in the cache in `root`.
    pub(super) fn folder(self, root: &Path) -> PathBuf {
        root.join(self.name())
    }
}
