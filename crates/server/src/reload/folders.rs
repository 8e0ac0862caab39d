//! Watches the folders of files with inotify, and waits for a change of one of the files.
//!
//! A folder may have many files of other programs, such as `/tmp`. So events are compared by name, and many are read at
//! once.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, sleep, timeout};

/// The time for which files must be unchanged before they are read: editors write in several steps.
const QUIET: Duration = Duration::from_millis(200);

/// Time limit for that wait, after which they are read anyway.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Pause between two readings of events, in which the kernel collects more of them. It keeps at most
/// `fs.inotify.max_queued_events` (16 384 by default), and reports if there were more.
const PAUSE: Duration = Duration::from_millis(50);

/// The number of bytes of events that are read at once (256 KiB): about 5 000 events.
const BUFFER: usize = 256 << 10;

/// Events that may mean that a file has changed, or a folder on the way to it. Opening and reading is not a change.
const CHANGES: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// The relevant names in each watched folder, by its watch: files, or the next folder on the way to a file.
type Names = BTreeMap<i32, BTreeSet<OsString>>;

/// The folders whose files are watched.
pub(super) struct Folders {
    /// A descriptor that becomes readable as a pipe does, which is tokio's type for it.
    inotify: Receiver,
    names: Names,
    buffer: Vec<MaybeUninit<u8>>,
    /// The number of times that events were read.
    #[cfg(test)]
    readings: usize,
}

/// The failure to watch a folder.
#[derive(Debug, thiserror::Error)]
#[error("{folder}: {source}", folder = .folder.display())]
pub(super) struct Unwatched {
    folder: PathBuf,
    source: io::Error,
}

