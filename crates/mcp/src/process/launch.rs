//! Starts a program without copying this process.
//!
//! fork(2) copies the page tables, and afterwards this process faults once for each page that it writes: together 2 ms of
//! processor time for each server that `toolsmith serve` starts. Here the child borrows the memory until it executes the
//! program, and the calling thread waits (`CLONE_VM` and `CLONE_VFORK`, clone(2)). The standard library does the same
//! with posix_spawn(3), which can neither start a session nor ask for a signal when its parent ends.

use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void},
    io,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
    process::{ChildStderr, ChildStdin, ChildStdout},
    ptr::{null, null_mut},
};

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal, setsid};

/// Where programs are looked up if the environment has no PATH, as in musl's execvp(3).
const DEFAULT_PATH: &str = "/usr/local/bin:/bin:/usr/bin";

/// Executes files without an executable format, as execvp(3) does.
const SHELL: &CStr = c"/bin/sh";

/// The child's stack in bytes: it makes a few system calls.
const STACK: usize = 64 << 10;

/// A program to start.
pub(super) struct Launch {
    /// The files to try, in order.
    programs: Vec<CString>,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    folder: Option<CString>,
}

/// A started process, which nobody has waited for.
pub(super) struct Launched {
    pub(super) pid: Pid,
    pub(super) pidfd: OwnedFd,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Launch {
    /// Prepares a start. Without a `/`, the program is looked up in the PATH of its own environment.
    ///
    /// # Errors
    /// If a text contains a NUL byte.
    pub(super) fn new(
        program: &str,
        arguments: &[String],
        environment: BTreeMap<OsString, OsString>,
        folder: Option<&Path>,
    ) -> io::Result<Self> {
        let path = environment.get(OsStr::new("PATH")).map_or(OsStr::new(DEFAULT_PATH), OsString::as_os_str);
        let programs = candidates(program, path);
        let arguments = std::iter::once(program).chain(arguments.iter().map(String::as_str));
        let variables = environment.into_iter().map(|(mut variable, value)| {
            variable.push("=");
            variable.push(value);
            variable
        });
        Ok(Launch {
            programs: c_strings(programs)?,
            arguments: c_strings(arguments)?,
            environment: c_strings(variables)?,
            folder: folder.map(|folder| c_string(folder.as_os_str())).transpose()?,
        })
    }

    /// Starts the program as the leader of its own session and process group, with pipes as its standard streams. The
    /// kernel kills it when the calling thread ends. Blocks until the kernel has loaded the program.
    ///
    /// # Errors
    /// Returns the errors of the system calls, chdir(2) and execve(2) among them.
    pub(super) fn start(&self) -> io::Result<Launched> {
        let (stdin, stdin_of_host) = io::pipe()?;
        let (stdout_of_host, stdout) = io::pipe()?;
        let (stderr_of_host, stderr) = io::pipe()?;
        let streams = [stdin.as_raw_fd(), stdout.as_raw_fd(), stderr.as_raw_fd()];
        let (pid, pidfd) = Child::new(self, streams).start()?;
        Ok(Launched {
            pid,
            pidfd,
            stdin: OwnedFd::from(stdin_of_host).into(),
            stdout: OwnedFd::from(stdout_of_host).into(),
            stderr: OwnedFd::from(stderr_of_host).into(),
        })
    }
}

/// The files that a program's name may mean.
fn candidates(program: &str, path: &OsStr) -> Vec<OsString> {
    if program.contains('/') {
        return vec![program.into()];
    }
    if program.is_empty() {
        return Vec::new();
    }
    // An empty folder is the working folder.
    std::env::split_paths(path).map(|folder| Path::new(".").join(folder).join(program).into()).collect()
}

fn c_strings(texts: impl IntoIterator<Item = impl AsRef<OsStr>>) -> io::Result<Vec<CString>> {
    texts.into_iter().map(|text| c_string(text.as_ref())).collect()
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

/// The process between clone(2) and execve(2). It runs in this process's memory, so it does not allocate.
struct Child<'a> {
    launch: &'a Launch,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// The shell's arguments: its second is the file.
    of_shell: Vec<*const c_char>,
    /// The descriptors that become its standard streams.
    streams: [RawFd; 3],
    parent: Pid,
    /// The error number of what failed, or 0.
    error: c_int,
}

impl<'a> Child<'a> {
    fn new(launch: &'a Launch, streams: [RawFd; 3]) -> Self {
        let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).chain([null()]).collect();
        let arguments: Vec<*const c_char> = pointers(&launch.arguments);
        let of_shell =
            [SHELL.as_ptr(), null()].into_iter().chain(arguments.iter().skip(1).copied()).collect();
        let environment = pointers(&launch.environment);
        Child { launch, arguments, environment, of_shell, streams, parent: getpid(), error: 0 }
    }

