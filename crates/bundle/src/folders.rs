//! Copies and lists folders.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Result, failed, unusable};

/// Maximum depth of folders: toolchains have about six levels.
const DEPTH: usize = 32;

/// Permissions of folders and of executable files in a bundle.
pub(crate) const EXECUTABLE: u32 = 0o755;
/// Permissions of other files.
pub(crate) const READABLE: u32 = 0o644;

/// All files below `folder`, as paths from it.
pub(crate) fn files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    walk(folder, Path::new(""), DEPTH, &mut |path| {
        found.insert(path.to_owned());
    })?;
    Ok(found)
}

/// All folders below `folder`, without itself, as paths from it.
pub(crate) fn folders(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut folders: BTreeSet<PathBuf> = files(folder)?
        .iter()
        .flat_map(|path| path.ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>())
        .collect();
    folders.remove(Path::new(""));
    Ok(folders)
}

fn walk(root: &Path, below: &Path, depth: usize, see: &mut dyn FnMut(&Path)) -> Result<()> {
    let folder = root.join(below);
    if depth == 0 {
        return Err(failed(format!("{} has more than {DEPTH} levels of folders", root.display())));
    }
    for entry in fs_err::read_dir(&folder).map_err(unusable)? {
        let entry = entry.map_err(unusable)?;
        let path = below.join(entry.file_name());
        // Follows links: a bundle has none.
        if fs_err::metadata(entry.path()).map_err(unusable)?.is_dir() {
            walk(root, &path, depth - 1, see)?;
        } else {
            see(&path);
        }
    }
    Ok(())
}

/// Copies those files of a folder that are `wanted`, by their paths from it.
pub(crate) fn copy(from: &Path, to: &Path, wanted: impl Fn(&Path) -> bool) -> Result<()> {
    for path in files(from)?.iter().filter(|path| wanted(path)) {
        copy_file(&from.join(path), &to.join(path))?;
    }
    Ok(())
}

/// Copies a file with the permissions that files of a bundle have.
pub(crate) fn copy_file(from: &Path, to: &Path) -> Result<()> {
    create_parent(to)?;
    let executable = fs_err::metadata(from).map_err(unusable)?.permissions().mode() & 0o111 != 0;
    fs_err::copy(from, to).map_err(unusable)?;
    set_mode(to, if executable { EXECUTABLE } else { READABLE })
}

/// Writes a file.
pub(crate) fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    create_parent(path)?;
    fs_err::write(path, contents).map_err(unusable)?;
    set_mode(path, READABLE)
}

/// Removes all files below `folder` that are not in `kept`, and the folders that are empty then.
pub(crate) fn prune(folder: &Path, kept: &BTreeSet<PathBuf>) -> Result<()> {
    let all = folders(folder)?;
    for path in files(folder)?.difference(kept) {
        fs_err::remove_file(folder.join(path)).map_err(unusable)?;
    }
    // Subfolders first.
    for path in all.difference(&folders(folder)?).collect::<Vec<_>>().into_iter().rev() {
        fs_err::remove_dir(folder.join(path)).map_err(unusable)?;
    }
    Ok(())
}

/// Sets the permissions of all folders below `folder` and of itself, whatever the umask.
pub(crate) fn open_folders(folder: &Path) -> Result<()> {
    set_mode(folder, EXECUTABLE)?;
    folders(folder)?.iter().try_for_each(|path| set_mode(&folder.join(path), EXECUTABLE))
}

fn create_parent(path: &Path) -> Result<()> {
    path.parent().map_or(Ok(()), |parent| fs_err::create_dir_all(parent).map_err(unusable))
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(unusable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_removed_with_its_folders() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/b/one", "a/two", "c/d/e/three"] {
            write_file(&folder.path().join(path), path).unwrap();
        }
        prune(folder.path(), &BTreeSet::from(["a/two".into()])).unwrap();
        assert_eq!(files(folder.path()).unwrap(), BTreeSet::from(["a/two".into()]));
        assert!(folder.path().join("a").is_dir());
        assert!(!folder.path().join("a/b").exists() && !folder.path().join("c").exists());
    }

    #[test]
    fn copies_have_the_permissions_of_a_bundle_and_are_no_links() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        write_file(&from.join("text"), "text").unwrap();
        write_file(&from.join("program"), "program").unwrap();
        set_mode(&from.join("text"), 0o600).unwrap();
        set_mode(&from.join("program"), 0o700).unwrap();
        std::os::unix::fs::symlink("text", from.join("link")).unwrap();
        copy(&from, &to, |path| path != Path::new("text")).unwrap();
        let mode = |name: &str| fs_err::symlink_metadata(to.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("link"), mode("program")), (READABLE, EXECUTABLE));
        assert!(!to.join("text").exists() && to.join("link").symlink_metadata().unwrap().is_file());
    }
}
