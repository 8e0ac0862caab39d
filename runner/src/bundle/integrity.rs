//! Compares the files of a bundle with its manifest.

use std::collections::HashSet;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use walkdir::WalkDir;

use super::{Bundle, BundledFile, PARTS};

/// Size of the parts in which files are read, in bytes.
const PART: usize = 256 << 10;

/// The result of comparing a bundle with its manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Integrity {
    /// The bundle's folder.
    pub folder: PathBuf,
    /// Number of files in the manifest.
    pub files: usize,
    /// Whether their contents were compared, and not only their sizes and permissions.
    pub contents: bool,
    /// The differences, as `PATH: WHY`.
    pub differences: Vec<String>,
}

impl Bundle {
    /// Compares sizes and permissions of all files with the manifest, which takes about a millisecond, and with
    /// `contents` their hashes, which reads the whole bundle. Looks for other files among the bundle's parts.
    #[must_use]
    pub fn integrity(&self, contents: bool) -> Integrity {
        let files = &self.manifest.files;
        let mut differences: Vec<String> = files
            .iter()
            .filter_map(|file| Some(format!("{}: {}", file.path, self.differs(file, contents)?)))
            .collect();
        let known: HashSet<&Path> = files.iter().map(|file| Path::new(&file.path)).collect();
        differences.extend(self.parts().filter(|path| !known.contains(&**path)).map(|path| {
            // From another version that was unpacked into the same folder, for example.
            format!("{}: is not in the manifest", path.display())
        }));
        Integrity { folder: self.root.clone(), files: files.len(), contents, differences }
    }

    /// The files in the folder of the bundle's parts, from the bundle's folder.
    fn parts(&self) -> impl Iterator<Item = PathBuf> {
        let found =
            WalkDir::new(self.root.join(PARTS)).sort_by_file_name().into_iter().filter_map(Result::ok);
        let files = found.filter(|entry| !entry.file_type().is_dir());
        files.filter_map(|entry| Some(entry.path().strip_prefix(&self.root).ok()?.to_owned()))
    }

    /// Compares a file with the manifest.
    fn differs(&self, file: &BundledFile, contents: bool) -> Option<String> {
        let path = self.root.join(&file.path);
        let metadata = match fs_err::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Some("is missing".to_owned());
            }
            Err(error) => return Some(error.to_string()),
        };
        if !metadata.is_file() {
            return Some("is not a regular file".to_owned());
        }
        if metadata.len() != file.bytes {
            return Some(format!("has {} bytes instead of {}", metadata.len(), file.bytes));
        }
        if file.executable && metadata.permissions().mode() & 0o111 == 0 {
            return Some("is not executable".to_owned());
        }
        if !contents {
            return None;
        }
        match sha256(&path) {
            Ok(hash) if hash == file.sha256 => None,
            Ok(_) => Some("has other contents".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }
}

impl BundledFile {
    /// The file `path` of the bundle in `root`, as it is.
    ///
    /// # Errors
    /// If it can't be read, or its name is not UTF-8.
    pub fn read(root: &Path, path: &Path) -> std::io::Result<Self> {
        let full = root.join(path);
        let metadata = fs_err::metadata(&full)?;
        let name = path
            .to_str()
            .ok_or_else(|| std::io::Error::other(format!("the name of {} is not UTF-8", path.display())))?;
        Ok(BundledFile {
            path: name.to_owned(),
            bytes: metadata.len(),
            executable: metadata.permissions().mode() & 0o111 != 0,
            sha256: sha256(&full)?,
        })
    }
}

/// The SHA-256 of a file, as hexadecimal digits.
fn sha256(path: &Path) -> std::io::Result<String> {
    let mut file = fs_err::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut part = vec![0; PART];
    loop {
        match file.read(&mut part)? {
            0 => break,
            read => hasher.update(&part[..read]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{empty, write};
    use super::super::{Bundle, BundleManifest};
    use super::*;

    #[test]
    fn a_changed_file_is_found_by_its_contents_and_a_shortened_one_by_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["one", "two", "three"] {
            fs_err::write(root.join(name), "text").unwrap();
        }
        let files = ["one", "three", "two"].map(|name| BundledFile::read(root, Path::new(name)).unwrap());
        // Of `text`, by another implementation.
        assert_eq!(files[0].sha256, "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1");
        write(root, &BundleManifest { files: files.to_vec(), ..empty() });
        let bundle = Bundle::open(root).unwrap();
        assert!(bundle.integrity(true).differences.is_empty());
        fs_err::write(root.join("one"), "tent").unwrap();
        assert!(bundle.integrity(false).differences.is_empty());
        assert_eq!(bundle.integrity(true).differences, ["one: has other contents"]);
        fs_err::write(root.join("two"), "te").unwrap();
        fs_err::remove_file(root.join("three")).unwrap();
        let other = root.join(PARTS).join("other");
        fs_err::create_dir_all(other.parent().unwrap()).unwrap();
        fs_err::write(other, "").unwrap();
        let found = bundle.integrity(false).differences;
        let expected = [
            "three: is missing",
            "two: has 2 bytes instead of 4",
            "lib/toolsmith/other: is not in the manifest",
        ];
        assert_eq!(found, expected);
    }
}
