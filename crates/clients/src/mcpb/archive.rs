//! The archive of a bundle: a ZIP file of which every entry is checked before anything is written.
//!
//! Only regular files and folders are unpacked, to places within one new folder. An entry that could write elsewhere (a
//! path upwards, an absolute path, a link) makes the whole bundle unusable, and so does one that is larger than it says.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use config::Error;
use sha2::{Digest as _, Sha256};
use zip::ZipArchive;

/// Maximum size of a bundle, in bytes (512 MiB): those with all of a Python server's packages have about 200 MB.
pub const MAX_BUNDLE: u64 = 512 << 20;

/// Maximum number of entries: a Node server with its packages has ten thousand.
const MAX_ENTRIES: usize = 100_000;

/// Maximum size of all unpacked files, in bytes (2 GiB).
const MAX_UNPACKED: u64 = 2 << 30;

/// Maximum length of a path within the bundle, in bytes, and of its components.
const MAX_PATH: usize = 1024;
const MAX_DEPTH: usize = 64;

/// Maximum size of the manifest, in bytes (1 MiB).
const MAX_MANIFEST: u64 = 1 << 20;

/// The file of the manifest.
const MANIFEST: &str = "manifest.json";

/// The kinds of files in the mode of an entry (`st_mode`): the mask, and a regular file and a folder.
const FILE_KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

/// An archive whose entries are checked.
pub(super) struct Archive {
    zip: ZipArchive<File>,
    /// The SHA-256 hash of the file, in hexadecimal digits.
    pub(super) sha256: String,
    entries: Vec<Checked>,
}

/// An entry that may be unpacked.
struct Checked {
    path: PathBuf,
    is_folder: bool,
    is_executable: bool,
}

impl Archive {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let shown = path.display();
        let unread = |error: io::Error| {
            Error::new(format!("{shown} can't be read: {error}"))
                .hint(system::file::advice(&error))
                .caused_by(error)
        };
        let mut file = File::open(path).map_err(unread)?;
        let metadata = file.metadata().map_err(unread)?;
        if !metadata.is_file() || metadata.len() > MAX_BUNDLE {
            return Err(Error::new(format!(
                "{shown} is no file of at most {MAX_BUNDLE} bytes, the limit for bundles"
            )));
        }
        let sha256 = hash(&mut file).map_err(unread)?;
        file.rewind().map_err(unread)?;
        let mut zip = ZipArchive::new(file).map_err(|error| {
            Error::new(format!("{shown} is no bundle: {error}")).hint("a bundle (.mcpb) is a ZIP archive")
        })?;
        let entries = checked(&mut zip)?;
        Ok(Archive { zip, sha256, entries })
    }

    /// The manifest's text.
    pub(super) fn manifest(&mut self) -> Result<Vec<u8>, Error> {
        let missing = || Error::new(format!("the bundle has no {MANIFEST}"));
        let entry = self.zip.by_name(MANIFEST).map_err(|_| missing())?;
        let mut text = Vec::new();
        let read = entry.take(MAX_MANIFEST + 1).read_to_end(&mut text);
        read.map_err(|error| Error::new(format!("the bundle's {MANIFEST} can't be read: {error}")))?;
        if text.len() as u64 > MAX_MANIFEST {
            return Err(Error::new(format!(
                "the bundle's {MANIFEST} has more than {MAX_MANIFEST} bytes, the limit"
            )));
        }
        Ok(text)
    }

    /// Unpacks everything into a new folder.
    pub(super) fn unpack(&mut self, folder: &Path) -> Result<(), Error> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| {
            Error::new(format!("the bundle can't be unpacked: {}: {error}", path.display()))
        };
        let create = |folder: &Path, is_new: bool| {
            DirBuilder::new()
                .recursive(!is_new)
                .mode(0o700)
                .create(folder)
                .map_err(|error| failed(folder, &error))
        };
        create(folder, true)?;
        let mut left = MAX_UNPACKED;
        for (index, entry) in self.entries.iter().enumerate() {
            let path = folder.join(&entry.path);
            if entry.is_folder {
                create(&path, false)?;
                continue;
            }
            create(system::file::folder_of(&path), false)?;
            let content = self.zip.by_index(index).map_err(|error| failed(&entry.path, &error))?;
            let mode = if entry.is_executable { 0o700 } else { 0o600 };
            let written = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(&path)
                .and_then(|mut file| io::copy(&mut content.take(left + 1), &mut file));
            let written = written.map_err(|error| failed(&entry.path, &error))?;
            left = left.checked_sub(written).ok_or_else(too_large)?;
        }
        Ok(())
    }
}

fn too_large() -> Error {
    Error::new(format!("the bundle has more than {MAX_UNPACKED} bytes unpacked, the limit"))
}

fn hash(file: &mut File) -> io::Result<String> {
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        let length = file.read(&mut chunk)?;
        let Some(read) = chunk.get(..length).filter(|read| !read.is_empty()) else { break };
        hash.update(read);
    }
    let digits: Vec<String> = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(digits.concat())
}

/// Checks all entries.
fn checked(zip: &mut ZipArchive<File>) -> Result<Vec<Checked>, Error> {
    if zip.len() > MAX_ENTRIES {
        return Err(Error::new(format!("the bundle has more than {MAX_ENTRIES} files, the limit")));
    }
    let (mut entries, mut paths, mut bytes) = (Vec::new(), BTreeSet::new(), 0_u64);
    for index in 0..zip.len() {
        let damaged = |error| Error::new(format!("the bundle is damaged: {error}"));
        let entry = zip.by_index_raw(index).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        let refused =
            |why: &str| Error::new(format!("the bundle is not unpacked: {} {why}", printable::name(&name)));
        let path = path(&name).ok_or_else(|| refused("is no path within it"))?;
        let (mode, is_folder) = (entry.unix_mode().unwrap_or_default(), name.ends_with('/'));
        let expected = if is_folder { FOLDER } else { REGULAR };
        if mode & FILE_KIND != 0 && mode & FILE_KIND != expected {
            return Err(refused("is a link or another special file"));
        }
        if entry.encrypted() {
            return Err(refused("is encrypted"));
        }
        if !is_folder && !paths.insert(path.clone()) {
            return Err(refused("appears twice"));
        }
        bytes = bytes.saturating_add(entry.size());
        if bytes > MAX_UNPACKED {
            return Err(too_large());
        }
        entries.push(Checked { path, is_folder, is_executable: mode & 0o111 != 0 });
    }
    Ok(entries)
}

/// The path of a name, if it leads to a place within the folder whatever it is joined to.
fn path(name: &str) -> Option<PathBuf> {
    let is_sound = !name.is_empty() && name.len() <= MAX_PATH && !name.contains(['\\', '\0']);
    let path = Path::new(name);
    let is_below = path.components().all(|component| matches!(component, Component::Normal(_)));
    (is_sound && is_below && path.components().count() <= MAX_DEPTH).then(|| path.to_owned())
}
