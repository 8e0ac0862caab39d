//! A started helper and the processes below it: limits, the conversation that starts the command, and its end.
//!
//! The caller reads the output and limits the time; it can poll the child's descriptor.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitStatus;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, kill_process_group};

use super::cgroup::{self, Group};
use super::control::{self, End, Status};
use super::timings::Timings;
use super::waiting::Helper;
use crate::{Attempt, Evidence, Policy, Report, SpawnError};

/// Time limit for a supervisor to end its processes, before it is killed itself.
const SUPERVISOR_GRACE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// A confined process and all its descendants. Dropping it kills and reaps them.
///
/// [`AsFd`] returns a descriptor that becomes readable when the child has ended.
#[derive(Debug)]
pub struct Child {
    /// The supervisor.
    process: std::process::Child,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    /// The supervisor ends its processes when this closes, and reports its evidence here.
    control: UnixStream,
    status: Option<ExitStatus>,
    report: Report,
    evidence: Evidence,
    control_group: Option<Group>,
    /// The group to kill if another process kills the supervisor and there is no process namespace that ends
    /// with it.
    process_group: Option<Pid>,
    /// Whether something else reaps the supervisor.
    is_given_up: bool,
    timings: Timings,
}

/// The reason why the conversation with a helper ended before the command had started.
pub(super) enum Conversation {
    Failed(SpawnError),
    /// The helper closed the socket before it had read the whole handover.
    Unread,
    /// The helper closed the socket before it reported that all layers are applied.
    Ended,
}

impl Child {
    /// Owns a helper that has executed nothing yet.
    pub(super) fn new(helper: Helper) -> Self {
        let Helper { mut process, socket, .. } = helper;
        Self {
            stdout: process.stdout.take().map(OwnedFd::from),
            stderr: process.stderr.take().map(OwnedFd::from),
            process,
            control: socket,
            status: None,
            report: Report { tier: String::new(), layers: Vec::new(), landlock_abi: 0 },
            evidence: Evidence::default(),
            control_group: None,
            process_group: None,
            is_given_up: false,
            timings: Timings::default(),
        }
    }

    /// The process id of the supervisor.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The enforced layers.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// When each step of its start ended, in order. A helper that was started ahead has some before the call of
    /// [`Sandbox::spawn`](crate::Sandbox::spawn).
    #[cfg(feature = "timings")]
    #[must_use]
    pub fn timings(&self) -> &[super::control::Reading] {
        self.timings.all()
    }

    /// The reading end of standard output, once.
    pub fn take_stdout(&mut self) -> Option<OwnedFd> {
        self.stdout.take()
    }

    /// The reading end of standard error, once.
    pub fn take_stderr(&mut self) -> Option<OwnedFd> {
        self.stderr.take()
    }

    /// The exit status, if the child has ended. A child has ended when all its processes are gone, but for the
    /// supervisor, which is gone when `self` is dropped: removing the namespaces takes it a moment.
    ///
    /// # Errors
    ///
    /// Returns the error of `poll(2)`, or of `waitpid(2)` if something else has killed the supervisor.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        if self.status.is_none() && is_readable(&self.control, Some(NOW))? {
            self.conclude()?;
        }
        Ok(self.status)
    }

    /// Waits for the end, without a time limit. The caller must read the output at the same time, or the
    /// child may block on it.
    ///
    /// # Errors
    ///
    /// Like [`Child::try_wait`].
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        is_readable(&self.control, None)?;
        self.conclude()
    }

    /// Reads the supervisor's final report. If another process has killed the supervisor, there is none.
    fn conclude(&mut self) -> io::Result<ExitStatus> {
        // Other messages are reports of a failed start.
        while let Ok(Some(message)) = control::receive::<Status>(&self.control) {
            if let Status::Ended(evidence, end) = message {
                return Ok(self.reported(evidence, end));
            }
        }
        let status = self.process.wait()?;
        if let Some(group) = self.process_group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        Ok(self.ended(status))
    }

    /// The supervisor has sent its final report, and ends.
    fn reported(&mut self, evidence: Evidence, end: End) -> ExitStatus {
        self.evidence = evidence;
        self.process_group = None;
        self.ended(end.status())
    }

    fn ended(&mut self, status: ExitStatus) -> ExitStatus {
        self.status = Some(status);
        if let Some(group) = &self.control_group {
            group.record(&mut self.evidence);
        }
        status
    }

    /// Kills the child and all its processes with SIGKILL. Returns at once; [`Child::wait`] returns the
    /// status. Killing an ended child is not an error.
    ///
    /// # Errors
    ///
    /// Returns the error of `shutdown(2)`.
    pub fn kill(&mut self) -> io::Result<()> {
        // With a SIGKILL, the supervisor could not send its final report. When its socket closes, it ends the
        // others.
        match self.control.shutdown(Shutdown::Write) {
            Err(error) if error.kind() != io::ErrorKind::NotConnected => Err(error),
            _ => Ok(()),
        }
    }

    /// The child's evidence. Empty until [`Child::wait`] or [`Child::try_wait`] has seen its end.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Moves the helper, and so all its descendants, into a control group, if groups are delegated.
    pub(super) fn limit(&mut self, policy: &Policy) -> Result<(), SpawnError> {
        let Ok(place) = cgroup::place() else { return Ok(()) };
        let group = Group::create(place).and_then(|group| {
            group.limit(&policy.limits)?;
            group.add(self.process.id())?;
            Ok(group)
        });
        self.control_group = Some(group.map_err(SpawnError::Group)?);
        Ok(())
    }

    pub(super) fn converse(
        &mut self,
        handover: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(), Conversation> {
        let socket = &self.control;
        control::send_with(socket, socket, handover, descriptors).map_err(lost)?;
        let mut report = None;
        loop {
            match control::receive::<Status>(socket).map_err(lost)? {
                #[cfg(feature = "timings")]
                Some(Status::Timed(readings)) => self.timings.receive(readings),
                Some(Status::Confined(confined)) => {
                    report = Some(confined);
                    self.timings.mark("report");
                }
                Some(Status::Failed(failure)) => return Err(Conversation::Failed(failure.into())),
                Some(Status::Started(group)) => {
                    self.process_group = group.and_then(Pid::from_raw);
                    self.timings.mark("execute");
                    break;
                }
                Some(Status::Ended(evidence, end)) => {
                    self.reported(evidence, end);
                    return Err(Conversation::Ended);
                }
                Some(Status::Listening | Status::Tried(_)) | None => return Err(Conversation::Ended),
            }
        }
        self.report = report.ok_or(Conversation::Ended)?;
        self.report.layers.extend(self.control_group.as_ref().map(|_| "cgroup".to_owned()));
        Ok(())
    }

    /// Ends a helper that has started nothing.
    pub(super) fn abandon(&mut self) -> io::Result<ExitStatus> {
        self.process.kill()?;
        self.wait()
    }

    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.try_wait()? {
            return Ok(status);
        }
        self.kill()?;
        if !is_readable(&self.control, Some(SUPERVISOR_GRACE))? {
            // Its processes die with it.
            self.process.kill()?;
        }
        self.wait()
    }
}

