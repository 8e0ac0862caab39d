//! Records which files below a folder are opened, by any process (inotify(7)).
//!
//! Mounting a file elsewhere does not hide it, because the kernel watches the file and not its path. So what confined
//! compilers open is seen too.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use crate::error::{Result, failed};
use crate::folders;

/// Size of the buffer for events, in bytes: some hundred of them.
const BUFFER: usize = 16 << 10;

/// A folder whose files are watched.
#[derive(Debug)]
pub(crate) struct Watch {
    events: OwnedFd,
    /// The watched folders by number, as paths from the first one.
    folders: HashMap<i32, PathBuf>,
    opened: BTreeSet<PathBuf>,
}

impl Watch {
    /// Starts watching the files in `root` and in all folders below.
    pub(crate) fn new(root: &Path) -> Result<Self> {
        let refused = |error: Errno| {
            failed(format!("the files in {} can't be watched: {error}", root.display())).caused_by(error)
        };
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(refused)?;
        let mut folders = HashMap::new();
        for folder in folders::folders(root)?.into_iter().chain([PathBuf::new()]) {
            let flags = WatchFlags::OPEN | WatchFlags::ONLYDIR;
            let number = inotify::add_watch(&events, root.join(&folder), flags).map_err(refused)?;
            folders.insert(number, folder);
        }
        Ok(Watch { events, folders, opened: BTreeSet::new() })
    }

    /// Reads what was opened since the last call. The kernel keeps a limited number of events, so this is called often.
    ///
    /// # Errors
    /// If there were too many events, so that some are missing.
    pub(crate) fn read(&mut self) -> Result<()> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = inotify::Reader::new(&self.events, &mut buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                Err(error) => {
                    let message = format!("what the compiler opens can't be read: {error}");
                    return Err(failed(message).caused_by(error));
                }
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                return Err(failed("the compiler opened more files than the kernel counts")
                    .hint("raise the limit, and try again: sysctl fs.inotify.max_queued_events=65536"));
            }
            if event.events().contains(ReadFlags::ISDIR) {
                continue;
            }
            if let (Some(folder), Some(name)) = (self.folders.get(&event.wd()), event.file_name()) {
                self.opened.insert(folder.join(OsStr::from_bytes(name.to_bytes())));
            }
        }
    }

    /// All files that were opened, as paths from the watched folder.
    pub(crate) fn opened(self) -> BTreeSet<PathBuf> {
        self.opened
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opened_files_are_recorded_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/b/read", "a/untouched", "started"] {
            folders::write_file(&folder.path().join(path), "#!/bin/sh\n").unwrap();
        }
        let mut watch = Watch::new(folder.path()).unwrap();
        fs_err::read(folder.path().join("a/b/read")).unwrap();
        fs_err::metadata(folder.path().join("a/untouched")).unwrap();
        assert!(fs_err::read_dir(folder.path().join("a")).unwrap().count() > 0);
        let status = std::process::Command::new("sh").arg(folder.path().join("started")).status().unwrap();
        assert!(status.success());
        watch.read().unwrap();
        assert_eq!(watch.opened(), BTreeSet::from(["a/b/read".into(), "started".into()]));
    }
}
