//! The supervisor of a child, a process between the parent and the command. It forwards reports, refuses the
//! calls that the filters send to it, and ends everything the command has started when the command or the
//! parent ends.
//!
//! With namespaces, the command is in a process namespace, whose end ends all its processes. Without, it
//! leads a process group that its descendants cannot leave (the filter denies `setsid` and `setpgid`), so one
//! signal to the group reaches all of them, including processes that are being forked. The supervisor has no
//! capabilities, and accepts only reports, refused calls and exit statuses from its processes. `helper`
//! confines the command.
//!
//! The supervisor of a server stands for it: it passes SIGTERM on, and ends as the server did.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process,
    kill_process_group, pidfd_open, set_child_subreaper, set_dumpable_behavior, waitid,
};

use super::control::{self, End, Status};
use super::descriptors::{keep_only, private};
use super::init::{self, lead_group};
use super::listener::{Call, Listener};
use super::oversight::Oversight;
use super::parent::die_with;
use super::recorder::Recorder;
use super::{privileges, processor_time, seccomp};
use crate::error::failed;
use crate::{Evidence, Failure, Step};

/// The kind of child, as its supervisor sees it.
pub(super) struct Supervised {
    pub(super) namespaces: bool,
    pub(super) is_server: bool,
    pub(super) oversight: Oversight,
    /// Records what a server tries.
    pub(super) recorder: Option<Recorder>,
}

/// Forks. Returns in the process that will execute the command, where `channel`, the parent's socket, is
/// replaced by a socket to the supervisor. Never returns in the supervisor. `prepare` is called once, in the
/// first new process.
pub(super) fn fork(
    channel: &mut File,
    child: Supervised,
    prepare: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let supervisor = getpid();
    // From here on, other processes cannot inspect the forked ones. The command can be inspected after its
    // exec.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(failed(Step::Fork, "hiding its memory"))?;
    set_child_subreaper(Some(supervisor)).map_err(failed(Step::Fork, "becoming the reaper of orphans"))?;
    let (ours, theirs) = sockets().map_err(failed(Step::Fork, "a pair of sockets"))?;
    let (ends, end) = pipe().map_err(failed(Step::Fork, "a pipe"))?;
    // SAFETY: this process has one thread, so the copy can continue like the original.
    match unsafe { libc::fork() } {
        -1 => Err(failed(Step::Fork, "the supervised process")(io::Error::last_os_error())),
        0 => {
            *channel = theirs;
            let Supervised { namespaces, is_server, .. } = child;
            drop((ours, ends));
            if namespaces {
                // In the group of the first process, a server receives what the supervisor passes on.
                init::fork(end, is_server, prepare)?;
            } else {
                drop(end);
                die_with(Some(supervisor))?;
                prepare()?;
            }
            if namespaces && is_server { Ok(()) } else { lead_group() }
        }
        leader => {
            drop((theirs, end));
            supervise(leader, channel, ours, child.namespaces.then_some(&ends), child)
        }
    }
}

/// The leader of the group to which SIGTERM is passed on.
static SERVER: AtomicI32 = AtomicI32::new(0);

/// Passes SIGTERM on to the group of a server.
fn pass_on_termination(leader: i32) {
    extern "C" fn pass_on(signal: i32) {
        // SAFETY: kill(2) may be called by a handler (signal-safety(7)).
        unsafe { libc::kill(-SERVER.load(Ordering::Relaxed), signal) };
    }
    SERVER.store(leader, Ordering::Relaxed);
    let handler = pass_on as extern "C" fn(i32);
    // SAFETY: the handler only makes a call that handlers may make.
    unsafe { libc::signal(libc::SIGTERM, handler as libc::sighandler_t) };
}

/// Sockets with numbers above those of the child's own descriptors.
fn sockets() -> io::Result<(File, File)> {
    let (ours, theirs) = UnixStream::pair()?;
    Ok((private(&ours)?.into(), private(&theirs)?.into()))
}

fn pipe() -> io::Result<(File, File)> {
    let (reader, writer) = io::pipe()?;
    Ok((private(&reader)?.into(), private(&writer)?.into()))
}

