//! The parent's side: start a helper, hand it the policy, learn what became of it, and hold the child.
//!
//! Leaves reading output and measuring time to the caller, who can poll the pidfd.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::control::{self, Handover, Status};
use super::{HELPER_NAME, is_supervised, probe, spawner};
use crate::{Command, Policy, Report, SpawnError};

/// How long a helper may take for one step of the conversation. Measured: about 1 ms for all of it.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a supervisor may take to end its processes before it is killed itself.
const SUPERVISOR_GRACE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// A policy, ready to confine commands.
#[derive(Debug, Clone)]
pub struct Sandbox {
    policy: Policy,
    helper: PathBuf,
}

impl Sandbox {
    /// A sandbox whose helper is this very executable, which must call [`entry`](crate::entry) first in `main`.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { policy, helper: PathBuf::from("/proc/self/exe") }
    }

    /// Uses another executable as helper: one that calls [`entry`](crate::entry) first in `main`.
    #[must_use]
    pub fn helper(mut self, path: impl Into<PathBuf>) -> Self {
        self.helper = path.into();
        self
    }

    /// Starts the command under the policy. Blocks until the command has been executed (a few milliseconds).
    /// Standard input is `/dev/null`, standard output and error are pipes.
    ///
    /// The process must not ignore SIGCHLD and nothing else in it may reap unknown children.
    ///
    /// # Errors
    /// [`SpawnError`]; no process is left behind.
    pub fn spawn(&self, command: Command) -> Result<Child, SpawnError> {
        if std::env::args_os().next().as_deref() == Some(OsStr::new(HELPER_NAME)) {
            return Err(SpawnError::EntryNotCalled);
        }
        let handover = self.handover(&command)?;
        probe()?;
        let (ours, theirs) = UnixStream::pair().map_err(SpawnError::Control)?;
        ours.set_read_timeout(Some(HANDOVER_TIMEOUT)).map_err(SpawnError::Control)?;
        ours.set_write_timeout(Some(HANDOVER_TIMEOUT)).map_err(SpawnError::Control)?;
        let mut child = self.start(&command, ours, theirs)?;
        let outcome = child.converse(&handover, command.broker.as_ref().map(AsFd::as_fd));
        // From here on the child alone holds its end of the broker, so that the other end sees it close.
        drop(command);
        match outcome {
            Ok(()) => Ok(child),
            Err(Conversation::Failed(error)) => Err(error),
            Err(Conversation::Ended) => {
                let status = child.end().map_err(SpawnError::Control)?;
                Err(SpawnError::HelperEnded(status))
            }
        }
    }

    fn handover(&self, command: &Command) -> Result<Vec<u8>, SpawnError> {
        self.policy.check().map_err(SpawnError::Policy)?;
        check_command(command).map_err(SpawnError::Policy)?;
        let handover = Handover {
            parent: std::process::id(),
            broker: command.broker.is_some(),
            policy: self.policy.clone(),
        };
        control::frame(&handover).map_err(|error| SpawnError::Policy(error.to_string()))
    }

    /// `pre_exec` is avoided on purpose: it makes the standard library fork, whose cost grows with this process.
    fn start(&self, command: &Command, ours: UnixStream, theirs: UnixStream) -> Result<Child, SpawnError> {
        let mut helper = std::process::Command::new(&self.helper);
        helper.arg0(HELPER_NAME).arg(&command.program).args(&command.arguments).env_clear();
        helper.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |source| SpawnError::Start { helper: self.helper.clone(), source };
        let mut process = spawner::spawn(helper).map_err(failed)?;
        match pidfd(&process) {
            Ok(pidfd) => Ok(Child {
                stdout: process.stdout.take().map(OwnedFd::from),
                stderr: process.stderr.take().map(OwnedFd::from),
                process,
                pidfd,
                control: Some(ours),
                supervised: is_supervised(self.policy.profile),
                status: None,
                report: Report { tier: String::new(), layers: Vec::new(), landlock_abi: 0 },
            }),
            Err(error) => {
                drop(ours);
                let _ = process.kill();
                let _ = process.wait();
                Err(failed(error))
            }
        }
    }
}

