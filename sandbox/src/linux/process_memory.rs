//! Prefaulting the mapped files of a waiting process.
//!
//! A process takes a page fault for each part of a mapped file that it touches, even if the file is in memory. When another
//! process reads these parts through proc_pid_mem(5), the kernel maps them as it would at a page fault.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// The number of bytes of a file that the kernel maps at a page fault, if they are in memory: the aligned block with
/// the address. The default of `fault_around_bytes` (`mm/memory.c`).
const FAULT_AROUND: u64 = 64 << 10;

/// The memory of a process below a [`Child`](crate::Child). After the end of the process it is empty.
#[derive(Debug)]
pub struct ProcessMemory {
    maps: File,
    bytes: File,
}

impl ProcessMemory {
    /// Opens the memory of the processes below `ancestor`, except for those of this crate, which hide theirs.
    pub(super) fn below(ancestor: u32) -> io::Result<Vec<Self>> {
        let (mut opened, mut refused) = (Vec::new(), None);
        let mut parents = vec![ancestor];
        while let Some(parent) = parents.pop() {
            for child in children(parent)? {
                parents.push(child);
                match Self::open(child) {
                    Ok(memory) => opened.push(memory),
                    Err(error) => refused = Some(error),
                }
            }
        }
        match refused {
            Some(error) if opened.is_empty() => Err(error),
            _ => Ok(opened),
        }
    }

    fn open(process: u32) -> io::Result<Self> {
        let open = |name| {
            let path = format!("/proc/{process}/{name}");
            File::open(&path).map_err(|error| with_path(&path, &error))
        };
        Ok(ProcessMemory { maps: open("maps")?, bytes: open("mem")? })
    }

    /// Maps all pages of the files that the process has mapped for reading and that are `wanted`. Takes about a microsecond
    /// for each 64 KiB, but longer for pages that must be read from a disk: the rest is not mapped after `limit`.
    ///
    /// A process that handles its own page faults (userfaultfd(2)) can block this.
    ///
    /// # Errors
    /// If this process may not read the memory (ptrace(2), "Ptrace access mode checking").
    pub fn prefault(&self, limit: Duration, wanted: impl Fn(&Path) -> bool) -> io::Result<()> {
        let deadline = Instant::now() + limit;
        let touched = self.touch_files(wanted, || Instant::now() <= deadline);
        // The process has ended.
        touched.or_else(|error| if error.raw_os_error() == Some(libc::ESRCH) { Ok(()) } else { Err(error) })
    }

    /// Reads a byte of each block as long as there is time.
    fn touch_files(&self, wanted: impl Fn(&Path) -> bool, has_time: impl Fn() -> bool) -> io::Result<()> {
        for line in BufReader::new(&self.maps).lines() {
            let line = line?;
            let range = read_only_file(&line).filter(|(_, path)| wanted(path)).map(|(range, _)| range);
            for address in range.into_iter().flat_map(blocks) {
                if !has_time() || !self.touch(address)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads one byte. Returns false if the process has ended.
    fn touch(&self, address: u64) -> io::Result<bool> {
        match self.bytes.read_at(&mut [0], address) {
            // After the end of the file, or no longer mapped.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(true),
            other => Ok(other? > 0),
        }
    }
}

/// The children of all threads of a process (proc_tid_children(5)).
fn children(process: u32) -> io::Result<Vec<u32>> {
    let mut children = Vec::new();
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        let path = thread?.path().join("children");
        let listed = fs::read_to_string(&path).map_err(|error| with_path(&path.to_string_lossy(), &error))?;
        children.extend(listed.split_ascii_whitespace().filter_map(|id| id.parse::<u32>().ok()));
    }
    Ok(children)
}

fn with_path(path: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}

/// The addresses and the path of a file that is mapped for reading only, from a line of proc_pid_maps(5).
fn read_only_file(line: &str) -> Option<(Range<u64>, &Path)> {
    let (numbers, path) = line.split_at_checked(line.find('/')?)?;
    let mut fields = numbers.split_ascii_whitespace();
    let (range, permissions) = (fields.next()?, fields.next()?);
    if !permissions.starts_with("r-") {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let address = |digits| u64::from_str_radix(digits, 16).ok();
    Some((address(start)?..address(end)?, Path::new(path)))
}

/// An address in each aligned block of [`FAULT_AROUND`] bytes.
fn blocks(range: Range<u64>) -> impl Iterator<Item = u64> {
    let following = range.start / FAULT_AROUND + 1..range.end.div_ceil(FAULT_AROUND);
    std::iter::once(range.start).chain(following.map(|block| block * FAULT_AROUND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_mapped_for_reading_are_found() {
        let line = "7f1000-7f3000 r-xp 00001000 fe:00 1234                 /lib/a library.so (deleted)";
        let path = Path::new("/lib/a library.so (deleted)");
        assert_eq!(read_only_file(line), Some((0x7f_1000..0x7f_3000, path)));
        for other in [
            "7f1000-7f3000 rw-p 00001000 fe:00 1234 /lib/library.so",
            "7f1000-7f3000 ---p 00001000 fe:00 1234 /lib/library.so",
            "7f1000-7f3000 r--p 00000000 00:00 0 [vvar]",
            "7f1000-7f3000 r--p 00000000 00:00 0",
            "7f1000 r--p 00000000 00:00 0 /lib/library.so",
            "",
        ] {
            assert_eq!(read_only_file(other), None, "{other}");
        }
    }

    #[test]
    fn each_block_has_an_address() {
        let addresses = |range| blocks(range).collect::<Vec<_>>();
        assert_eq!(addresses(0x1_f000..0x2_f000), [0x1_f000, 0x2_0000]);
        assert_eq!(addresses(0x1_0000..0x3_0000), [0x1_0000, 0x2_0000]);
        assert_eq!(addresses(0x1_0000..0x3_1000), [0x1_0000, 0x2_0000, 0x3_0000]);
        assert_eq!(addresses(0x1_1000..0x1_2000), [0x1_1000]);
    }
}
