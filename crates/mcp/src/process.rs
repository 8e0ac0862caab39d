//! A server's process and its process group: started, watched, and always killed in the end.
//!
//! The child leads its own session and process group, and the processes it starts belong to them unless they leave on
//! purpose (`setsid`). The session has no terminal, so no server can write to this process's terminal (`/dev/tty`)
//! while the user answers a question there. The group's number is the child's process id, which the kernel does not
//! reuse while the child is unreaped. So the child stays unreaped until its group has been killed: its end is observed
//! through a pidfd. If this program itself is killed with SIGKILL, the kernel kills the child, and a helper process
//! kills the rest of the group (`reaper`).

mod launch;
mod reaper;
mod starter;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
    process::{ChildStderr, ChildStdin, ChildStdout},
    time::Duration,
};

use parking_lot::Mutex;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpriority_process,
        kill_process_group, pidfd_open, setpriority_process, waitid,
    },
};
use tokio::{io::unix::AsyncFd, time::timeout};

pub use reaper::entry;

use launch::{Launch, Launched};

use crate::{
    error::{Evidence, Exit, SpawnError},
    server_config,
    stderr::Stderr,
};

/// Time limit for a server to exit after its standard input was closed.
pub const STDIN_GRACE: Duration = Duration::from_secs(2);

/// Time limit for the exit after SIGTERM to its group, before SIGKILL.
pub const TERM_GRACE: Duration = Duration::from_secs(1);

/// Time limit for a process to vanish after SIGKILL. Only one that hangs in the kernel needs longer; it is then left
/// unreaped.
pub const KILL_GRACE: Duration = Duration::from_secs(1);

/// Time limit on waiting for the end of a process whose output has ended, so that an error can report its exit status.
const EXIT_REPORT: Duration = Duration::from_millis(250);

/// The prefix of this program's own variables, which may contain addresses, tokens and keys.
const OWN: &[u8] = b"TOOLSMITH_";

/// The exception, a path: a nested instance of this program must find the compiled artifacts.
const CACHE: &str = "TOOLSMITH_CACHE_DIR";

/// A started process with its pipes. Dropping it kills the group.
pub(crate) struct Spawned {
    pub(crate) group: Group,
    /// The tier of the sandbox that confines it, if one does.
    pub(crate) tier: Option<String>,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// Starts the process; blocks until the kernel has loaded the program.
pub(crate) fn spawn(command: &server_config::Command) -> Result<Spawned, SpawnError> {
    if let Some(launcher) = &command.launcher {
        return adopted(launcher.launch(command)?).map_err(|source| {
            let command = command.command.clone();
            SpawnError::Refused { command, source }
        });
    }
    let server_config::Command { command: program, args, cwd, .. } = command;
    let launched = Launch::new(program, args, environment(command), cwd.as_deref()).and_then(starter::start);
    let launched = launched.map_err(|error| explain(error, program, cwd.as_deref()))?;
    let Launched { pid, pidfd, stdin, stdout, stderr } = launched;
    yield_processors(pid, command.niceness);
    let group = Group { pid, pidfd, kill: None, reaped: Mutex::new(None) };
    Ok(Spawned { group, tier: None, stdin, stdout, stderr })
}

/// Takes over a process that another part of the program has started.
fn adopted(launched: server_config::Launched) -> io::Result<Spawned> {
    let server_config::Launched { id, stdin, stdout, stderr, tier, kill } = launched;
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    let group = Group { pid, pidfd, kill: Some(kill), reaped: Mutex::new(None) };
    Ok(Spawned { group, tier: Some(tier), stdin: stdin.into(), stdout: stdout.into(), stderr: stderr.into() })
}

/// Lets a process that has just started, and those that it will start, yield to other work.
///
/// Kernels with autogroups schedule each session as one group (`sched(7)`, "The autogroup feature"). A failure costs other
/// work processor time and nothing else, so it is ignored.
fn yield_processors(pid: Pid, niceness: u8) {
    if niceness > 0 {
        let own = getpriority_process(None).unwrap_or(0);
        let _ = setpriority_process(Some(pid), own + i32::from(niceness));
        let _ = std::fs::write(format!("/proc/{pid}/autogroup"), niceness.to_string());
    }
}

/// The variables of a server: this process's except what is withheld, and the configured ones.
fn environment(command: &server_config::Command) -> BTreeMap<OsString, OsString> {
    let is_withheld = |name: &OsString| {
        let is_listed = name.to_str().is_some_and(|name| command.withheld.contains(name));
        is_listed || name.as_encoded_bytes().starts_with(OWN) && name != CACHE
    };
    let mut variables: BTreeMap<_, _> = std::env::vars_os().filter(|(name, _)| !is_withheld(name)).collect();
    for (name, value) in command.env.iter().chain(&command.handed_on) {
        variables.insert(name.into(), value.into());
    }
    variables
}

fn explain(source: io::Error, command: &str, cwd: Option<&Path>) -> SpawnError {
    if let Some(folder) = cwd
        && !folder.is_dir()
    {
        return SpawnError::Folder(folder.display().to_string());
    }
    let command = command.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound if !command.contains('/') => SpawnError::NotInPath(command),
        io::ErrorKind::NotFound => SpawnError::Missing(command),
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable(command),
        _ => SpawnError::Refused { command, source },
    }
}

/// A process group whose leader is our unreaped child. Dropping it kills the group and reaps the leader.
pub(crate) struct Group {
    pid: Pid,
    pidfd: OwnedFd,
    /// Kills the leader of a group that was started elsewhere, with all its descendants.
    kill: Option<Box<dyn Fn() + Send + Sync>>,
    /// The end of the leader, once reaped: from then on another group may have its number.
    reaped: Mutex<Option<Exit>>,
}

