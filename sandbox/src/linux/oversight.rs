//! The limits by which a supervisor keeps its command from taking more than its share: it lets the session yield to
//! others once the kernel allows it, limits the number of a program's threads and the processor time that they take
//! together, and counts its own time as the command's (`processor_time`).
//!
//! It reads the host's /proc through descriptors, because with namespaces its root soon has none.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, openat, statx};
use rustix::process::{Pid, getpriority_process, setpriority_pgrp};

use super::descriptors::private;
use super::processor_time::Account;
use crate::niceness::levels;
use crate::{Limits, Policy, Profile};

/// Time between two rounds. Without privileges, the kernel allows one change of a session's niceness on the whole machine
/// within 100 ms (`proc_sched_autogroup_set_nice`). In that time a program can start some thousand threads.
const INTERVAL: Duration = Duration::from_millis(100);

/// The state of the watch, and the work that is left.
pub(super) struct Oversight {
    session: Option<Session>,
    threads: Option<Threads>,
    next: Instant,
    pub(super) account: Account,
}

impl Oversight {
    /// Does what can be done at once. Without /proc, only time is counted.
    pub(super) fn begin(policy: &Policy) -> Self {
        let limits = &policy.limits;
        let session = Session::open(limits.niceness).and_then(Session::yield_to_others);
        let threads = (policy.profile == Profile::Program).then(|| Threads::open(limits)).flatten();
        let account = Account::new(limits.cpu_seconds);
        Oversight { session, threads, next: Instant::now() + INTERVAL, account }
    }

    /// The descriptors that it needs.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = &File> {
        let threads = self.threads.as_ref().map(|threads| &threads.processes);
        self.session.iter().map(|session| &session.file).chain(threads)
    }

    /// Time until the next round, if there is something left to do.
    pub(super) fn until_next(&self) -> Option<Duration> {
        let has_work = self.session.is_some() || self.threads.is_some();
        has_work.then(|| self.next.saturating_duration_since(Instant::now()))
    }

    /// Makes the round if it is due. Returns false if the program below `leader` has too many threads.
    pub(super) fn attend(&mut self, leader: Pid, in_namespace: bool) -> bool {
        if self.until_next() != Some(Duration::ZERO) {
            return true;
        }
        self.session = self.session.take().and_then(Session::yield_to_others);
        let is_within = self.threads.as_mut().is_none_or(|threads| threads.attend(leader, in_namespace));
        self.next = Instant::now() + INTERVAL;
        is_within
    }
}

/// A session that does not yield to others yet.
struct Session {
    /// Opened before the process hides its memory, because its files in /proc then belong to root (proc(5)).
    file: File,
    niceness: u8,
}

impl Session {
    /// `None` if it has nothing to do: kernels without autogroups have no such file.
    fn open(niceness: u8) -> Option<Self> {
        if niceness == 0 {
            return None;
        }
        let file =
            openat(CWD, "/proc/self/autogroup", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        Some(Session { file: private(&file).ok()?.into(), niceness })
    }

    /// Lets the session yield to other sessions like a process of this niceness. Returns it if the kernel refuses for now.
    ///
    /// Kernels with autogroups schedule each session as one group; `nice(2)` then counts only within it (`sched(7)`, "The
    /// autogroup feature"). A failure costs other work processor time and nothing else, so it is ignored.
    fn yield_to_others(mut self) -> Option<Self> {
        match self.file.write(self.niceness.to_string().as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(self),
            _ => None,
        }
    }
}

/// The threads of a program, which is one process.
struct Threads {
    /// The host's /proc.
    processes: File,
    program: Option<Program>,
    /// The most that it may have, with the first.
    most: Option<u64>,
    /// The number of them that compete with other work.
    competing: Option<u64>,
    /// The niceness of this process, with which the program began.
    niceness: i32,
}

/// A running program.
struct Program {
    /// Its number, which is also that of its group.
    id: Pid,
    /// Its folder of threads (proc_pid_task(5)).
    threads: File,
}

impl Threads {
    fn open(limits: &Limits) -> Option<Self> {
        let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let processes = openat(CWD, "/proc", folder, Mode::empty()).ok()?;
        Some(Threads {
            processes: private(&processes).ok()?.into(),
            program: None,
            most: limits.processes.map(|more| more.saturating_add(1)),
            competing: limits.competing_threads,
            niceness: getpriority_process(None).ok()?,
        })
    }

    /// Returns false if there are too many. If the program can't be found, nothing is known of its threads.
    fn attend(&mut self, leader: Pid, in_namespace: bool) -> bool {
        if self.program.is_none() {
            self.program = self.find(leader, in_namespace).ok().flatten();
        }
        let Some(program) = &self.program else { return true };
        let count = program.count();
        if let Some(competing) = self.competing {
            let extra = levels(count, competing);
            // Threads that were being started had the earlier value, so this is repeated. Without privileges, it only rises.
            if extra > 0 {
                let _ = setpriority_pgrp(Some(program.id), self.niceness + i32::from(extra));
            }
        }
        self.most.is_none_or(|most| count <= most)
    }

    /// The program: the leader itself, or the child of the first process of a namespace.
    fn find(&self, leader: Pid, in_namespace: bool) -> io::Result<Option<Program>> {
        let id = if in_namespace { self.first_child(leader)? } else { Some(leader) };
        let Some(id) = id else { return Ok(None) };
        let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let threads = openat(&self.processes, format!("{id}/task"), folder, Mode::empty())?;
        Ok(Some(Program { id, threads: threads.into() }))
    }

    /// The first child of a process with one thread (proc_tid_children(5)).
    fn first_child(&self, parent: Pid) -> io::Result<Option<Pid>> {
        let path = format!("{parent}/task/{parent}/children");
        let file = openat(&self.processes, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut children = String::new();
        File::from(file).read_to_string(&mut children)?;
        let first = children.split_ascii_whitespace().next().and_then(|id| id.parse().ok());
        Ok(first.and_then(Pid::from_raw))
    }
}

impl Program {
    /// The number of its threads: of the links to their folder, two are its own. 0 if it has ended.
    fn count(&self) -> u64 {
        let status = statx(&self.threads, "", AtFlags::EMPTY_PATH, StatxFlags::NLINK);
        status.map_or(0, |status| u64::from(status.stx_nlink).saturating_sub(2))
    }
}
