//! A started rustc: its messages, the object file that it writes into a pipe, and its end.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::fs::{Mode, OFlags};
use system::random;
use tokio::net::unix::pipe;
use tokio::sync::Notify;

use crate::confined::{Captured, Confined, drop_behind};
use crate::error::{Error, Result};
use crate::holder::CompilerTime;
use crate::last_message::LastMessage;
use crate::outcome::SandboxReport;

/// Maximum size of the compiler's messages, in bytes (16 MiB): one may quote a line of a megabyte several times.
const MESSAGES_LIMIT: usize = 16 << 20;
/// Maximum size of an object file, in bytes (64 MiB), like that of a program.
const OBJECT_LIMIT: usize = 64 << 20;

/// A confined rustc. Dropping it kills it, and counts its processor time.
#[derive(Debug)]
pub(crate) struct RustcProcess {
    process: Confined,
    object: Option<pipe::Receiver>,
    time: CompilerTime,
}

impl Drop for RustcProcess {
    fn drop(&mut self) {
        // Its processor time is known when it has ended.
        let _ = self.process.kill();
        self.time.add(self.process.evidence().processor_time);
    }
}

/// The result of a compilation.
pub(crate) struct Compiled {
    /// The status with which rustc has ended, or has announced to end.
    pub(crate) status: ExitStatus,
    /// Its messages, one JSON object per line.
    pub(crate) messages: Captured,
    /// The object file, if it was written into a pipe.
    pub(crate) object: Captured,
    pub(crate) sandbox: SandboxReport,
}

impl RustcProcess {
    /// Starts `command`. Blocks for a few milliseconds.
    ///
    /// With `object`, rustc gets a new pipe in that folder as its output. rustc would not be allowed to change the mode
    /// of a file, as it does, and an object file in a pipe need not be read from a disk. The pipe's name is a secret: a
    /// snippet that included it as a file would make rustc wait for ever.
    ///
    /// # Errors
    /// If the sandbox or the folder can't be used.
    pub(crate) fn start(
        policy: sandbox::Policy,
        confinement: sandbox::Confinement,
        mut command: sandbox::Command,
        object: Option<&Path>,
    ) -> Result<Self> {
        let object = object.map(object_pipe).transpose()?;
        if let Some((path, _)) = &object {
            command = command.arg("-o").arg(path);
        }
        let process = Confined::spawn(policy, confinement, command)?;
        Ok(RustcProcess { process, object: object.map(|(_, pipe)| pipe), time: CompilerTime::default() })
    }

    /// Adds its processor time, also that of its start, to `time` when it has ended.
    pub(crate) fn counted_in(mut self, time: &CompilerTime) -> Self {
        self.time = time.clone();
        self
    }

    /// Waits until rustc has ended, or has announced its exit status.
    pub(crate) async fn finish(&mut self) -> Result<Compiled> {
        let (mut messages, mut printed) = (Captured::default(), Captured::default());
        let (mut last, is_last) = (LastMessage::default(), Notify::new());
        let (out, err) = (&mut self.process.stdout, &mut self.process.stderr);
        let output = async {
            tokio::join!(
                messages.read(err, MESSAGES_LIMIT, false, |bytes: &[u8]| {
                    if last.read(bytes) {
                        is_last.notify_one();
                    }
                }),
                printed.read(out, 0, false, |_| {})
            );
        };
        let mut object = Captured::default();
        tokio::select! {
            () = output => {}
            () = is_last.notified() => {}
            () = read_object(&mut object, self.object.as_mut()) => {}
        }
        if let Some(pipe) = &self.object {
            // All of it is in the pipe by now.
            object.read_rest(pipe, OBJECT_LIMIT);
        }
        let status = match last.status() {
            Some(status) => status,
            None => self.process.wait().await?,
        };
        Ok(Compiled { status, messages, object, sandbox: self.process.report() })
    }

    /// Waits for its end.
    pub(crate) async fn wait(&mut self) -> Result<ExitStatus> {
        self.process.wait().await
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.has_ended()
    }

    /// Kills it. Its end is awaited in the background, and then `used` is dropped: folders that it used.
    pub(crate) fn end_behind(mut self, used: impl Send + 'static) {
        self.process.begin_end();
        drop_behind(self, used);
    }
}

/// A pipe for an object file, with its path in `folder`.
fn object_pipe(folder: &Path) -> Result<(PathBuf, pipe::Receiver)> {
    let failed = || Error::cache(folder);
    let path = folder.join(random::id().map_err(failed())?);
    create_pipe(&path)?;
    // Opened for writing too, so that it has no end before rustc opens it (fifo(7)).
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&path, flags, Mode::empty()).map_err(std::io::Error::from);
    let pipe = opened.and_then(pipe::Receiver::from_owned_fd).map_err(failed())?;
    Ok((path, pipe))
}

/// Reads an object file as it is written; never returns, because only rustc's last message tells its end.
async fn read_object(object: &mut Captured, pipe: Option<&mut pipe::Receiver>) {
    if let Some(pipe) = pipe {
        object.read(pipe, OBJECT_LIMIT, false, |_| {}).await;
    }
    std::future::pending::<()>().await;
}

/// Creates a named pipe.
///
/// # Errors
/// If its folder can't be written to.
pub(crate) fn create_pipe(path: &Path) -> Result<()> {
    let created = rustix::fs::mkfifoat(rustix::fs::CWD, path, Mode::RUSR | Mode::WUSR);
    created.map_err(|error| Error::cache(path)(error.into()))
}
