//! A server's process and its process group: started, watched, and gone afterwards in every case.
//!
//! The child leads a session and a process group of its own, and whatever it starts belongs to them unless it leaves on
//! purpose (`setsid`). The session has no terminal, so that no server writes to the one of this process (`/dev/tty`)
//! while a person is asked something there. The group's number is the child's process id, which the kernel does not give
//! away while the child is unreaped. So the child stays unreaped until its group has been killed: its end is seen through
//! a pidfd. If this program itself is killed with SIGKILL, the kernel kills the child, and a process beside it kills the
//! rest of the group (`reaper`).

mod reaper;
mod starter;

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
    process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, pidfd_open, waitid,
    },
};
use tokio::{io::unix::AsyncFd, time::timeout};

pub use reaper::entry;

use crate::{
    error::{Evidence, Exit},
    server_config,
    stderr::Stderr,
};

/// How long a server may take to exit after its standard input was closed.
pub const STDIN_GRACE: Duration = Duration::from_secs(2);

/// How long it may then take after SIGTERM went to its group, before SIGKILL.
pub const TERM_GRACE: Duration = Duration::from_secs(1);

/// How long to wait for a process to vanish after SIGKILL. Only one that hangs in the kernel needs longer; it is then
/// left behind unreaped.
pub const KILL_GRACE: Duration = Duration::from_secs(1);

/// How long to wait for the end of a process whose output has ended, so that an error can say how it ended.
const EXIT_REPORT: Duration = Duration::from_millis(250);

/// This program's own variables, which may hold addresses, tokens and keys, begin with this.
const OWN: &[u8] = b"TOOLSMITH_";

/// The one that names a place: this program below itself is to find what it has compiled already.
const CACHE: &str = "TOOLSMITH_CACHE_DIR";

/// A started process with its pipes. Dropping it kills the group.
pub(crate) struct Spawned {
    pub(crate) group: Group,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// Starts the process; blocks until the kernel has loaded the program. The error says why it failed and what to do.
pub(crate) fn spawn(command: &server_config::Command) -> Result<Spawned, String> {
    let server_config::Command { command, args, env, withheld, handed_on, cwd } = command;
    let mut program = Command::new(command);
    program.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars_os() {
        let is_withheld = name.to_str().is_some_and(|name| withheld.contains(name));
        if is_withheld || (name.as_encoded_bytes().starts_with(OWN) && name != CACHE) {
            program.env_remove(name);
        }
    }
    program.envs(env).envs(handed_on);
    if let Some(folder) = cwd {
        program.current_dir(folder);
    }
    let mut child = starter::start(program).map_err(|error| explain(&error, command, cwd.as_deref()))?;
    let pid = Pid::from_child(&child);
    let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(pidfd) => pidfd,
        Err(error) => {
            let _ = kill_process_group(pid, Signal::KILL);
            reaper::forget(pid.as_raw_nonzero().get());
            let _ = child.wait();
            return Err(format!(
                "its process cannot be watched (pidfd_open: {error}); Linux 5.4 or newer is needed"
            ));
        }
    };
    let group = Group { pid, pidfd, reaped: Mutex::new(None) };
    match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok(Spawned { group, stdin, stdout, stderr }),
        _ => Err("its standard streams are missing".to_owned()),
    }
}

fn explain(error: &io::Error, command: &str, cwd: Option<&Path>) -> String {
    if let Some(folder) = cwd
        && !folder.is_dir()
    {
        let folder = folder.display();
        return format!("its folder `{folder}` (`cwd`) does not exist or is no folder");
    }
    match error.kind() {
        io::ErrorKind::NotFound if !command.contains('/') => format!(
            "the command `{command}` was not found in the folders of PATH; install it, or give its absolute path as `command`"
        ),
        io::ErrorKind::NotFound => format!(
            "the command `{command}` does not exist, or it is a script whose interpreter does not; check the path"
        ),
        io::ErrorKind::PermissionDenied => format!(
            "the command `{command}` may not be executed; check that it is a program and that it is executable (chmod +x)"
        ),
        _ => format!("the command `{command}` could not be started: {error}"),
    }
}

/// A process group whose leader is our unreaped child. Dropping it kills the group and reaps the leader.
pub(crate) struct Group {
    pid: Pid,
    pidfd: OwnedFd,
    /// How the leader ended, once reaped: from then on the group's number may belong to someone else.
    reaped: Mutex<Option<Exit>>,
}