fn supervise(
    leader: i32,
    control: &File,
    channel: File,
    ends: Option<&File>,
    Supervised { is_server, oversight, recorder, .. }: Supervised,
) -> ! {
    if is_server {
        pass_on_termination(leader);
    }
    if let Some(leader) = Pid::from_raw(leader) {
        let mut kept = vec![control, &channel];
        kept.extend(ends);
        kept.extend(oversight.descriptors());
        kept.extend(recorder.as_ref().map(Recorder::descriptor));
        keep_only(&kept);
        let (phase, evidence) = (Phase::Preparing, Evidence::default());
        let group = if ends.is_none() { Some(leader.as_raw_nonzero().get()) } else { None };
        let mut watch =
            Watch { leader, group, control, channel, phase, listener: None, evidence, oversight, recorder };
        if privileges::drop_capabilities().is_ok() {
            watch.run();
        }
        end_group(leader);
        let end = await_end(leader, ends);
        end_all();
        // The listener stays open until here. Otherwise callers waiting for its answer would continue with
        // ENOSYS before they are ended.
        let Watch { mut evidence, oversight, .. } = watch;
        evidence.processor_time = processor_time::of_children() + oversight.account.spent();
        let fatal = evidence.fatal.map(|_| End::Signal(libc::SIGSYS));
        let end = fatal.or(end).unwrap_or(End::Code(control::EXIT_REFUSED));
        // The parent does not wait for the end of this process, which takes as long as removing the namespaces.
        let _ = send(control, &Status::Ended(evidence, end));
        if is_server {
            end.repeat();
        }
    }
    // SAFETY: ends the process without running destructors or handlers, which is the intention.
    unsafe { libc::_exit(0) }
}

fn send(mut to: &File, status: &Status) -> io::Result<()> {
    to.write_all(&control::frame(status)?)
}

/// The state of a supervisor while its command lives.
struct Watch<'a> {
    leader: Pid,
    /// The process group that the command leads, if it has no process namespace.
    group: Option<i32>,
    /// The parent's socket. The parent sends nothing after the policy, so any event means that it has closed.
    control: &'a File,
    /// Reports of the process that becomes the command. Closes with the exec.
    channel: File,
    phase: Phase,
    listener: Option<Listener>,
    evidence: Evidence,
    oversight: Oversight,
    recorder: Option<Recorder>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Layers are being applied.
    Preparing,
    /// All layers are applied.
    Confined,
    /// The command has been executed, or the start has failed.
    Decided,
}

/// Whether to continue watching.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Watch,
    /// The command has ended, or must be ended.
    End,
}

