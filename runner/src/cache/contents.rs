//! The files of an entry, as they were when it was published: whether it is whole, and how many bytes it takes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file of an entry that lists the others.
pub(super) const CONTENTS: &str = "contents.json";
/// Permissions of a file that an entry depends on: that its owner may read and execute it (inode(7)).
const PERMISSIONS: u32 = 0o500;
/// File systems give files whole blocks, which are rarely smaller (ext4(5), xfs(5), btrfs(5)).
const BLOCK: u64 = 4096;
/// How deep folders are followed when bytes are counted; cargo's home has about ten levels.
const DEPTH: usize = 32;

/// A file of an entry, as it was when the entry was published.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) name: String,
    /// In bytes.
    length: u64,
    /// Those of [`PERMISSIONS`] that it has.
    permissions: u32,
}

impl Content {
    fn of(folder: &Path, name: String) -> std::io::Result<Self> {
        let metadata = fs_err::symlink_metadata(folder.join(&name))?;
        let permissions = metadata.permissions().mode() & PERMISSIONS;
        Ok(Content { name, length: metadata.len(), permissions })
    }
}

/// Writes down which files an entry has. Entries have no folders in them.
pub(super) fn write(folder: &Path) -> std::io::Result<Vec<Content>> {
    let mut contents = Vec::new();
    for file in fs_err::read_dir(folder)? {
        let file = file?;
        if let (true, Ok(name)) = (file.file_type()?.is_file(), file.file_name().into_string()) {
            contents.push(Content::of(folder, name)?);
        }
    }
    contents.sort();
    fs_err::write(folder.join(CONTENTS), serde_json::to_vec(&contents)?)?;
    Ok(contents)
}

/// The server's module that an entry with these files has the compiled bindings of.
pub(super) fn owner(contents: &[Content]) -> Option<&str> {
    contents.iter().find_map(|content| content.name.strip_prefix("lib")?.strip_suffix(".rlib"))
}

/// The list in an entry, if it can be read.
pub(super) fn read(folder: &Path) -> Option<Vec<Content>> {
    serde_json::from_slice(&fs_err::read(folder.join(CONTENTS)).ok()?).ok()
}

/// Whether an entry has all files that it was published with. It asks for lengths only: about 0.1 ms for the 40
/// files of a layer, whose 70 MB take 20 ms and more to read.
pub(super) fn is_whole(folder: &Path) -> bool {
    read(folder).is_some_and(|contents| {
        contents
            .into_iter()
            .all(|content| Content::of(folder, content.name.clone()).is_ok_and(|found| found == content))
    })
}

/// The bytes that an entry with these files takes on the disk: files in whole blocks, its folder and the list.
pub(super) fn bytes(contents: &[Content]) -> u64 {
    contents.iter().fold(2 * BLOCK, |bytes, content| bytes.saturating_add(blocks(content.length)))
}

/// The bytes that a file of this length takes on the disk.
pub(super) fn blocks(length: u64) -> u64 {
    length.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// The bytes that a file takes, or a folder with all beneath it. What can't be read counts as nothing.
pub(super) fn measure(path: &Path) -> u64 {
    fn beneath(path: &Path, depth: usize) -> u64 {
        let Ok(metadata) = fs_err::symlink_metadata(path) else { return 0 };
        if !metadata.is_dir() || depth == 0 {
            return blocks(metadata.len());
        }
        let entries = fs_err::read_dir(path).into_iter().flatten().flatten();
        entries.fold(BLOCK, |bytes, entry| bytes.saturating_add(beneath(&entry.path(), depth - 1)))
    }
    beneath(path, DEPTH)
}