/// If the helper's end closes while a part of the handover is unread, sending fails with EPIPE, and receiving with
/// ECONNRESET (unix(7)). Nothing else is sent to the helper.
fn lost(error: io::Error) -> Conversation {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Conversation::Unread,
        io::ErrorKind::UnexpectedEof => Conversation::Ended,
        // What a socket's time limit returns (socket(7), SO_RCVTIMEO).
        io::ErrorKind::WouldBlock => {
            Conversation::Failed(SpawnError::Unresponsive(control::HANDOVER_TIMEOUT))
        }
        _ => Conversation::Failed(SpawnError::Control(error)),
    }
}

/// Whether there is a message or the end of the socket, within a time.
fn is_readable(socket: &UnixStream, time: Option<Timespec>) -> io::Result<bool> {
    let mut events = [PollFd::new(socket, PollFlags::IN)];
    Ok(retry_on_intr(|| poll(&mut events, time.as_ref()))? > 0)
}

/// A started server: a process with pipes that its owner reads, signals and reaps. It leads a session and a group, passes
/// SIGTERM on to the server, and ends as the server does.
#[derive(Debug)]
pub struct Server {
    /// The process, a child of this one.
    pub id: u32,
    /// The reading end of standard output.
    pub stdout: OwnedFd,
    /// The reading end of standard error.
    pub stderr: OwnedFd,
    /// The enforced layers.
    pub report: Report,
    /// Ends the server.
    pub lifeline: Lifeline,
}

/// Keeps a server alive. Dropping it, or the end of this process, ends the server. Drop it before the server's process is
/// reaped or when it has been.
#[derive(Debug)]
pub struct Lifeline(Child);

impl Lifeline {
    /// Has the supervisor kill the server and all its processes. Returns at once; killing an ended one has no effect.
    pub fn cut(&self) {
        let _ = self.0.control.shutdown(Shutdown::Write);
    }

    /// What the server tries, as its supervisor reports it ([`Policy::records`]). Blocks for each, and ends with the server.
    ///
    /// # Errors
    /// Returns the error of `dup(2)`.
    pub fn attempts(&self) -> io::Result<impl Iterator<Item = Attempt> + use<>> {
        let socket = self.0.control.try_clone()?;
        // Its time limit was for the start.
        socket.set_read_timeout(None)?;
        Ok(std::iter::from_fn(move || match control::receive::<Status>(&socket) {
            Ok(Some(Status::Tried(attempt))) => Some(attempt),
            _ => None,
        }))
    }
}

impl Child {
    /// Gives up the ownership of a server's process. `None` if its output was taken.
    #[must_use]
    pub fn into_server(mut self) -> Option<Server> {
        let (stdout, stderr) = (self.stdout.take()?, self.stderr.take()?);
        self.is_given_up = true;
        Some(Server { id: self.id(), stdout, stderr, report: self.report.clone(), lifeline: Lifeline(self) })
    }
}

impl AsFd for Child {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }
}

impl Drop for Child {
    /// Blocks until the supervisor is gone: for less than a millisecond if the child has ended.
    fn drop(&mut self) {
        if self.is_given_up {
            return;
        }
        // Fails only if something else has reaped the child.
        let _ = self.end();
        // A supervisor that has sent its final report does nothing else, but may have been stopped.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