impl Watch<'_> {
    /// Watches until the command has ended or must be ended. If watching fails, the command is ended.
    fn run(&mut self) {
        if let Ok(pidfd) = pidfd_open(self.leader, PidfdFlags::empty()) {
            while matches!(self.step(&pidfd), Ok(Next::Watch)) {}
        }
    }

    fn step(&mut self, pidfd: &OwnedFd) -> io::Result<Next> {
        let [ended, abandoned, reported, refused] = self.wait(pidfd)?;
        if !self.oversight.attend(self.leader, self.group.is_none()) {
            self.evidence.out_of_tasks = true;
            return Ok(Next::End);
        }
        if !abandoned.is_empty() {
            return Ok(Next::End);
        }
        // Read reports before refused calls, because the first call after the exec may be fatal, and before
        // the end, because the process may have left a final report.
        if !reported.is_empty() {
            return self.read_report();
        }
        if !refused.is_empty() {
            return self.refuse(refused);
        }
        Ok(if ended.is_empty() { Next::Watch } else { Next::End })
    }

    /// The events of the process, the parent, the channel and the listener, or none if it is time for oversight.
    fn wait(&self, pidfd: &OwnedFd) -> io::Result<[PollFlags; 4]> {
        let (watched, idle) = (PollFlags::IN, PollFlags::empty());
        let mut events = vec![PollFd::new(pidfd, watched), PollFd::new(self.control, watched)];
        let mut places = vec![0, 1];
        // Polled in this order: the listener before the channel. If poll sees a call of the command, it also
        // sees the channel's end, which came before.
        if let Some(listener) = &self.listener {
            events.push(PollFd::new(listener, watched));
            places.push(3);
        }
        if self.phase != Phase::Decided {
            events.push(PollFd::new(&self.channel, watched));
            places.push(2);
        }
        let mut happened = [idle; 4];
        let time = self.oversight.until_next().map(timespec);
        match poll(&mut events, time.as_ref()) {
            Err(rustix::io::Errno::INTR) => return Ok(happened),
            other => drop(other?),
        }
        for (place, event) in places.into_iter().zip(&events) {
            happened[place] = event.revents();
        }
        Ok(happened)
    }

    fn refuse(&mut self, happened: PollFlags) -> io::Result<Next> {
        let Some(listener) = self.listener.as_ref().filter(|_| happened.contains(PollFlags::IN)) else {
            // No process is left under the filter.
            self.listener = None;
            return Ok(Next::Watch);
        };
        let Some(call) = listener.receive()? else { return Ok(Next::Watch) };
        if self.recorder.is_some() {
            return self.record(&call);
        }
        // The confined process makes no refused calls before its exec. The channel may close later, because
        // the first process of a namespace also holds it until it closes it.
        if self.phase == Phase::Confined {
            self.start()?;
        }
        self.evidence.refused.insert(call.number);
        if seccomp::is_dangerous(call.number) {
            self.evidence.fatal = Some(call.number);
            return Ok(Next::End);
        }
        if let Some(thread) = call.thread {
            self.oversight.account.charge(thread)?;
        }
        if let Some(listener) = &self.listener {
            listener.refuse(&call)?;
        }
        Ok(Next::Watch)
    }

    /// Reports a call of a server, and answers it.
    fn record(&mut self, call: &Call) -> io::Result<Next> {
        // The last call before it is started executes it.
        if self.phase == Phase::Confined && !Recorder::executes(call) {
            self.start()?;
        }
        // Before that, the canary was refused.
        let recorder = self.recorder.as_mut().filter(|_| self.phase == Phase::Decided);
        if let Some(attempt) = recorder.and_then(|recorder| recorder.attempt(call)) {
            send(self.control, &Status::Tried(attempt))?;
        }
        if let Some(listener) = &self.listener {
            if Recorder::watches(call) { listener.allow(call)? } else { listener.refuse(call)? }
        }
        Ok(Next::Watch)
    }

    /// Reads one report, or the channel's end, which means that the command has been executed.
    fn read_report(&mut self) -> io::Result<Next> {
        match control::receive_with::<_, Status>(&self.channel, &self.channel)? {
            Some((Status::Listening, descriptors)) => {
                self.listener = descriptors.into_iter().next().map(Listener::new);
            }
            Some((status, _)) => {
                send(self.control, &status)?;
                if let Status::Confined(_) = status {
                    self.phase = Phase::Confined;
                }
            }
            None => {
                if self.phase == Phase::Confined {
                    self.start()?;
                }
                self.phase = Phase::Decided;
            }
        }
        Ok(Next::Watch)
    }

    /// The command has been executed.
    fn start(&mut self) -> io::Result<()> {
        // Calls refused until now came from the canary.
        self.evidence = Evidence::default();
        self.oversight.account.begin();
        self.phase = Phase::Decided;
        send(self.control, &Status::Started(self.group))
    }
}

/// Waits for the command and returns its end. Its process id stays reserved until it is reaped, so it cannot belong to
/// another.
fn await_end(leader: Pid, ends: Option<&File>) -> Option<End> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = loop {
        match waitid(WaitId::Pid(leader), options) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other.ok().flatten()?,
        }
    };
    match ends.map(init::status) {
        // The first process of a namespace was killed before it could report.
        Some(None) => Some(End::Signal(libc::SIGKILL)),
        Some(Some(status)) if libc::WIFSIGNALED(status) => Some(End::Signal(libc::WTERMSIG(status))),
        Some(Some(status)) => Some(End::Code(libc::WEXITSTATUS(status))),
        None => status.exit_status().map(End::Code).or_else(|| status.terminating_signal().map(End::Signal)),
    }
}

fn end_group(leader: Pid) {
    // The group exists after the leader's setpgid. Before that there is only the leader.
    let _ = kill_process_group(leader, Signal::KILL);
    let _ = kill_process(leader, Signal::KILL);
}

/// Reaps all of the killed group. Orphans have become children of this process.
fn end_all() {
    while !matches!(rustix::process::wait(WaitOptions::empty()), Err(rustix::io::Errno::CHILD)) {}
}

/// A time below a second.
fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() }
}