impl Group {
    /// The process id of the leader, which is also the group's id.
    pub(crate) fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Asks every process of the group to end.
    fn terminate(&self) {
        self.unless_reaped(|| self.signal(Signal::TERM));
    }

    /// Kills every process of the group. Does not wait.
    fn kill_all(&self) {
        self.unless_reaped(|| match &self.kill {
            Some(kill) => kill(),
            None => self.signal(Signal::KILL),
        });
    }

    fn unless_reaped(&self, act: impl FnOnce()) {
        let reaped = self.reaped.lock();
        if reaped.is_none() {
            act();
        }
    }

    /// Must not be called when the leader has been reaped.
    fn signal(&self, signal: Signal) {
        // An empty group needs no signal.
        let _ = kill_process_group(self.pid, signal);
    }

    /// Returns the end of the leader; `None` while it runs. Does not reap it.
    fn exit(&self) -> Option<Exit> {
        let reaped = self.reaped.lock();
        reaped.or_else(|| self.wait(WaitIdOptions::NOWAIT))
    }

    /// Kills every process of the group, waits at most `grace` for the leader's end, and reaps it.
    fn kill(&self, grace: Duration) {
        self.kill_all();
        let mut reaped = self.reaped.lock();
        if reaped.is_some() {
            return;
        }
        if !self.ends_within(grace) && self.kill.is_some() {
            // It does not do what it was asked.
            self.signal(Signal::KILL);
            self.ends_within(KILL_GRACE);
        }
        reaper::forget(self.id());
        *reaped = self.wait(WaitIdOptions::empty());
    }

    fn ends_within(&self, grace: Duration) -> bool {
        let limit = Timespec { tv_sec: grace.as_secs().cast_signed(), tv_nsec: 0 };
        let mut pidfd = [PollFd::new(&self.pidfd, PollFlags::IN)];
        loop {
            match poll(&mut pidfd, Some(&limit)) {
                Err(Errno::INTR) => {}
                events => return events.is_ok_and(|events| events > 0),
            }
        }
    }

    fn wait(&self, option: WaitIdOptions) -> Option<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | option;
        match waitid(WaitId::PidFd(self.pidfd.as_fd()), options) {
            Ok(status) => status.as_ref().map(exit_of),
            // The host ignores SIGCHLD or has reaped it elsewhere: the process has ended all the same.
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

/// A group, with what is needed to wait for its end and to explain it.
pub(crate) struct Process {
    group: Group,
    tier: Option<String>,
    watch: AsyncFd<OwnedFd>,
    stderr: Stderr,
}

impl Process {
    /// Takes over a started process; `on_line` is called with each line of its standard error. Needs a tokio runtime.
    pub(crate) fn adopt(
        (group, tier): (Group, Option<String>),
        stderr: ChildStderr,
        on_line: impl Fn(&str) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let pidfd = group.pidfd.try_clone()?;
        // SAFETY: an `OwnedFd` is open and stays the same descriptor for as long as it lives, and the `AsyncFd` owns it.
        let watch = unsafe { AsyncFd::register(pidfd) }.map_err(|error| error.into_parts().1)?;
        let stderr = Stderr::read(tokio::process::ChildStderr::from_std(stderr)?, on_line);
        Ok(Self { group, tier, watch, stderr })
    }

    /// The id of the process group.
    pub(crate) fn group_id(&self) -> i32 {
        self.group.id()
    }

    /// The tier of the sandbox that confines it, if one does.
    pub(crate) fn tier(&self) -> Option<&str> {
        self.tier.as_deref()
    }

    /// Waits until the leader has ended.
    pub(crate) async fn exited(&self) {
        // The readiness is never cleared: an ended process stays ended.
        let _ = self.watch.readable().await;
    }

    /// Kills the remaining processes of the group after its leader has ended: an orphan that holds the pipes would hide
    /// the end.
    pub(crate) fn kill_orphans(&self) {
        self.group.kill_all();
    }

    /// Kills the group at once and reaps the leader. Blocks while the kernel ends it.
    pub(crate) fn kill(&self) {
        self.group.kill(KILL_GRACE);
    }

    /// Ends the group in order; its standard input must already be closed.
    pub(crate) async fn end(&self) {
        if timeout(STDIN_GRACE, self.exited()).await.is_err() {
            self.group.terminate();
            let _ = timeout(TERM_GRACE, self.exited()).await;
        }
        self.group.kill_all();
        let _ = timeout(KILL_GRACE, self.exited()).await;
        self.group.kill(Duration::ZERO);
        // Its last lines may say why it failed.
        self.stderr.drained().await;
    }

    /// The state and output of the process so far.
    pub(crate) fn evidence(&self) -> Evidence {
        Evidence { exit: self.group.exit(), stderr: self.stderr.tail(), ..Evidence::default() }
    }

    /// Like `evidence`, for a process whose output has ended: waits a moment for its end and its last lines.
    pub(crate) async fn final_evidence(&self) -> Evidence {
        if timeout(EXIT_REPORT, self.exited()).await.is_ok() {
            self.kill_orphans();
            self.stderr.drained().await;
        }
        self.evidence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_yields_to_other_work() {
        let (command, args) = ("sleep".to_owned(), vec!["60".to_owned()]);
        let command =
            server_config::Command { command, args, niceness: 7, ..server_config::Command::default() };
        let spawned = spawn(&command).unwrap();
        let own = getpriority_process(None).unwrap();
        assert_eq!(getpriority_process(Some(spawned.group.pid)).unwrap(), (own + 7).min(19));
    }
}
