//! Packs the files of an entry into one stream, and unpacks them: their contents one after another, compressed with
//! Zstandard (RFC 8878). Names, lengths and permissions are in the signed header.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use runner::Offered;
use serde::{Deserialize, Serialize};

/// Compression level: at 3, packing takes about as long as reading the files, and layers shrink to a third.
const LEVEL: i32 = 3;
/// Maximum number of files in an entry; a layer has about 40.
const MOST_FILES: usize = 1024;
/// Maximum length of a file's name, in bytes (`NAME_MAX` of Linux).
const LONGEST_NAME: usize = 255;
/// Permissions of unpacked files, before the umask.
const PLAIN: u32 = 0o666;
const EXECUTABLE: u32 = 0o777;
/// The owner may execute the file (inode(7)).
const OWNER_EXECUTES: u32 = 0o100;

/// A file of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackedFile {
    pub(crate) name: String,
    /// In bytes.
    pub(crate) length: u64,
    pub(crate) executable: bool,
}

impl PackedFile {
    /// Whether the name is that of a file directly in a folder. Names are signed, but an old key may be known to others.
    fn is_plain(&self) -> bool {
        let name = self.name.as_str();
        !name.is_empty()
            && name.len() <= LONGEST_NAME
            && !matches!(name, "." | "..")
            && !name.contains(['/', '\0'])
            && Offered::is_content(name)
    }
}

/// Packs the files in `folder`, sorted by name. Fails if they take more than `limit` bytes packed.
pub(crate) fn pack(folder: &Path, limit: usize) -> io::Result<(Vec<PackedFile>, Vec<u8>)> {
    let mut names = Vec::new();
    for file in fs_err::read_dir(folder)? {
        let file = file?;
        let name = file.file_name().into_string().map_err(|_| io::Error::other("a name is not text"))?;
        if file.file_type()?.is_file() && Offered::is_content(&name) {
            names.push(name);
        }
    }
    names.sort();
    let mut files = Vec::new();
    let mut encoder = zstd::Encoder::new(Bounded { bytes: Vec::new(), limit }, LEVEL)?;
    for name in names {
        let mut file = File::open(folder.join(&name))?;
        let executable = file.metadata()?.permissions().mode() & OWNER_EXECUTES != 0;
        let length = io::copy(&mut file, &mut encoder)?;
        files.push(PackedFile { name, length, executable });
    }
    Ok((files, encoder.finish()?.bytes))
}

/// Writes the files to the empty `folder`.
///
/// # Errors
/// If the stream has more or less than these files, or the folder can't be written to. The folder is empty then.
pub(crate) fn unpack(packed: impl Read, files: &[PackedFile], folder: &Path) -> io::Result<()> {
    let unpacked = write(packed, files, folder);
    if unpacked.is_err() {
        for file in files.iter().filter(|file| file.is_plain()) {
            // What was not written need not be removed.
            let _ = fs_err::remove_file(folder.join(&file.name));
        }
    }
    unpacked
}

fn write(packed: impl Read, files: &[PackedFile], folder: &Path) -> io::Result<()> {
    if files.len() > MOST_FILES || !files.iter().all(PackedFile::is_plain) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the names of the files are not usable"));
    }
    let mut decoder = zstd::Decoder::with_buffer(BufReader::new(packed))?;
    for file in files {
        let mode = if file.executable { EXECUTABLE } else { PLAIN };
        let mut written =
            OpenOptions::new().write(true).create_new(true).mode(mode).open(folder.join(&file.name))?;
        if io::copy(&mut (&mut decoder).take(file.length), &mut written)? != file.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    if decoder.read(&mut [0])? == 0 { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Bytes in memory, up to a limit.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(bytes.len()) > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    fn folder_with(files: &[(&str, &[u8], u32)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes, mode) in files {
            let path = folder.path().join(name);
            fs_err::write(&path, bytes).unwrap();
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(*mode)).unwrap();
        }
        folder
    }

    #[test]
    fn files_are_unpacked_as_they_were() {
        let folder = folder_with(&[
            ("program", &[7; 5000], 0o755),
            ("notes.json", b"{}", 0o644),
            ("empty", b"", 0o600),
            ("contents.json", b"of the local cache", 0o644),
        ]);
        let (files, packed) = pack(folder.path(), LIMIT).unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["empty", "notes.json", "program"]);
        assert!(packed.len() < 200, "{}", packed.len());
        let unpacked = tempfile::tempdir().unwrap();
        unpack(&packed[..], &files, unpacked.path()).unwrap();
        let read = |name: &str| fs_err::read(unpacked.path().join(name)).unwrap();
        assert_eq!(
            (read("program"), read("notes.json"), read("empty")),
            (vec![7; 5000], b"{}".to_vec(), vec![])
        );
        let mode = |name: &str| {
            let metadata = fs_err::metadata(unpacked.path().join(name)).unwrap();
            metadata.permissions().mode() & OWNER_EXECUTES
        };
        assert_eq!((mode("program"), mode("notes.json")), (OWNER_EXECUTES, 0));
        assert!(!unpacked.path().join("contents.json").exists());
    }

    #[test]
    fn a_stream_with_more_or_less_than_the_files_is_an_error() {
        let folder = folder_with(&[("a", b"12345", 0o644)]);
        let (files, packed) = pack(folder.path(), LIMIT).unwrap();
        let unpacked = tempfile::tempdir().unwrap();
        for length in [4, 6] {
            let files = [PackedFile { length, ..files[0].clone() }];
            assert!(unpack(&packed[..], &files, unpacked.path()).is_err(), "{length}");
            assert_eq!(fs_err::read_dir(unpacked.path()).unwrap().count(), 0);
        }
        assert!(unpack(&packed[..packed.len() - 1], &files, tempfile::tempdir().unwrap().path()).is_err());
    }

    #[test]
    fn names_outside_the_folder_are_refused() {
        for name in ["../a", "/a", "a/b", ".", "..", "", "contents.json", "a\0b"] {
            let file = PackedFile { name: name.to_owned(), length: 0, executable: false };
            assert!(!file.is_plain(), "{name:?}");
            let packed = zstd::encode_all(&b""[..], LEVEL).unwrap();
            assert!(unpack(&packed[..], &[file], tempfile::tempdir().unwrap().path()).is_err(), "{name:?}");
        }
    }

    #[test]
    fn packing_is_bounded() {
        let bytes: Vec<u8> =
            (0..200_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let folder = folder_with(&[("noise", &bytes, 0o644)]);
        assert!(pack(folder.path(), LIMIT).is_ok());
        assert_eq!(pack(folder.path(), 1 << 10).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
