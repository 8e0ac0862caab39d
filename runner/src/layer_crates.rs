//! Lists the crates of the layer that come from the registry, with their licences and sources.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;

use cargo_metadata::{Metadata, MetadataCommand};
use serde::Deserialize;

use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::layer::{self, LOCK_FILE};
use crate::toolchain::TARGET;

/// A crate of the layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerCrate {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licences, as an SPDX expression.
    pub licence: Option<String>,
    /// The SHA-256 of its package, as hexadecimal digits.
    pub sha256: String,
    /// The folder with its sources.
    pub sources: PathBuf,
}

/// The parts of the lock file that are read.
#[derive(Deserialize)]
struct LockFile {
    package: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
    checksum: Option<String>,
}

impl Engine {
    /// The crates from the registry that are compiled into the layer for snippets, sorted; downloads missing sources.
    ///
    /// # Errors
    /// If cargo fails, for example without network.
    pub async fn layer_crates(&self) -> Result<Vec<LayerCrate>> {
        let folder = self.cache.temporary()?;
        layer::write_sources(folder.path()).map_err(Error::cache(folder.path()))?;
        let manifest = folder.path().join("Cargo.toml");
        let arguments = ["metadata", "--locked", "--format-version=1", "--filter-platform", TARGET];
        let arguments = arguments.map(OsStr::new).into_iter().chain(["--manifest-path".as_ref()]);
        let arguments: Vec<&OsStr> = arguments.chain([manifest.as_os_str()]).collect();
        let text = layer::cargo(&self.cache, &self.toolchain, &arguments).await?;
        let metadata = MetadataCommand::parse(String::from_utf8_lossy(&text)).map_err(unreadable)?;
        let lock: LockFile = toml::from_str(LOCK_FILE).map_err(unreadable)?;
        Ok(of_registry(&metadata, lock))
    }
}

/// The crates of the registry among those that are compiled.
fn of_registry(metadata: &Metadata, lock: LockFile) -> Vec<LayerCrate> {
    let named = |package: LockedPackage| Some(((package.name, package.version), package.checksum?));
    let hashes: BTreeMap<(String, String), String> = lock.package.into_iter().filter_map(named).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let mut crates: Vec<LayerCrate> = nodes
        .filter_map(|node| {
            let package = &metadata[&node.id];
            let (name, version) = (package.name.to_string(), package.version.to_string());
            // Only packages of the registry have one.
            let sha256 = hashes.get(&(name.clone(), version.clone()))?.clone();
            let sources = package.manifest_path.parent()?.to_owned().into();
            Some(LayerCrate { name, version, licence: package.license.clone(), sha256, sources })
        })
        .collect();
    crates.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    crates
}

fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Layer, format!("the list of the crates that snippets use can't be read: {error}"))
        .caused_by(error)
}