impl Group {
    /// The process id of the leader, which is the group's number as well.
    pub(crate) fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    fn signal(&self, signal: Signal) {
        let reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if reaped.is_none() {
            // A group in which nobody is left is as good as signalled.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// How the leader ended; `None` while it runs. Does not reap it.
    fn exit(&self) -> Option<Exit> {
        let reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        reaped.or_else(|| self.wait(WaitIdOptions::NOWAIT))
    }

    /// Kills every process of the group, waits at most `grace` for the leader's end, and reaps it.
    fn kill(&self, grace: Duration) {
        let mut reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if reaped.is_some() {
            return;
        }
        let _ = kill_process_group(self.pid, Signal::KILL);
        let limit = Timespec { tv_sec: grace.as_secs().cast_signed(), tv_nsec: 0 };
        let mut pidfd = [PollFd::new(&self.pidfd, PollFlags::IN)];
        while let Err(Errno::INTR) = poll(&mut pidfd, Some(&limit)) {}
        reaper::forget(self.id());
        *reaped = self.wait(WaitIdOptions::empty());
    }

    fn wait(&self, option: WaitIdOptions) -> Option<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | option;
        match waitid(WaitId::PidFd(self.pidfd.as_fd()), options) {
            Ok(status) => status.as_ref().map(exit_of),
            // The host ignores SIGCHLD or has reaped it elsewhere: the process is gone all the same.
            Err(_) => Some(Exit::Unknown),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill(KILL_GRACE);
    }
}

fn exit_of(status: &WaitIdStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(status), _) => Exit::Status(status),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

/// A group with what is needed to await its end and to explain it.
pub(crate) struct Process {
    group: Group,
    watch: AsyncFd<OwnedFd>,
    stderr: Stderr,
}

impl Process {
    /// Takes over a started process; `on_line` is told each line on its standard error. Needs a tokio runtime.
    pub(crate) fn adopt(
        group: Group,
        stderr: ChildStderr,
        on_line: impl Fn(&str) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let pidfd = group.pidfd.try_clone()?;
        // SAFETY: an `OwnedFd` is open and stays the same descriptor for as long as it lives, and the `AsyncFd` owns it.
        let watch = unsafe { AsyncFd::register(pidfd) }.map_err(|error| error.into_parts().1)?;
        let stderr = Stderr::read(tokio::process::ChildStderr::from_std(stderr)?, on_line);
        Ok(Self { group, watch, stderr })
    }

    /// The number of the process group.
    pub(crate) fn group_id(&self) -> i32 {
        self.group.id()
    }

    /// Returns when the leader has ended.
    pub(crate) async fn exited(&self) {
        // The readiness is never cleared: an ended process stays ended.
        let _ = self.watch.readable().await;
    }

    /// Kills what is left of the group when its leader has ended: an orphan that holds the pipes would hide the end.
    pub(crate) fn kill_orphans(&self) {
        self.group.signal(Signal::KILL);
    }

    /// Kills the group at once and reaps the leader. Blocks for as long as the kernel needs to end it.
    pub(crate) fn kill(&self) {
        self.group.kill(KILL_GRACE);
    }

    /// Ends the group in order; its standard input must be closed by now.
    pub(crate) async fn end(&self) {
        if timeout(STDIN_GRACE, self.exited()).await.is_err() {
            self.group.signal(Signal::TERM);
            let _ = timeout(TERM_GRACE, self.exited()).await;
        }
        self.group.signal(Signal::KILL);
        let _ = timeout(KILL_GRACE, self.exited()).await;
        self.group.kill(Duration::ZERO);
        // Its last lines may say what it could not do.
        self.stderr.drained().await;
    }

    /// What the process has left so far.
    pub(crate) fn evidence(&self) -> Evidence {
        Evidence { exit: self.group.exit(), stderr: self.stderr.tail(), ..Evidence::default() }
    }

    /// The same for a process whose output has ended: waits a moment for its end and its last words.
    pub(crate) async fn final_evidence(&self) -> Evidence {
        if timeout(EXIT_REPORT, self.exited()).await.is_ok() {
            self.kill_orphans();
            self.stderr.drained().await;
        }
        self.evidence()
    }
}
