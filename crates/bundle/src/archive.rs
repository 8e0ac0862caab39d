//! Writes a folder as an archive whose bytes depend only on the names, contents and permissions of its files.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use system::file::{Access, Durability, Replacement};
use tar::{EntryType, Header};
use zstd::stream::Encoder;

use crate::error::{Result, at, failed};
use crate::folders::{self, EXECUTABLE};

/// The levels of compression that can be chosen.
pub const LEVELS: RangeInclusive<i32> = 1..=19;
/// The distance within which repetitions are found, as a power of two: 128 MiB, the most that is unpacked without an
/// option.
const WINDOW: u32 = 27;
/// The variable with the time of all files, in seconds since 1970, as other tools for reproducible builds read it.
const TIME: &str = "SOURCE_DATE_EPOCH";

/// Writes all files in `root` to the archive `to`, which appears once it is complete. Returns its size in bytes.
pub(crate) fn write(root: &Path, to: &Path, level: i32) -> Result<u64> {
    let time = time()?;
    let mut file = Replacement::begin(to, Access::Umask, Durability::Unsynced).map_err(at(to))?;
    let mut counted = Counted { inner: &mut file, bytes: 0 };
    let mut encoder = Encoder::new(&mut counted, level).map_err(at(to))?;
    // Their number changes nothing: the input is always divided in the same way.
    let threads =
        std::thread::available_parallelism().map_or(1, |number| number.get().try_into().unwrap_or(1));
    configure(&mut encoder, threads).map_err(at(to))?;
    let encoder = pack(root, encoder, time)?;
    encoder.finish().map_err(at(to))?;
    let bytes = counted.bytes;
    file.replace().map_err(at(to))?;
    Ok(bytes)
}

fn configure<W: Write>(encoder: &mut Encoder<'_, W>, threads: u32) -> io::Result<()> {
    encoder.multithread(threads)?;
    encoder.window_log(WINDOW)?;
    encoder.long_distance_matching(true)?;
    encoder.include_checksum(true)
}

/// The time of all files, in seconds since 1970.
pub(crate) fn time() -> Result<u64> {
    let Some(value) = std::env::var_os(TIME) else { return Ok(0) };
    let seconds = value.to_str().and_then(|text| text.parse().ok());
    seconds.ok_or_else(|| {
        failed(format!("the variable {TIME} is no number of seconds: {}", value.display()))
            .hint(format!("unset {TIME}, or set it to a time such as `git log -1 --format=%ct` prints"))
    })
}

/// Writes a tar archive.
fn pack<W: Write>(root: &Path, to: W, time: u64) -> Result<W> {
    let mut archive = tar::Builder::new(to);
    let folders = folders::folders(root)?;
    // Each folder before what is in it.
    let all: BTreeSet<PathBuf> = folders.iter().cloned().chain(folders::files(root)?).collect();
    for path in &all {
        let full = root.join(path);
        let mut header = Header::new_gnu();
        header.set_mtime(time);
        header.set_uid(0);
        header.set_gid(0);
        if folders.contains(path) {
            header.set_entry_type(EntryType::Directory);
            header.set_mode(EXECUTABLE);
            header.set_size(0);
            archive.append_data(&mut header, path, std::io::empty()).map_err(at(&full))?;
        } else {
            let file = fs_err::File::open(&full).map_err(at(&full))?;
            let metadata = file.metadata().map_err(at(&full))?;
            header.set_entry_type(EntryType::Regular);
            header.set_mode(metadata.permissions().mode() & 0o777);
            header.set_size(metadata.len());
            archive.append_data(&mut header, path, file).map_err(at(&full))?;
        }
    }
    archive.into_inner().map_err(at(root))
}

/// Counts what is written.
struct Counted<'a> {
    inner: &'a mut Replacement,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            folders::write_file(&folder.path().join(name), name.repeat(1000)).unwrap();
        }
        folder
    }

    #[test]
    fn equal_folders_become_equal_archives() {
        let names = ["b/c/two", "b/one", "a"];
        let reversed: Vec<&str> = names.into_iter().rev().collect();
        let target = tempfile::tempdir().unwrap();
        let written = [&names[..], &reversed].map(|names| {
            let folder = example(names);
            let to = target.path().join(names[0].replace('/', "-"));
            assert_eq!(write(folder.path(), &to, 3).unwrap(), fs_err::metadata(&to).unwrap().len());
            fs_err::read(to).unwrap()
        });
        assert_eq!(written[0], written[1]);
    }

    #[test]
    fn an_archive_contains_the_folder_with_its_permissions_and_no_owner() {
        let folder = example(&["a/text", "program"]);
        let program = folder.path().join("program");
        fs_err::set_permissions(&program, std::fs::Permissions::from_mode(EXECUTABLE)).unwrap();
        let to = folder.path().with_extension("tar.zst");
        write(folder.path(), &to, 3).unwrap();
        let unpacked = zstd::stream::decode_all(fs_err::File::open(&to).unwrap().into_file()).unwrap();
        fs_err::remove_file(&to).unwrap();
        let mut archive = tar::Archive::new(&unpacked[..]);
        let entries: Vec<_> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                assert_eq!((header.uid().unwrap(), header.mtime().unwrap()), (0, 0));
                (entry.path().unwrap().to_string_lossy().into_owned(), header.mode().unwrap())
            })
            .collect();
        let expected = [("a", 0o755), ("a/text", 0o644), ("program", 0o755)];
        assert_eq!(entries, expected.map(|(name, mode)| (name.to_owned(), mode)));
    }
}
