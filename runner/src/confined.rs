//! A confined process in the event loop: its bounded output, its exit, its termination.

use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;

use system::event_loop::off_loop;
use tokio::io::AsyncReadExt;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;
use tokio::runtime::Handle;

use crate::error::{Error, ErrorKind, Result};
use crate::journal::{NoSink, Sink};
use crate::outcome::SandboxReport;

/// A started process. Dropping it kills it and all its descendants.
#[derive(Debug)]
pub(crate) struct Confined {
    child: sandbox::Child,
    exited: AsyncFd<OwnedFd>,
    /// Its standard output.
    pub(crate) stdout: pipe::Receiver,
    /// Its standard error.
    pub(crate) stderr: pipe::Receiver,
}

impl Confined {
    /// Starts `command` under `policy`, in the tier that `confinement` selects.
    pub(crate) fn spawn(
        policy: sandbox::Policy,
        confinement: sandbox::Confinement,
        command: sandbox::Command,
    ) -> Result<Self> {
        let sandbox = sandbox::Sandbox::new(policy.confinement(confinement));
        let mut child = sandbox.spawn(command).map_err(sandbox_error)?;
        let exited = child.as_fd().try_clone_to_owned().map_err(sandbox_error)?;
        // SAFETY: the registered object owns the descriptor, which therefore stays open.
        let exited = unsafe { AsyncFd::register(exited) }.map_err(sandbox_error)?;
        let stdout = receiver(child.take_stdout())?;
        let stderr = receiver(child.take_stderr())?;
        Ok(Confined { child, exited, stdout, stderr })
    }

    /// Waits for the process to exit.
    pub(crate) async fn wait(&mut self) -> Result<ExitStatus> {
        loop {
            let mut ready = self.exited.readable().await.map_err(sandbox_error)?;
            // Not `wait`, which would block the event loop.
            if let Some(status) = self.child.try_wait().map_err(sandbox_error)? {
                return Ok(status);
            }
            ready.clear_ready();
        }
    }

    /// Whether the process has exited. An error counts as an exit.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills the process and returns its exit status.
    pub(crate) fn kill(&mut self) -> Result<ExitStatus> {
        self.child.kill().map_err(sandbox_error)?;
        self.child.wait().map_err(sandbox_error)
    }

    /// Kills the process, and does not wait for its end.
    pub(crate) fn begin_end(&mut self) {
        // Otherwise dropping it kills it.
        let _ = self.child.kill();
    }

    /// Returns the enforced layers.
    pub(crate) fn report(&self) -> SandboxReport {
        let report = self.child.report();
        SandboxReport { tier: report.tier.clone(), layers: report.layers.clone(), refused: Vec::new() }
    }

    /// Returns the sandbox's observations, once the process has ended.
    pub(crate) fn evidence(&self) -> &sandbox::Evidence {
        self.child.evidence()
    }
}

/// Drops what owns a process that is ending, and then `used`: folders that it used. The event loop does not wait.
pub(crate) fn drop_behind(process: impl Send + 'static, used: impl Send + 'static) {
    let end = move || {
        drop(process);
        drop(used);
    };
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn_blocking(end)),
        Err(_) => end(),
    }
}

fn receiver(descriptor: Option<OwnedFd>) -> Result<pipe::Receiver> {
    let descriptor =
        descriptor.ok_or_else(|| sandbox_error(std::io::Error::other("the output was already taken")))?;
    pipe::Receiver::from_owned_fd(descriptor).map_err(sandbox_error)
}

fn sandbox_error(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Sandbox, format!("the sandbox can't be set up: {error}"))
        .caused_by(error)
        .hint("`toolsmith doctor` shows what this machine offers")
}

/// Output with a size limit.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// The output, up to the limit.
    pub(crate) bytes: Vec<u8>,
    /// Whether there was more.
    pub(crate) exceeded: bool,
}

impl Captured {
    /// The output as text; invalid UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        off_loop(self.bytes.len(), || String::from_utf8_lossy(&self.bytes).into_owned())
    }

    /// Reads `pipe` to its end. Output over `limit` is discarded, or ends the reading if `stop` is set.
    pub(crate) async fn read(
        &mut self,
        pipe: &mut pipe::Receiver,
        limit: usize,
        stop: bool,
        each: impl FnMut(&[u8]),
    ) {
        self.read_for(&NoSink, pipe, limit, stop, each).await;
    }

    /// The same, at the pace of `sink`.
    pub(crate) async fn read_for(
        &mut self,
        sink: &dyn Sink,
        pipe: &mut pipe::Receiver,
        limit: usize,
        stop: bool,
        mut each: impl FnMut(&[u8]),
    ) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            sink.takes_output().await;
            // An error counts as the end of the output: the exit status says the rest.
            let Ok(count @ 1..) = pipe.read(&mut buffer).await else { return };
            let kept = self.add(&buffer[..count], limit);
            if kept > 0 {
                each(&buffer[..kept]);
            }
            if self.exceeded && stop {
                return;
            }
        }
    }

    /// Reads what is in `pipe` now, without waiting.
    pub(crate) fn read_rest(&mut self, pipe: &pipe::Receiver, limit: usize) {
        let mut buffer = vec![0; 64 * 1024];
        // Not `try_read`, which reads nothing before the event loop knows that there is something.
        while let Ok(count @ 1..) = rustix::io::read(pipe, &mut *buffer) {
            self.add(&buffer[..count], limit);
        }
    }

    /// Keeps bytes up to the limit; returns how many.
    fn add(&mut self, bytes: &[u8], limit: usize) -> usize {
        let kept = bytes.len().min(limit - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..kept]);
        self.exceeded |= kept < bytes.len();
        kept
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use futures::FutureExt as _;
    use futures::future::BoxFuture;
    use tokio::sync::watch;

    use super::*;

    /// Accepts output when the channel says so.
    struct Slow(watch::Receiver<bool>);

    impl Sink for Slow {
        fn takes_output(&self) -> BoxFuture<'_, ()> {
            let mut takes = self.0.clone();
            async move { drop(takes.wait_for(|takes| *takes).await.map(|_| ())) }.boxed()
        }
    }

    #[tokio::test]
    async fn output_that_is_not_accepted_stays_in_the_pipe() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut pipe = pipe::Receiver::from_owned_fd(reader.into()).unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let mut written = 0;
        while let Ok(count) = writer.write(&[b'x'; 4096]) {
            written += count;
        }
        let (takes, is_taken) = watch::channel(false);
        let (sink, mut captured) = (Slow(is_taken), Captured::default());
        let mut seen = 0;
        let mut reading =
            captured.read_for(&sink, &mut pipe, 1 << 20, true, |bytes| seen += bytes.len()).boxed_local();
        for _ in 0..100 {
            tokio::task::yield_now().await;
            assert!((&mut reading).now_or_never().is_none());
        }
        // The pipe is as full as before.
        assert!(writer.write(&[b'x'; 4096]).is_err());
        takes.send(true).unwrap();
        drop(writer);
        reading.await;
        assert_eq!((seen, captured.bytes.len()), (written, written));
    }
}