    /// Creates the process, and waits until it has executed the program or failed.
    fn start(&mut self) -> io::Result<(Pid, OwnedFd)> {
        let mut stack = Vec::<u128>::with_capacity(STACK / size_of::<u128>());
        let top = stack.as_mut_ptr().wrapping_add(stack.capacity());
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
        let mut pidfd: RawFd = -1;
        let blocked = Blocked::all();
        // SAFETY: `run` never returns; its stack, `self` and `pidfd` outlive the call, which returns when the process no
        // longer uses this memory.
        let pid = unsafe { libc::clone(run, top.cast(), flags, (&raw mut *self).cast(), &raw mut pidfd) };
        let failed = io::Error::last_os_error();
        drop(blocked);
        let (true, Some(pid)) = (pid > 0 && pidfd >= 0, Pid::from_raw(pid.max(0))) else {
            return Err(failed);
        };
        // SAFETY: the kernel has just opened it for this process.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        if self.error == 0 {
            return Ok((pid, pidfd));
        }
        // It has ended.
        let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
        Err(io::Error::from_raw_os_error(self.error))
    }

    /// Becomes the program; returns only why that failed.
    fn execute(&mut self) -> io::Error {
        reset_signals();
        match self.prepare() {
            Ok(()) => self.try_programs(),
            Err(error) => error,
        }
    }

    fn prepare(&self) -> io::Result<()> {
        // A new process does not lead a group.
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may already have died.
        if getppid() != Some(self.parent) {
            return Err(rustix::io::Errno::SRCH.into());
        }
        for (number, stream) in (0..).zip(self.streams) {
            // SAFETY: the process has its own table of descriptors.
            if unsafe { libc::dup2(stream, number) } == -1 {
                return Err(io::Error::last_os_error());
            }
        }
        if let Some(folder) = &self.launch.folder {
            rustix::process::chdir(folder.as_c_str())?;
        }
        Ok(())
    }

    /// Executes the first of the files that can be executed, like execvp(3).
    fn try_programs(&mut self) -> io::Error {
        let mut error = io::Error::from_raw_os_error(libc::ENOENT);
        for program in &self.launch.programs {
            // SAFETY: the texts end with NUL and the lists with a null pointer.
            unsafe { libc::execve(program.as_ptr(), self.arguments.as_ptr(), self.environment.as_ptr()) };
            let mut failed = io::Error::last_os_error();
            if failed.raw_os_error() == Some(libc::ENOEXEC) {
                self.of_shell[1] = program.as_ptr();
                // SAFETY: likewise.
                unsafe { libc::execve(SHELL.as_ptr(), self.of_shell.as_ptr(), self.environment.as_ptr()) };
                failed = io::Error::last_os_error();
            }
            match failed.raw_os_error() {
                Some(libc::ENOENT | libc::ENOTDIR | libc::ENODEV | libc::ESTALE | libc::ETIMEDOUT) => {
                    if error.raw_os_error() != Some(libc::EACCES) {
                        error = failed;
                    }
                }
                // Another folder may have one that may be executed.
                Some(libc::EACCES) => error = failed,
                _ => return failed,
            }
        }
        error
    }
}

/// The process's first function.
extern "C" fn run(child: *mut c_void) -> c_int {
    // SAFETY: `Child::start` passes itself, and waits.
    let child = unsafe { &mut *child.cast::<Child<'_>>() };
    child.error = child.execute().raw_os_error().unwrap_or(libc::EIO);
    // SAFETY: ends only this process.
    unsafe { libc::_exit(127) }
}

/// Undoes what an exec would inherit: a blocked signal, and that the standard library ignores SIGPIPE. Handlers come
/// first: one that ran here would run in the parent's memory.
fn reset_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: both structures outlive the calls; the process has its own table of handlers. Fails for signals that
        // can't be changed, which is fine.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let is_known = libc::sigaction(signal, null(), &raw mut action) == 0;
            if is_known && (action.sa_sigaction != libc::SIG_IGN || signal == libc::SIGPIPE) {
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const action, null_mut());
            }
        }
    }
    // SAFETY: the set is initialised, and outlives the call.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, null_mut());
    }
}

/// Blocks all signals on this thread until it is dropped.
struct Blocked(libc::sigset_t);

impl Blocked {
    fn all() -> Self {
        // SAFETY: both sets are initialised, and outlive the call.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Blocked(before)
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set outlives the call.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, null_mut()) };
    }
}

#[cfg(test)]
mod tests;