fn check_command(command: &Command) -> Result<(), String> {
    if !command.program.is_absolute() {
        return Err(format!("the program {} is not an absolute path", command.program.display()));
    }
    let has_nul = |text: &OsStr| text.as_encoded_bytes().contains(&0);
    if has_nul(Path::as_os_str(&command.program))
        || command.arguments.iter().any(|argument| has_nul(argument))
    {
        return Err("the program or an argument contains a NUL byte".to_owned());
    }
    Ok(())
}

/// The process has not been reaped, so its number cannot have been given to another.
fn pidfd(process: &std::process::Child) -> io::Result<OwnedFd> {
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// A confined process and all that it started. Dropping it kills and reaps all of that.
///
/// [`AsFd`] gives the pidfd, which becomes readable when the child has ended.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    pidfd: OwnedFd,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    /// A supervisor ends its processes when this closes.
    control: Option<UnixStream>,
    supervised: bool,
    status: Option<ExitStatus>,
    report: Report,
}

enum Conversation {
    Failed(SpawnError),
    /// The helper closed the socket before it had said that the layers hold.
    Ended,
}

impl Child {
    /// The process id: of the program, or of the supervisor of a compiler.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// What was enforced.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The reading end of standard output, once.
    pub fn take_stdout(&mut self) -> Option<OwnedFd> {
        self.stdout.take()
    }

    /// The reading end of standard error, once.
    pub fn take_stderr(&mut self) -> Option<OwnedFd> {
        self.stderr.take()
    }

    /// The exit status, if the child has ended. A supervised child has ended when all its processes are gone.
    ///
    /// # Errors
    /// What `waitpid(2)` says, for example because something else reaped the child.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.process.try_wait()?;
        }
        Ok(self.status)
    }

    /// Waits for the end, without limit of time. The caller reads the output meanwhile, or the child may block on it.
    ///
    /// # Errors
    /// As [`Child::try_wait`].
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        let status = self.process.wait()?;
        self.status = Some(status);
        Ok(status)
    }

    /// Kills the child and all its processes with SIGKILL; returns at once, [`Child::wait`] gives the status.
    /// One that has ended already is no error.
    ///
    /// # Errors
    /// What `pidfd_send_signal(2)` says.
    pub fn kill(&mut self) -> io::Result<()> {
        if self.supervised {
            // A SIGKILL to the supervisor would leave its processes behind; at the end of its socket it ends them.
            self.control = None;
            return Ok(());
        }
        self.kill_process()
    }

    fn kill_process(&self) -> io::Result<()> {
        if self.status.is_some() {
            return Ok(());
        }
        match pidfd_send_signal(&self.pidfd, Signal::KILL) {
            Err(rustix::io::Errno::SRCH) => Ok(()),
            other => Ok(other?),
        }
    }

    fn converse(&mut self, handover: &[u8], broker: Option<BorrowedFd<'_>>) -> Result<(), Conversation> {
        let Some(socket) = &self.control else { return Err(Conversation::Ended) };
        control::send_handover(socket, socket, handover, broker).map_err(lost)?;
        let mut report = None;
        loop {
            match control::receive::<Status>(socket).map_err(lost)? {
                Some(Status::Confined(confined)) => report = Some(confined),
                Some(Status::Failed(failure)) => return Err(Conversation::Failed(failure.into())),
                Some(Status::Started) => break,
                None if self.supervised => return Err(Conversation::Ended),
                None => break,
            }
        }
        self.report = report.ok_or(Conversation::Ended)?;
        if !self.supervised {
            self.control = None;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.try_wait()? {
            return Ok(status);
        }
        self.kill()?;
        if self.supervised && !ends_within(&self.pidfd, SUPERVISOR_GRACE) {
            self.kill_process()?;
        }
        self.wait()
    }
}

/// A helper that ends before it has read all of the policy resets the connection.
fn lost(error: io::Error) -> Conversation {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof => {
            Conversation::Ended
        }
        _ => Conversation::Failed(SpawnError::Control(error)),
    }
}

fn ends_within(pidfd: &OwnedFd, time: Timespec) -> bool {
    let mut events = [PollFd::new(pidfd, PollFlags::IN)];
    loop {
        match poll(&mut events, Some(&time)) {
            Err(rustix::io::Errno::INTR) => {}
            other => return other.is_ok_and(|ready| ready > 0),
        }
    }
}

impl AsFd for Child {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // What fails here fails because something else has reaped the child.
        let _ = self.end();
    }
}
