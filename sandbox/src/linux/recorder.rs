//! Records what a server tries in a trial and may not do, for its supervisor: paths that are not granted, addresses, and
//! refused calls.
//!
//! It reads the paths from the memory of the thread that waits for its call. Another thread may change them meanwhile, so
//! a record decides nothing.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{IoSliceMut, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use rustix::process::Pid;

use super::descriptors::private;
use super::listener::Call;
use super::root::PROCESSES;
use super::seccomp::{Traced, Use, traced};
use crate::{Access, Attempt, Policy};

/// Maximum number of different attempts that are reported.
const MAXIMUM: usize = 2_000;

/// Maximum length of a path, in bytes (PATH_MAX).
const PATH_LENGTH: usize = 4096;

/// A part of a page: a path may end just before memory that does not exist.
const STEP: usize = 256;

/// The state of a record.
pub(super) struct Recorder {
    /// The host's /proc.
    processes: File,
    /// The granted paths, and whether they may be written.
    granted: Vec<(PathBuf, bool)>,
    /// Its own folders in memory.
    own: Vec<PathBuf>,
    reported: BTreeSet<Attempt>,
}

impl Recorder {
    /// `None` if the policy asks for no record, or there is no /proc.
    pub(super) fn begin(policy: &Policy) -> Option<Self> {
        if !policy.records {
            return None;
        }
        let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let processes = openat(CWD, PROCESSES, folder, Mode::empty()).ok()?;
        let grants = policy.grants.iter().map(|grant| (grant.path.clone(), grant.access == Access::Write));
        let system = [PROCESSES, "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];
        let system = system.map(|path| (PathBuf::from(path), false));
        Some(Recorder {
            processes: private(&processes).ok()?.into(),
            granted: grants.chain(system).collect(),
            own: policy.memory_folders.iter().map(|folder| folder.path.clone()).collect(),
            reported: BTreeSet::new(),
        })
    }

    /// The descriptor that it needs.
    pub(super) fn descriptor(&self) -> &File {
        &self.processes
    }

    /// Whether the call is only watched.
    pub(super) fn watches(call: &Call) -> bool {
        traced(call.number).is_some()
    }

    /// Whether the call executes a program.
    pub(super) fn executes(call: &Call) -> bool {
        traced(call.number).is_some_and(|traced| traced.use_of == Use::Execute)
    }

    /// The attempt behind a call, if it is new and not within the grants.
    pub(super) fn attempt(&mut self, call: &Call) -> Option<Attempt> {
        let attempt = match traced(call.number) {
            Some(traced) => self.reached(traced, call)?,
            None => Attempt::Call(call.number, call.arguments[0]),
        };
        let is_new = self.reported.len() < MAXIMUM && self.reported.insert(attempt.clone());
        is_new.then_some(attempt)
    }

    fn reached(&self, traced: &Traced, call: &Call) -> Option<Attempt> {
        let (thread, address) = (call.thread?, call.arguments[traced.path]);
        let writes = match traced.use_of {
            Use::Connect(length) => {
                let length = usize::try_from(call.arguments[length]).ok()?.min(STEP);
                return Attempt::connect(&read(thread, address, length)?);
            }
            Use::Read | Use::Execute => false,
            Use::Write => true,
            Use::Open(flags) => {
                let creating = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u64;
                call.arguments[flags] & creating != 0
            }
        };
        let named = path(thread, address)?;
        let folder = traced.folder.map_or(libc::AT_FDCWD, |index| call.arguments[index] as i32);
        let path = if named.is_absolute() { named } else { self.folder(thread, folder)?.join(named) };
        let path = without_dots(&path);
        let covers =
            |(granted, for_writing): &(PathBuf, bool)| path.starts_with(granted) && *for_writing >= writes;
        // This process has the server's root, so it sees what the server has created. A write needs a folder.
        let needed = if writes { path.parent() } else { Some(&*path) };
        let is_there = || needed.is_some_and(|needed| needed.symlink_metadata().is_ok());
        let is_own = || self.own.iter().any(|own| path.starts_with(own)) && is_there();
        match (self.granted.iter().any(covers) || is_own(), writes) {
            (true, _) => None,
            (false, true) => Some(Attempt::Write(path)),
            (false, false) => Some(Attempt::Read(path)),
        }
    }

    /// The folder behind a descriptor of a process.
    fn folder(&self, thread: Pid, descriptor: i32) -> Option<PathBuf> {
        let thread = thread.as_raw_nonzero();
        let link = match descriptor {
            libc::AT_FDCWD => format!("{thread}/cwd"),
            descriptor => format!("{thread}/fd/{descriptor}"),
        };
        let folder = readlinkat(&self.processes, link, Vec::new()).ok()?;
        let folder = PathBuf::from(OsStr::from_bytes(folder.as_bytes()));
        folder.is_absolute().then_some(folder)
    }
}

/// The path at an address of a process. `None` for an empty one.
fn path(thread: Pid, address: u64) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    while bytes.len() < PATH_LENGTH {
        let at = address.checked_add(bytes.len() as u64)?;
        // Not beyond the end of a page.
        let step = STEP - (at % STEP as u64) as usize;
        let part = read(thread, at, step)?;
        match part.bytes().position(|byte| byte.is_ok_and(|byte| byte == 0)) {
            Some(end) => {
                bytes.extend(&part[..end]);
                break;
            }
            None => bytes.extend(part),
        }
    }
    (!bytes.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(&bytes)))
}

/// Memory of another process (process_vm_readv(2)).
fn read(thread: Pid, address: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    let local = IoSliceMut::new(&mut bytes);
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length };
    // SAFETY: the kernel writes only to `bytes`, whose length is given; `IoSliceMut` is an iovec (its documentation).
    let count = unsafe {
        libc::process_vm_readv(
            thread.as_raw_nonzero().get(),
            (&raw const local).cast(),
            1,
            &raw const remote,
            1,
            0,
        )
    };
    bytes.truncate(usize::try_from(count).ok()?);
    Some(bytes)
}

/// The path without `.` and `..`. Links are not followed.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
