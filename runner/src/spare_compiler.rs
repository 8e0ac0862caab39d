//! A compiler that is started before a snippet needs it, and compiles at most one.
//!
//! Its main file is that of every program, but the snippet's file beside it is a named pipe (fifo(7)). rustc loads,
//! starts its session, reads the main file, and waits in open(2) of the pipe. The text is written into the pipe when there
//! is one. Before that, a file with the same text replaces the pipe, so every later reading of the path finds the text, as
//! it does without a pipe.
//!
//! `spare_compilers` decides on the number and kinds of spare compilers.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::cache::Temporary;
use crate::compiler::Launch;
use crate::error::Result;
use crate::holder::CompilerTime;
use crate::library::Library;
use crate::rustc_process::{Compiled, RustcProcess};

/// Time limit for a compiler to read its text. Without other work it takes less than 1 ms, or 50 ms if it has just been
/// started.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval of attempts to open the pipe of a compiler that is still starting.
const OPENING_INTERVAL: Duration = Duration::from_millis(1);

/// The number of threads and processes that may be started on the machine while a compiler waits. Its own limit, 512,
/// counts from its start and includes those of other programs of the user.
const MAX_NEW_TASKS: u64 = 256;

/// The file that becomes the snippet's file.
const REPLACEMENT: &str = "text";

/// A compiler that waits for its text. Dropping it ends its processes and removes its folders.
#[derive(Debug)]
pub(crate) struct SpareCompiler {
    // Dropped first: the folders are removed when nothing uses them.
    process: RustcProcess,
    /// The command that it was started with, except for its folders.
    key: Launch,
    source: Temporary,
    /// The name of the pipe in the source folder.
    pipe: &'static str,
    output: Temporary,
    /// The bindings that its text may name. They are not evicted while it waits.
    libraries: Vec<Library>,
    /// The threads and processes on the machine when it was started.
    tasks: u64,
}

/// The reason why a spare compiler, or its result, was not used.
pub(crate) type Unusable = &'static str;

impl SpareCompiler {
    /// A compiler that was started with these folders and will read the pipe in its source folder.
    pub(crate) fn new(
        key: Launch,
        process: RustcProcess,
        source: Temporary,
        pipe: &'static str,
        output: Temporary,
        libraries: Vec<Library>,
    ) -> Self {
        let tasks = sandbox::tasks_on_machine();
        SpareCompiler { process, key, source, pipe, output, libraries, tasks }
    }

    /// Whether its command line and its policy are those of `key`.
    pub(crate) fn fits(&self, key: &Launch) -> bool {
        self.key == *key
    }

    /// Whether it was started for the bindings with these module names and keys.
    pub(crate) fn is_for(&self, bindings: &[(String, String)]) -> bool {
        let own = self.libraries.iter().map(|library| (library.module.as_str(), library.key()));
        own.eq(bindings.iter().map(|(module, key)| (module.as_str(), key.clone())))
    }

    /// Checks that it still waits, and that everything it needs still exists.
    pub(crate) fn check(&mut self) -> Result<(), Unusable> {
        if self.process.has_ended() {
            return Err("it has ended");
        }
        let folders = self.source.is_in_place() && self.output.is_in_place();
        if !folders || !self.libraries.iter().all(Library::is_in_place) {
            return Err("a folder that it uses was removed");
        }
        if sandbox::tasks_on_machine() > self.tasks.saturating_add(MAX_NEW_TASKS) {
            return Err("many processes were started since its start");
        }
        Ok(())
    }

    /// Compiles `text`. Returns the folder of the program as well. Its processor time is added to `time`.
    pub(crate) async fn compile(
        mut self,
        text: &str,
        time: &CompilerTime,
    ) -> Result<(Compiled, Temporary), Unusable> {
        self.process = self.process.counted_in(time);
        let compiled = self.read_and_compile(text).await?;
        self.process.end_behind((self.source, self.libraries));
        Ok((compiled, self.output))
    }

    async fn read_and_compile(&mut self, text: &str) -> Result<Compiled, Unusable> {
        self.check()?;
        let deadline = Instant::now() + READ_TIMEOUT;
        let path = self.source.path().join(self.pipe);
        let writer = tokio::select! {
            writer = timeout_at(deadline, open(&path)) => writer.map_err(|_| "it has not become ready")?,
            _ = self.process.wait() => return Err("it has ended"),
        };
        let mut writer = writer.map_err(|_| "its pipe can't be opened")?;
        let reader = replace(&self.source, &path, text).map_err(|_| "its pipe can't be replaced")?;
        let mut finished = pin!(self.process.finish());
        let written = tokio::select! {
            // Large texts need several writes: the pipe has 64 KiB.
            written = timeout_at(deadline, writer.write_all(text.as_bytes())) => written,
            _ = &mut finished => return Err("it has ended"),
        };
        written.map_err(|_| NOT_READ)?.map_err(|_| NOT_READ)?;
        // rustc reads to the end.
        drop(writer);
        let compiled = tokio::select! {
            compiled = &mut finished => compiled.map_err(|_| "its end is unknown")?,
            () = is_stuck(&reader, deadline) => return Err(NOT_READ),
        };
        if has_crashed(compiled.status) || has_unread(&reader) {
            return Err("it has crashed");
        }
        Ok(compiled)
    }
}

const NOT_READ: Unusable = "it has not read its text";

/// Opens the pipe as soon as the compiler has opened it.
async fn open(path: &Path) -> io::Result<pipe::Sender> {
    loop {
        match pipe::OpenOptions::new().open_sender(path) {
            // No process reads it yet (fifo(7)).
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                sleep(OPENING_INTERVAL).await;
            }
            other => return other,
        }
    }
}

/// Puts a file with `text` in the place of the pipe. Returns a descriptor of the pipe for reading, which shows how much of
/// the text the compiler has not read.
fn replace(source: &Temporary, path: &Path, text: &str) -> io::Result<OwnedFd> {
    let reader = rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let replacement: PathBuf = source.path().join(REPLACEMENT);
    fs_err::write(&replacement, text)?;
    fs_err::rename(replacement, path)?;
    Ok(reader)
}

/// Returns at the deadline if the compiler has not read its text, otherwise never.
async fn is_stuck(reader: &OwnedFd, deadline: Instant) {
    sleep_until(deadline).await;
    if !has_unread(reader) {
        std::future::pending::<()>().await;
    }
}

fn has_unread(reader: &OwnedFd) -> bool {
    rustix::io::ioctl_fionread(reader).is_ok_and(|bytes| bytes > 0)
}

/// Whether it ended other than rustc ends by itself or at a limit that the text has reached. The text is then compiled
/// again, because the reason may be from the time when it waited.
fn has_crashed(status: ExitStatus) -> bool {
    let limits = [Signal::XCPU, Signal::XFSZ].map(Signal::as_raw);
    let ended_itself = matches!(status.code(), Some(0 | 1));
    !ended_itself && !status.signal().is_some_and(|signal| limits.contains(&signal))
}