impl Folders {
    /// No folder yet. Needs a tokio runtime.
    ///
    /// # Errors
    /// If the process or the user has too many open files or inotify instances.
    pub(super) fn new() -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Folders {
            inotify: Receiver::from_file_unchecked(File::from(inotify))?,
            names: Names::new(),
            buffer: vec![MaybeUninit::uninit(); BUFFER],
            #[cfg(test)]
            readings: 0,
        })
    }

    /// Watches these files, and no others, from now on. Call it again after each change, because a folder may have been
    /// created, renamed or replaced.
    ///
    /// # Errors
    /// If a folder can't be watched; the others are.
    pub(super) fn watch(&mut self, files: &BTreeSet<PathBuf>) -> Result<(), Unwatched> {
        let (mut names, mut failed) = (Names::new(), Ok(()));
        for file in files {
            match self.watch_nearest(file) {
                Ok(Some((watch, name))) => drop(names.entry(watch).or_default().insert(name)),
                Ok(None) => {}
                Err(error) => failed = Err(error),
            }
        }
        for watch in self.names.keys().filter(|watch| !names.contains_key(watch)) {
            // The watch of a removed folder is gone.
            let _ = inotify::remove_watch(&self.inotify, *watch);
        }
        self.names = names;
        failed
    }

    /// Watches the nearest existing folder above a file. Returns the watch, and the name in the folder that leads to the
    /// file.
    fn watch_nearest(&self, file: &Path) -> Result<Option<(i32, OsString)>, Unwatched> {
        let below = file.ancestors();
        for (folder, below) in file.ancestors().skip(1).zip(below) {
            match inotify::add_watch(&self.inotify, folder, CHANGES) {
                Ok(watch) => return Ok(below.file_name().map(|name| (watch, name.to_owned()))),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => return Err(Unwatched { folder: folder.to_owned(), source: error.into() }),
            }
        }
        Ok(None)
    }

    /// Waits for a change, and until it has settled.
    ///
    /// # Errors
    /// If events can't be read.
    pub(super) async fn changed(&mut self) -> io::Result<()> {
        self.next_change().await?;
        let started = Instant::now();
        while started.elapsed() < MAX_WAIT {
            sleep(PAUSE).await;
            match timeout(QUIET.saturating_sub(PAUSE), self.next_change()).await {
                Ok(changed) => changed?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    async fn next_change(&mut self) -> io::Result<()> {
        while !self.read().await? {
            sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Waits for events, and reads those that have arrived, as far as the buffer holds them. Returns whether one of them
    /// may be a change.
    async fn read(&mut self) -> io::Result<bool> {
        let Folders { inotify, names, buffer, .. } = self;
        loop {
            inotify.readable().await?;
            match inotify.try_io(|| has_change(inotify, buffer, names)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                is_change => {
                    #[cfg(test)]
                    {
                        self.readings += 1;
                    }
                    return is_change;
                }
            }
        }
    }
}

/// Reads events once; returns whether one of them may be a change.
fn has_change(inotify: &Receiver, buffer: &mut [MaybeUninit<u8>], names: &Names) -> io::Result<bool> {
    let mut reader = Reader::new(inotify, buffer);
    let mut is_change = false;
    loop {
        let event = reader.next()?;
        is_change |= concerns(names, event.wd(), event.events(), event.file_name());
        if reader.is_buffer_empty() {
            return Ok(is_change);
        }
    }
}

/// Whether an event may mean that a file has changed. An event without a name concerns the watched folder itself.
fn concerns(names: &Names, watch: i32, events: ReadFlags, name: Option<&CStr>) -> bool {
    if events.contains(ReadFlags::QUEUE_OVERFLOW) {
        return true;
    }
    // Events of a watch that was removed meanwhile may still arrive.
    let Some(names) = names.get(&watch) else { return false };
    name.is_none_or(|name| names.contains(OsStr::from_bytes(name.to_bytes())))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    struct Watched {
        place: TempDir,
        folders: Folders,
        files: Vec<&'static str>,
    }

    impl Watched {
        fn new(files: &[&'static str]) -> Self {
            let place = tempfile::tempdir().unwrap();
            let mut watched = Watched { place, folders: Folders::new().unwrap(), files: files.to_vec() };
            watched.watch();
            watched
        }

        fn path(&self, name: &str) -> PathBuf {
            self.place.path().join(name)
        }

        fn watch(&mut self) {
            let files = self.files.iter().map(|name| self.path(name)).collect();
            self.folders.watch(&files).unwrap();
        }

        /// Whether a change has arrived since the last call.
        fn is_changed(&mut self) -> bool {
            let Folders { inotify, names, buffer, .. } = &mut self.folders;
            has_change(inotify, buffer, names).unwrap_or(false)
        }

        /// Whether these actions are a change. Afterwards, the folders are watched again.
        fn changes(&mut self, act: impl Fn(&Path) -> io::Result<()>) -> bool {
            act(self.place.path()).unwrap();
            let is_changed = self.is_changed();
            self.watch();
            is_changed
        }
    }

    #[tokio::test]
    async fn only_changes_of_the_files_matter() {
        let mut watched = Watched::new(&["c.yaml"]);
        assert!(watched.changes(|place| fs::write(place.join("c.yaml"), "a")));
        assert!(!watched.changes(|place| fs::read(place.join("c.yaml")).map(drop)));
        assert!(!watched.changes(|place| fs::write(place.join("other"), "a")));
        assert!(!watched.changes(|place| fs::write(place.join("c.yaml.swp"), "a")));
        assert!(!watched.changes(|place| fs::create_dir(place.join("folder"))));
        assert!(watched.changes(|place| fs::rename(place.join("other"), place.join("c.yaml"))));
        assert!(watched.changes(|place| fs::remove_file(place.join("c.yaml"))));
        assert!(watched.changes(|place| symlink("c.yaml.swp", place.join("c.yaml"))));
        assert!(watched.changes(|place| fs::rename(place.join("c.yaml"), place.join("gone"))));
    }

    #[tokio::test]
    async fn folders_on_the_way_to_a_file_matter() {
        let mut watched = Watched::new(&["a/b/c.yaml"]);
        assert!(!watched.changes(|place| fs::create_dir(place.join("b"))));
        assert!(watched.changes(|place| fs::create_dir(place.join("a"))));
        assert!(watched.changes(|place| fs::create_dir(place.join("a/b"))));
        assert!(watched.changes(|place| fs::write(place.join("a/b/c.yaml"), "a")));
        assert!(!watched.changes(|place| fs::write(place.join("a/other"), "a")), "only a/b is watched");
        assert!(watched.changes(|place| fs::rename(place.join("a/b"), place.join("a/moved"))));
        assert!(!watched.changes(|place| fs::write(place.join("a/moved/c.yaml"), "a")));
        assert!(watched.changes(|place| fs::rename(place.join("a/moved"), place.join("a/b"))));
        assert!(watched.changes(|place| fs::write(place.join("a/b/c.yaml"), "b")));
        assert!(watched.changes(|place| fs::remove_dir_all(place.join("a/b"))));
        assert!(watched.changes(|place| fs::rename(place.join("b"), place.join("a/b"))));
    }

    #[tokio::test]
    async fn the_target_of_a_link_matters_in_its_own_folder() {
        let mut watched = Watched::new(&["c.yaml", "b/target", "link/d.yaml"]);
        fs::create_dir(watched.path("b")).unwrap();
        symlink("b/target", watched.path("c.yaml")).unwrap();
        symlink("b", watched.path("link")).unwrap();
        watched.watch();
        while watched.is_changed() {}
        assert!(watched.changes(|place| fs::write(place.join("c.yaml"), "a")));
        assert!(watched.changes(|place| fs::write(place.join("b/d.yaml"), "a")), "two names of one folder");
        assert!(!watched.changes(|place| fs::write(place.join("b/other"), "a")));
    }

    #[tokio::test]
    async fn lost_events_are_a_change() {
        assert!(concerns(&Names::new(), -1, ReadFlags::QUEUE_OVERFLOW, None));
        assert!(!concerns(&Names::new(), 1, ReadFlags::MODIFY, None), "a watch that was removed");
    }

    /// The time is that of the paused clock: it passes only while nothing else happens.
    #[tokio::test(start_paused = true)]
    async fn events_of_other_files_are_read_many_at_once() {
        let mut watched = Watched::new(&["c.yaml"]);
        let place = watched.place.path().to_owned();
        let busy = async {
            for number in 0..1_000 {
                fs::write(place.join(format!("other-{number}")), "a").unwrap();
                sleep(Duration::from_millis(1)).await;
            }
            fs::write(place.join("c.yaml"), "a").unwrap();
        };
        let (changed, ()) = tokio::join!(watched.folders.changed(), busy);
        changed.unwrap();
        // A thousand milliseconds, and those in which the change settles.
        let most = 1_000 / PAUSE.as_millis() + 5;
        assert!(watched.folders.readings as u128 <= most, "{} readings", watched.folders.readings);
    }
}
