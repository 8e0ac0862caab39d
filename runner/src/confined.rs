//! A confined process in the event loop: its output with a bound, its end, its kill.

use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;

use tokio::io::AsyncReadExt;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

use crate::error::{Error, ErrorKind, Result};
use crate::observer::{Observer, Unobserved};
use crate::outcome::SandboxReport;

/// A started process. Dropping it kills it, and whatever it has started.
pub(crate) struct Confined {
    child: sandbox::Child,
    exited: AsyncFd<OwnedFd>,
    /// Its standard output.
    pub(crate) stdout: pipe::Receiver,
    /// Its standard error.
    pub(crate) stderr: pipe::Receiver,
}

impl Confined {
    /// Starts `command` under `policy`, in the tier that `confinement` asks for.
    pub(crate) fn spawn(
        policy: sandbox::Policy,
        confinement: sandbox::Confinement,
        command: sandbox::Command,
    ) -> Result<Self> {
        let sandbox = sandbox::Sandbox::new(policy.confinement(confinement));
        let mut child = sandbox.spawn(command).map_err(|error| sandbox_error(&error))?;
        let exited = child.as_fd().try_clone_to_owned().map_err(|error| sandbox_error(&error))?;
        // SAFETY: the descriptor is owned by what is registered, and so open for as long.
        let exited = unsafe { AsyncFd::register(exited) }.map_err(|error| sandbox_error(&error))?;
        let stdout = receiver(child.take_stdout())?;
        let stderr = receiver(child.take_stderr())?;
        Ok(Confined { child, exited, stdout, stderr })
    }

    /// Waits for its end.
    pub(crate) async fn wait(&mut self) -> Result<ExitStatus> {
        // The descriptor of a process is readable once it has ended (pidfd_open(2)).
        let ready = self.exited.readable().await;
        drop(ready.map_err(|error| sandbox_error(&error))?);
        self.child.wait().map_err(|error| sandbox_error(&error))
    }

    /// Kills it; how it ended is then known at once.
    pub(crate) fn kill(&mut self) -> Result<ExitStatus> {
        self.child.kill().map_err(|error| sandbox_error(&error))?;
        self.child.wait().map_err(|error| sandbox_error(&error))
    }

    /// What was enforced.
    pub(crate) fn report(&self) -> SandboxReport {
        let report = self.child.report();
        SandboxReport { tier: report.tier.clone(), layers: report.layers.clone(), refused: Vec::new() }
    }

    /// What it met with, once it has ended.
    pub(crate) fn evidence(&self) -> &sandbox::Evidence {
        self.child.evidence()
    }
}

fn receiver(descriptor: Option<OwnedFd>) -> Result<pipe::Receiver> {
    let descriptor = descriptor.ok_or_else(|| sandbox_error(&"the output is taken already"))?;
    pipe::Receiver::from_owned_fd(descriptor).map_err(|error| sandbox_error(&error))
}

fn sandbox_error(error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Sandbox, format!("the sandbox can't be set up: {error}"))
        .hint("`toolsmith doctor` shows what this machine offers")
}

/// Output with a bound.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// The first bytes, up to the bound.
    pub(crate) bytes: Vec<u8>,
    /// Whether there were more.
    pub(crate) exceeded: bool,
}

impl Captured {
    /// The text, with what is no UTF-8 replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Reads `pipe` to its end. What is over `limit` is read and dropped, unless `stop` asks to stop there.
    pub(crate) async fn read(
        &mut self,
        pipe: &mut pipe::Receiver,
        limit: usize,
        stop: bool,
        each: impl FnMut(&[u8]),
    ) {
        self.read_for(&Unobserved, pipe, (limit, stop), each).await;
    }

    /// The same, as fast as `observer` takes it.
    pub(crate) async fn read_for(
        &mut self,
        observer: &dyn Observer,
        pipe: &mut pipe::Receiver,
        (limit, stop): (usize, bool),
        mut each: impl FnMut(&[u8]),
    ) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            observer.takes_output().await;
            // An error ends the output as its end does: how the process ended says the rest.
            let Ok(count @ 1..) = pipe.read(&mut buffer).await else { return };
            let kept = count.min(limit - self.bytes.len());
            self.bytes.extend_from_slice(&buffer[..kept]);
            if kept > 0 {
                each(&buffer[..kept]);
            }
            self.exceeded |= kept < count;
            if self.exceeded && stop {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use futures::FutureExt as _;
    use futures::future::BoxFuture;
    use tokio::sync::watch;

    use super::*;

    /// Takes output when it is told to.
    struct Slow(watch::Receiver<bool>);

    impl Observer for Slow {
        fn takes_output(&self) -> BoxFuture<'_, ()> {
            let mut takes = self.0.clone();
            async move { drop(takes.wait_for(|takes| *takes).await.map(|_| ())) }.boxed()
        }
        fn progress(&self, _: &str) {}
        fn stdout(&self, _: &[u8]) {}
        fn stderr(&self, _: &[u8]) {}
        fn program_progress(&self, _: f64, _: f64, _: &str) {}
    }

    #[tokio::test]
    async fn output_that_is_not_taken_stays_in_the_pipe() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut pipe = pipe::Receiver::from_owned_fd(reader.into()).unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let mut written = 0;
        while let Ok(count) = writer.write(&[b'x'; 4096]) {
            written += count;
        }
        let (takes, is_taken) = watch::channel(false);
        let (observer, mut captured) = (Slow(is_taken), Captured::default());
        let mut seen = 0;
        let mut reading = captured
            .read_for(&observer, &mut pipe, (1 << 20, true), |bytes| seen += bytes.len())
            .boxed_local();
        for _ in 0..100 {
            tokio::task::yield_now().await;
            assert!((&mut reading).now_or_never().is_none());
        }
        // It is as full as it was.
        assert!(writer.write(&[b'x'; 4096]).is_err());
        takes.send(true).unwrap();
        drop(writer);
        reading.await;
        assert_eq!((seen, captured.bytes.len()), (written, written));
    }
}
