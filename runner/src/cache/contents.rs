//! The list of an entry's files at publication, to check that it is intact and to compute its size.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::bucket::Bucket;

/// The file in an entry that lists the others.
pub(super) const CONTENTS: &str = "contents.json";
/// Permission bits an entry depends on: its owner may read and execute the file (inode(7)).
const PERMISSIONS: u32 = 0o500;
/// File systems allocate whole blocks, which are rarely smaller (ext4(5), xfs(5), btrfs(5)).
const BLOCK: u64 = 4096;
/// Maximum folder depth when bytes are counted; cargo's home has about ten levels.
const DEPTH: usize = 32;

/// A file of an entry, as published.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) name: String,
    /// In bytes.
    length: u64,
    /// Its bits of [`PERMISSIONS`].
    permissions: u32,
}

impl Content {
    fn of(folder: &Path, name: String) -> std::io::Result<Self> {
        let metadata = fs_err::symlink_metadata(folder.join(&name))?;
        let permissions = metadata.permissions().mode() & PERMISSIONS;
        Ok(Content { name, length: metadata.len(), permissions })
    }
}

/// Writes the list of an entry's files, and takes them from other users: compilers write them with their own modes. Entries
/// have no subfolders.
pub(super) fn write(folder: &Path) -> std::io::Result<Vec<Content>> {
    let mut contents = Vec::new();
    for file in fs_err::read_dir(folder)? {
        let file = file?;
        if let (true, Ok(name)) = (file.file_type()?.is_file(), file.file_name().into_string()) {
            system::private::close(&file.path(), &file.metadata()?)?;
            contents.push(Content::of(folder, name)?);
        }
    }
    contents.sort();
    system::private::write(&folder.join(CONTENTS), &serde_json::to_vec(&contents)?)?;
    Ok(contents)
}

/// Begins the name of an empty file in the entry of a program that is a subject's own.
pub(crate) const OWNER: &str = "owner-";

/// The bucket of which an owner has a share.
pub(super) fn bucket_of(owner: &str) -> Bucket {
    // Names of modules are identifiers.
    if owner.starts_with(OWNER) { Bucket::Programs } else { Bucket::Bindings }
}

/// Whose share an entry with these files takes: that of a server's module for bindings, of a subject for programs.
pub(super) fn owner(bucket: Bucket, contents: &[Content]) -> Option<&str> {
    let mut names = contents.iter().map(|content| content.name.as_str());
    match bucket {
        Bucket::Bindings => names.find_map(|name| name.strip_prefix("lib")?.strip_suffix(".rlib")),
        Bucket::Programs => names.find(|name| name.starts_with(OWNER)),
        _ => None,
    }
}

/// The list in an entry, if it can be read.
pub(super) fn read(folder: &Path) -> Option<Vec<Content>> {
    serde_json::from_slice(&fs_err::read(folder.join(CONTENTS)).ok()?).ok()
}

/// Whether an entry has all the files it was published with. It checks only lengths: about 0.1 ms for the 40 files of a
/// layer; reading their 70 MB takes 20 ms or more.
pub(super) fn is_whole(folder: &Path) -> bool {
    read(folder).is_some_and(|contents| {
        contents
            .into_iter()
            .all(|content| Content::of(folder, content.name.clone()).is_ok_and(|found| found == content))
    })
}

/// The disk usage in bytes of an entry with these files: whole blocks, plus its folder and the list.
pub(super) fn bytes(contents: &[Content]) -> u64 {
    contents.iter().fold(2 * BLOCK, |bytes, content| bytes.saturating_add(blocks(content.length)))
}

/// The disk usage in bytes of a file of this length.
pub(super) fn blocks(length: u64) -> u64 {
    length.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// The size in bytes of a file, or of a folder with everything in it. What can't be read counts as nothing.
pub(super) fn measure(path: &Path) -> u64 {
    fn walk(path: &Path, depth: usize) -> u64 {
        let Ok(metadata) = fs_err::symlink_metadata(path) else { return 0 };
        if !metadata.is_dir() || depth == 0 {
            return blocks(metadata.len());
        }
        let entries = fs_err::read_dir(path).into_iter().flatten().flatten();
        entries.fold(BLOCK, |bytes, entry| bytes.saturating_add(walk(&entry.path(), depth - 1)))
    }
    walk(path, DEPTH)
}
