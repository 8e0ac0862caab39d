//! What the tests share: compiling attack programs, running them plain and confined, reading all they say.
//!
//! Leaves what is tried and expected to the tests.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sandbox::{Child, Command, Policy, Sandbox};

/// Bounds a test that would otherwise hang; nothing is measured with it.
pub(crate) const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

pub(crate) const EPERM: i32 = 1;
pub(crate) const EACCES: i32 = 13;
pub(crate) const SIGABRT: i32 = 6;
pub(crate) const SIGKILL: i32 = 9;
pub(crate) const SIGSEGV: i32 = 11;
pub(crate) const SIGXCPU: i32 = 24;
pub(crate) const SIGSYS: i32 = 31;

/// What a process said and how it ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// Whether an attempt worked.
    pub(crate) fn is_done(&self) -> bool {
        self.status.success() && self.stdout.starts_with("done")
    }

    /// What an attempt that worked printed after `done`.
    pub(crate) fn detail(&self) -> &str {
        assert!(self.is_done(), "{self:?}");
        self.stdout["done".len()..].trim()
    }

    /// The error number that an attempt ended with.
    pub(crate) fn errno(&self) -> Option<i32> {
        self.stdout.strip_prefix("errno ")?.split(' ').next()?.parse().ok()
    }

    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

pub(crate) fn sandbox(policy: Policy) -> Sandbox {
    Sandbox::new(policy).helper(env!("CARGO_BIN_EXE_sandbox-helper"))
}

/// Runs a command confined, to its end.
pub(crate) fn confined(policy: Policy, command: Command) -> Output {
    finish(sandbox(policy).spawn(command).expect("the policy applies"))
}

/// Reads everything and waits; a child that does not end is a failure.
pub(crate) fn finish(mut child: Child) -> Output {
    let stdout = read_all(child.take_stdout());
    let stderr = read_all(child.take_stderr());
    assert!(ends(child.as_fd()), "the child did not end");
    let status = child.wait().expect("nothing else reaps it");
    Output {
        status,
        stdout: stdout.join().expect("stdout is text"),
        stderr: stderr.join().expect("stderr is text"),
    }
}

fn read_all(pipe: Option<OwnedFd>) -> std::thread::JoinHandle<String> {
    let mut pipe = File::from(pipe.expect("taken once"));
    std::thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).expect("a pipe can be read");
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// Whether the process of a pidfd ends.
pub(crate) fn ends(pidfd: BorrowedFd<'_>) -> bool {
    let mut events = [PollFd::from_borrowed_fd(pidfd, PollFlags::IN)];
    poll(&mut events, Some(&PATIENCE)).expect("a pidfd can be polled") > 0
}

/// The toolchain that the workspace names.
pub(crate) fn sysroot() -> &'static Path {
    static SYSROOT: OnceLock<PathBuf> = OnceLock::new();
    SYSROOT.get_or_init(|| {
        let output = std::process::Command::new("rustc")
            .args(["--print", "sysroot"])
            .output()
            .expect("rustc is installed");
        PathBuf::from(String::from_utf8(output.stdout).expect("a path").trim())
    })
}

pub(crate) fn rustc() -> PathBuf {
    sysroot().join("bin/rustc")
}

pub(crate) fn linker() -> PathBuf {
    sysroot().join("lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld")
}

/// The arguments that make a static program without a C toolchain.
pub(crate) fn target_arguments() -> [String; 4] {
    [
        "--edition=2024".to_owned(),
        "--target=x86_64-unknown-linux-musl".to_owned(),
        "-C".to_owned(),
        format!("linker={}", linker().display()),
    ]
}

/// The program of attempts, compiled once.
pub(crate) fn attempts() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let draft = folder.join(format!("attempts-{}", std::process::id()));
        let program = folder.join("attempts");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/attempts.rs");
        let status = std::process::Command::new(rustc())
            .args(target_arguments())
            .arg("-o")
            .arg(&draft)
            .arg(source)
            .status();
        assert!(
            status.expect("rustc is installed").success(),
            "the target x86_64-unknown-linux-musl is installed"
        );
        std::fs::rename(&draft, &program).expect("both are in one folder");
        program
    })
}

/// An attempt without any confinement.
pub(crate) fn plain(name: &str, argument: &str) -> Output {
    let output =
        std::process::Command::new(attempts()).args([name, argument]).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Output { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// An attempt under a policy.
pub(crate) fn attempt(policy: Policy, name: &str, argument: &str) -> Output {
    confined(policy, Command::new(attempts()).args([name, argument]))
}
