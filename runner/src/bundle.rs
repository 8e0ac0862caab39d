//! The bundle that this program is part of, if there is one: a folder with the program, the toolchain, the compiled
//! crates and bindings, and a manifest that lists its files.
//!
//! Nothing in a bundle is written to, and no path in it is absolute, so it can be anywhere. The crate `bundle` writes
//! bundles.

mod integrity;

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cache::Bucket;
use crate::error::{Error, ErrorKind, Result};

pub use integrity::Integrity;

/// The program, from the bundle's folder.
pub const PROGRAM: &str = "bin/toolsmith";
/// The helper that confines processes; without it, the program does that itself, and starts them more slowly.
pub const HELPER: &str = "bin/toolsmith-sandbox";
/// The compiler's sysroot.
pub const TOOLCHAIN: &str = "lib/toolsmith/toolchain";
/// Entries of the cache, in the folders that a cache has.
pub const STORE: &str = "lib/toolsmith/store";
/// The manifest. It is in the program's own folder: anyone who can write there can replace the program too.
pub const MANIFEST: &str = "bin/toolsmith-bundle.json";
/// A part of the error for a bundle that was made with another program.
pub const WITHOUT_CRATES: &str = "no compiled crates that fit this program";
/// The folder of everything from which programs are made.
pub const PARTS: &str = "lib/toolsmith";
/// The form of [`BundleManifest`]; a program reads only its own.
pub const FORMAT: u32 = 1;

/// Maximum size of the manifest, in bytes (4 MiB): a bundle has a few hundred files, with 200 bytes for each.
const LARGEST_MANIFEST: u64 = 4 << 20;

/// The contents of a bundle.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BundleManifest {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of Toolsmith.
    pub version: String,
    /// The target of snippets.
    pub target: String,
    /// The platform of the compiler.
    pub host: String,
    /// The compiler's output for `-vV`.
    pub compiler: String,
    /// The dynamic loader that the compiler needs of the system.
    pub loader: String,
    /// The dynamic libraries that the compiler needs of the system.
    pub libraries: Vec<String>,
    /// All other files, sorted by path.
    pub files: Vec<BundledFile>,
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundledFile {
    /// Its path from the bundle's folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether it can be executed.
    pub executable: bool,
    /// Its SHA-256, as hexadecimal digits.
    pub sha256: String,
}

/// An open bundle.
#[derive(Debug, Clone)]
pub struct Bundle {
    root: PathBuf,
    manifest: BundleManifest,
}

impl Bundle {
    /// The folder of the bundle that this program is part of: the one above the program's own folder, if that one has
    /// a manifest.
    #[must_use]
    pub fn folder_of_this_program() -> Option<PathBuf> {
        let program = std::env::current_exe().ok()?;
        let root = program.parent()?.parent()?;
        let manifest = root.join(MANIFEST);
        // A manifest that can't be read is one: opening it reports why.
        let is_missing = || {
            let found = fs_err::symlink_metadata(&manifest);
            found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        };
        let is_beside_program = manifest.parent() == program.parent();
        (is_beside_program && !is_missing()).then(|| root.to_owned())
    }

    /// The bundle that this program is part of.
    ///
    /// # Errors
    /// If there is one, but its manifest can't be used.
    pub fn of_this_program() -> Result<Option<Self>> {
        Bundle::folder_of_this_program().map(|root| Bundle::open(&root)).transpose()
    }

    /// Opens the bundle in `root`.
    ///
    /// # Errors
    /// If its manifest is missing, damaged, or of another release.
    pub fn open(root: &Path) -> Result<Self> {
        let path = root.join(MANIFEST);
        let damaged = |why: String| {
            let message = format!("the bundle in {} can't be used: {MANIFEST} {why}", root.display());
            Error::new(ErrorKind::Bundle, message).hint("unpack the bundle again into an empty folder")
        };
        let text = system::file::read(&path, LARGEST_MANIFEST)
            .map_err(|error| damaged(format!("can't be read: {error}")))?
            .ok_or_else(|| damaged("is missing".to_owned()))?;
        let manifest: BundleManifest =
            serde_json::from_slice(&text).map_err(|error| damaged(format!("is damaged: {error}")))?;
        if manifest.format != FORMAT {
            return Err(damaged(format!("has the format {}, not {FORMAT}", manifest.format)));
        }
        let names = manifest.files.iter().map(|file| &file.path).chain([&manifest.host]);
        if let Some(name) = names.into_iter().find(|name| !is_plain(name)) {
            return Err(damaged(format!("names {name:?}, which is not in the bundle")));
        }
        Ok(Bundle { root: root.to_owned(), manifest })
    }

    /// Its folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its manifest.
    #[must_use]
    pub fn manifest(&self) -> &BundleManifest {
        &self.manifest
    }

    /// The folder of its entries of the cache.
    pub(crate) fn store(&self) -> PathBuf {
        self.root.join(STORE)
    }

    /// The folder of a bucket among its entries, from the bundle's folder.
    #[must_use]
    pub fn bucket(bucket: Bucket) -> PathBuf {
        Path::new(STORE).join(bucket.name())
    }

    /// The error for a bundle that lacks the crates that this program compiles snippets against.
    pub(crate) fn without_crates(root: &Path) -> Error {
        let message =
            format!("the bundle in {} has {WITHOUT_CRATES}, and no cargo to compile them", root.display());
        Error::new(ErrorKind::Bundle, message)
            .hint("unpack the bundle again, or make another one with the program that it contains")
    }
}

/// Whether a path leads only downwards.
fn is_plain(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The manifest of an empty bundle.
    pub(crate) fn empty() -> BundleManifest {
        BundleManifest {
            format: FORMAT,
            version: "0.1.0".to_owned(),
            target: crate::toolchain::TARGET.to_owned(),
            host: "x86_64-unknown-linux-gnu".to_owned(),
            compiler: "rustc 1.95.0\nrelease: 1.95.0\n".to_owned(),
            loader: "/".to_owned(),
            libraries: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Writes a bundle's manifest.
    pub(crate) fn write(root: &Path, manifest: &BundleManifest) {
        let path = root.join(MANIFEST);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, serde_json::to_vec(manifest).unwrap()).unwrap();
    }

    #[test]
    fn a_manifest_that_is_missing_damaged_or_of_another_format_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let message = |expected: &str| {
            let error = Bundle::open(folder.path()).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(error.advice().is_some());
        };
        message("is missing");
        write(folder.path(), &BundleManifest { format: FORMAT + 1, ..empty() });
        message("has the format 2, not 1");
        let outside =
            BundledFile { path: "../x".to_owned(), bytes: 0, executable: false, sha256: String::new() };
        write(folder.path(), &BundleManifest { files: vec![outside], ..empty() });
        message("names \"../x\"");
        fs_err::write(folder.path().join(MANIFEST), "{").unwrap();
        message("is damaged");
    }
}
