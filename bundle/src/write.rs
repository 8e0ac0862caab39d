//! Writes a bundle, from its parts to its place.

use std::path::{Path, PathBuf};
use std::time::Duration;

use runner::{Bucket, LayerCrate, Observer, Toolchain};
use serde::Serialize;
use tempfile::TempDir;

use crate::error::{Result, at, failed, unusable};
use crate::{archive, folders, licences, sbom, stage};

/// The end of an archive's name.
const ARCHIVE: &str = ".tar.zst";
/// The beginning of the name of an unfinished bundle, next to its place.
const UNFINISHED: &str = ".toolsmith-bundle-";

/// What goes into a bundle.
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

/// Checks that a bundle can be written to `to`, before long work.
///
/// # Errors
/// If `to` exists and is not an archive to replace.
pub fn check_place(to: &Path) -> Result<()> {
    place(to).map(drop)
}

/// Writes a bundle to `to`: an archive if the name ends with `.tar.zst`, a folder otherwise. `level` is the level of
/// compression. Everything is prepared next to `to`, and is removed if this fails or is cancelled.
///
/// # Errors
/// If `to` is in use, a part can't be read, or the bundle does not run snippets.
pub async fn write(
    contents: Contents<'_>,
    to: &Path,
    level: i32,
    observer: &dyn Observer,
) -> Result<Written> {
    let parent = place(to)?;
    let unfinished = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&parent).map_err(at(&parent))?;
    let root = unfinished.path();
    observer.progress("copying the program, the compiler and the compiled crates");
    let dynamic = put(&contents, root)?;
    let Contents { version, toolchain, .. } = contents;
    let results = stage::reduce(root, (version, toolchain), observer).await?;
    let manifest = stage::write_manifest(root, version, toolchain)?;
    folders::open_folders(root)?;
    let archive_bytes = if is_archive(to) {
        observer.progress("compressing the bundle, which takes some minutes");
        Some(archive::write(root, to, level)?)
    } else {
        rename(unfinished, to)?;
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
    let parent = whole.parent().map(Path::to_owned);
    parent.ok_or_else(|| failed(format!("{} is no place for a bundle", to.display())))
}

/// Puts everything into the folder `root`. Returns whether the program needs a dynamic loader.
fn put(contents: &Contents<'_>, root: &Path) -> Result<bool> {
    let Contents { version, program, toolchain, entries, crates, lists, licences } = *contents;
    let dynamic = stage::copy_program(program, root)?;
    stage::copy_toolchain(toolchain, stage::host(toolchain)?, root)?;
    stage::copy_entries(entries, root)?;
    licences::write(root, toolchain, crates, licences)?;
    sbom::write(root, version, toolchain, crates, lists)?;
    // Of the whole toolchain: with it, the program knows that it is part of a bundle.
    stage::write_manifest(root, version, toolchain)?;
    Ok(dynamic)
}

/// Moves the finished folder to its place.
fn rename(unfinished: TempDir, to: &Path) -> Result<()> {
    fs_err::rename(unfinished.path(), to).map_err(unusable)?;
    // It is no longer there, so nothing is left to remove.
    let _ = unfinished.keep();
    Ok(())
}

fn milliseconds(time: Duration) -> u128 {
    time.as_millis()
}
