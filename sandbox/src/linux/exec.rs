//! The command in the kernel's form, and the single exec.
//!
//! A program is executed through a descriptor with a number above its own descriptor limit, and a path
//! argument at an address that it cannot map. The filter allows `execveat` only with these two. After the
//! first exec, the program cannot recreate them. The filter is in `seccomp`.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::failed;
use crate::{Failure, Policy, Step};

/// The address of the empty path for the program's exec: above the lowest address that an ordinary user may
/// map (vm.mmap_min_addr, 64 KiB on common systems) and below
/// [`LOWEST_PROGRAM_ADDRESS`](crate::LOWEST_PROGRAM_ADDRESS).
const EMPTY_PATH_ADDRESS: usize = 0x2_0000;

/// An opened and converted command. Executing it does not allocate.
#[derive(Debug)]
pub(super) struct Executable {
    pub(super) path: PathBuf,
    pub(super) descriptor: OwnedFd,
    by_path: bool,
    /// Whether it was received as a descriptor.
    pub(super) is_image: bool,
    program: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

impl Executable {
    pub(super) fn open(
        command: Vec<OsString>,
        image: Option<OwnedFd>,
        policy: &Policy,
    ) -> Result<Self, Failure> {
        let Some(path) = command.first().map(PathBuf::from) else {
            return Err(Failure::new(Step::Executable, "an empty command", libc::EINVAL));
        };
        let subject = path.display().to_string();
        let arguments = c_strings(command.into_iter().map(OsString::into_vec))?;
        let environment =
            c_strings(policy.environment.iter().map(|(name, value)| format!("{name}={value}").into_bytes()))?;
        let (by_path, is_image) = (policy.profile.is_tree(), image.is_some());
        let descriptor = match image {
            Some(_) if by_path => return Err(Failure::new(Step::Executable, subject, libc::EINVAL)),
            Some(image) => image,
            None => rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
                .map_err(failed(Step::Executable, &subject))?,
        };
        check_file(&descriptor, &subject)?;
        let descriptor = if by_path { descriptor } else { above_the_limit(&descriptor, policy)? };
        if !by_path {
            map_empty_path()?;
        }
        let program = arguments[0].clone();
        Ok(Self { path, descriptor, by_path, is_image, program, arguments, environment })
    }

    /// The descriptor and the address with which a program's filter allows `execveat`.
    pub(super) fn exec_arguments(&self) -> (RawFd, u64) {
        (self.descriptor.as_raw_fd(), EMPTY_PATH_ADDRESS as u64)
    }

    /// Resets ignored and blocked signals, which an exec would inherit: the standard library ignores SIGPIPE,
    /// and the parent may ignore or block more. For programs, SIGXFSZ stays ignored, so that writing a file
    /// that is too long returns an error and does not end the program.
    pub(super) fn reset_signals(&self) {
        for signal in 1..=libc::SIGRTMAX() {
            let is_ignored = signal == libc::SIGXFSZ && !self.by_path;
            let action = if is_ignored { libc::SIG_IGN } else { libc::SIG_DFL };
            // SAFETY: installs no handler; fails for signals that cannot be changed, which is fine.
            unsafe { libc::signal(signal, action) };
        }
        // SAFETY: the set is initialised by sigemptyset and outlives the call.
        unsafe {
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        }
    }

    /// Executes the command. Returns only on failure.
    pub(super) fn execute(&self) -> Failure {
        let arguments = pointers(&self.arguments);
        let environment = pointers(&self.environment);
        // SAFETY: both lists end with a null pointer and their strings outlive the call; the address given to
        // execveat holds a NUL byte (`map_empty_path`).
        unsafe {
            if self.by_path {
                libc::execve(self.program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
            } else {
                let (descriptor, path) = self.exec_arguments();
                libc::syscall(
                    libc::SYS_execveat,
                    descriptor,
                    path,
                    arguments.as_ptr(),
                    environment.as_ptr(),
                    libc::AT_EMPTY_PATH,
                );
            }
        }
        failed(Step::Execute, self.path.display().to_string())(io::Error::last_os_error())
    }
}

fn c_strings(items: impl Iterator<Item = Vec<u8>>) -> Result<Vec<CString>, Failure> {
    items
        .map(|item| {
            CString::new(item)
                .map_err(|_| Failure::new(Step::Executable, "a string with a NUL byte", libc::EINVAL))
        })
        .collect()
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

fn check_file(descriptor: &OwnedFd, subject: &str) -> Result<(), Failure> {
    let status = rustix::fs::fstat(descriptor).map_err(failed(Step::Executable, subject))?;
    if rustix::fs::FileType::from_raw_mode(status.st_mode).is_file() {
        return Ok(());
    }
    Err(Failure::new(Step::Executable, subject, libc::EACCES))
}

/// Moves the executable to a descriptor number above the program's own limit.
fn above_the_limit(descriptor: &OwnedFd, policy: &Policy) -> Result<OwnedFd, Failure> {
    let limit = policy.limits.open_files.unwrap_or(u64::MAX);
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // F_DUPFD is bound by the soft limit, which may be lower than the hard one.
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
        .map_err(failed(Step::Executable, "limits.open_files"))?;
    let number = i32::try_from(limit)
        .map_err(|_| Failure::new(Step::Executable, "limits.open_files", libc::EINVAL))?;
    rustix::io::fcntl_dupfd_cloexec(descriptor, number).map_err(failed(Step::Executable, "limits.open_files"))
}

/// Maps a page of zeros, which is an empty path, at the address that the filter expects. The kernel maps at least one page
/// of its own size, and the address is a multiple of every size.
fn map_empty_path() -> Result<(), Failure> {
    let protection = libc::PROT_READ;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let address = EMPTY_PATH_ADDRESS as *mut libc::c_void;
    // SAFETY: a new anonymous page at an address where nothing is mapped (MAP_FIXED_NOREPLACE).
    let mapped = unsafe { libc::mmap(address, 4096, protection, flags, -1, 0) };
    if mapped == address {
        return Ok(());
    }
    Err(failed(Step::Executable, "the page of the empty path (vm.mmap_min_addr may be above 128 KiB)")(
        io::Error::last_os_error(),
    ))
}
