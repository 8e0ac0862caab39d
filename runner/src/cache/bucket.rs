//! The buckets of the cache.

use std::path::{Path, PathBuf};

/// A bucket. The number in its name increases when the format of its entries changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bucket {
    /// Toolchain information from compilers, one JSON file each.
    Toolchains,
    /// The compiled bridge and crates available to snippets: one folder per key.
    Layers,
    /// Compiled bindings of a server: one folder per key.
    Bindings,
    /// Linked programs: one folder per key.
    Programs,
    /// Tool lists of servers, one JSON file each.
    Catalogs,
    /// Generated bindings: one folder per key.
    Generated,
    /// Tool results too long to show, one JSON file each.
    Results,
    /// cargo's home: downloaded sources, shared by all layers.
    CargoHome,
    /// Entries being built.
    Temporary,
}

impl Bucket {
    /// All buckets.
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

    /// The name of the bucket's folder.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Bucket::Toolchains => "toolchains-v1",
            Bucket::Layers => "layers-v1",
            Bucket::Bindings => "bindings-v1",
            Bucket::Programs => "programs-v1",
            Bucket::Catalogs => "catalogs-v1",
            Bucket::Generated => "generated-v2",
            Bucket::Results => "results-v1",
            Bucket::CargoHome => "cargo-home-v1",
            Bucket::Temporary => "temporary-v1",
        }
    }

    /// Describes its contents in a few words.
    #[must_use]
    pub fn contents(self) -> &'static str {
        match self {
            Bucket::Toolchains => "versions of compilers",
            Bucket::Layers => "compiled crates",
            Bucket::Bindings => "compiled bindings",
            Bucket::Programs => "compiled snippets",
            Bucket::Catalogs => "tool lists",
            Bucket::Generated => "generated bindings",
            Bucket::Results => "long results of tools",
            Bucket::CargoHome => "downloaded sources",
            Bucket::Temporary => "builds in progress",
        }
    }

    /// Whether a bundle may have entries of this bucket.
    pub(super) fn is_bundled(self) -> bool {
        matches!(self, Bucket::Layers | Bucket::Bindings)
    }

    /// The bucket's folder in the cache in `root`.
    pub(super) fn folder(self, root: &Path) -> PathBuf {
        root.join(self.name())
    }
}
