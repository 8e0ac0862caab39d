//! Writes a bundle, from its parts to its place.

use std::path::{Path, PathBuf};
use std::time::Duration;

use runner::{Bucket, LayerCrate, Sink, Toolchain};
use serde::Serialize;

use crate::error::{Result, at, failed, unusable};
use crate::{archive, folders, licences, sbom, stage};

/// The end of an archive's name.
pub const ARCHIVE: &str = ".tar.zst";
/// The beginning of the name of an unfinished bundle, next to its place.
const UNFINISHED: &str = ".toolsmith-bundle-";

/// The contents of a bundle.
#[derive(Debug)]
pub struct Contents<'a> {
    /// The version of Toolsmith.
    pub version: &'a str,
    /// The program.
    pub program: &'a Path,
    /// The toolchain from which the compiler is taken.
    pub toolchain: &'a Toolchain,
    /// The entries of the cache, with their buckets.
    pub entries: &'a [(Bucket, PathBuf)],
    /// The crates that are compiled into these entries.
    pub crates: &'a [LayerCrate],
    /// Lists of the program's components, in CycloneDX's JSON.
    pub lists: &'a [PathBuf],
    /// A folder with the licences of the program's components.
    pub licences: Option<&'a Path>,
}

/// A bundle that was written.
#[derive(Debug, Serialize)]
pub struct Written {
    /// Its place.
    pub path: PathBuf,
    /// Number of its files.
    pub files: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// The size of the archive in bytes, if it is one.
    pub archive_bytes: Option<u64>,
    /// The time of the first result with the bundle, in milliseconds.
    pub first_result_ms: u128,
    /// Whether the program needs a dynamic loader, and so runs only on systems like this one.
    pub dynamic: bool,
    /// The dynamic libraries that the compiler needs of the system.
    pub libraries: Vec<String>,
}

/// Checks that a bundle can be written to `to` and that its `lists` of components can be used, before long work.
///
/// # Errors
/// If `to` exists and is not an archive to replace, if the folder above is missing, or if a list is none.
pub fn check(to: &Path, lists: &[PathBuf]) -> Result<()> {
    place(to)?;
    archive::time()?;
    sbom::check(lists)
}

/// Writes a bundle to `to`: an archive if the name ends with `.tar.zst`, a folder otherwise. `level` is the level of
/// compression. Everything is prepared next to `to`, and is removed if this fails or is cancelled.
///
/// # Errors
/// If `to` is in use, a part can't be read, or the bundle does not run snippets.
pub async fn write(contents: Contents<'_>, to: &Path, level: i32, sink: &dyn Sink) -> Result<Written> {
    let parent = place(to)?;
    let unfinished = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&parent).map_err(at(&parent))?;
    let root = &unfinished.path().join("bundle");
    fs_err::create_dir(root).map_err(unusable)?;
    sink.progress("copying the program, the compiler and the compiled crates");
    let dynamic = put(&contents, root)?;
    let Contents { version, toolchain, .. } = contents;
    let results = stage::reduce(root, version, toolchain, sink).await?;
    let manifest = stage::write_manifest(root, version, toolchain)?;
    folders::open_folders(root)?;
    let archive_bytes = if is_archive(to) {
        sink.progress("compressing the bundle, which takes some minutes");
        let archive = unfinished.path().join("archive");
        let bytes = compress(root.clone(), archive.clone(), level).await?;
        fs_err::rename(archive, to).map_err(unusable)?;
        Some(bytes)
    } else {
        fs_err::rename(root, to).map_err(unusable)?;
        None
    };
    Ok(Written {
        path: to.to_owned(),
        files: manifest.files.len(),
        bytes: manifest.files.iter().map(|file| file.bytes).sum(),
        archive_bytes,
        first_result_ms: milliseconds(results.first),
        dynamic,
        libraries: manifest.libraries,
    })
}

fn is_archive(to: &Path) -> bool {
    to.to_string_lossy().ends_with(ARCHIVE)
}

/// Checks that a bundle can be written to `to`, and returns the folder above.
fn place(to: &Path) -> Result<PathBuf> {
    if !is_archive(to) && fs_err::symlink_metadata(to).is_ok() {
        return Err(failed(format!("{} exists already", to.display()))
            .hint("name a new folder, or a file that ends with .tar.zst"));
    }
    let whole = std::path::absolute(to).map_err(at(to))?;
    match whole.parent() {
        Some(parent) if parent.is_dir() && !whole.is_dir() => Ok(parent.to_owned()),
        Some(parent) if !parent.is_dir() => Err(failed(format!("there is no folder {}", parent.display()))
            .hint("create it, or name another place in --out")),
        _ => Err(failed(format!("{} is a folder, which an archive can't replace", to.display()))
            .hint("name another file in --out")),
    }
}

/// Puts everything into the folder `root`. Returns whether the program needs a dynamic loader.
fn put(contents: &Contents<'_>, root: &Path) -> Result<bool> {
    let Contents { version, program, toolchain, entries, crates, lists, licences } = *contents;
    let dynamic = stage::copy_program(program, root)?;
    stage::copy_toolchain(toolchain, stage::host(toolchain)?, root)?;
    let changed = stage::remove_symbols(root)?;
    stage::copy_entries(entries, root)?;
    licences::write(root, toolchain, crates, licences)?;
    licences::write_changes(root, &changed)?;
    sbom::write(root, version, toolchain, crates, lists)?;
    // Of the whole toolchain: with it, the program knows that it is part of a bundle.
    stage::write_manifest(root, version, toolchain)?;
    Ok(dynamic)
}

/// Writes the archive on a thread of its own, so that signals are handled meanwhile. If the caller is cancelled, it
/// removes the folder of both paths.
async fn compress(root: PathBuf, archive: PathBuf, level: i32) -> Result<u64> {
    let writing = tokio::task::spawn_blocking(move || archive::write(&root, &archive, level));
    writing.await.map_err(|error| failed(format!("the archive can't be written: {error}")))?
}

fn milliseconds(time: Duration) -> u128 {
    time.as_millis()
}
