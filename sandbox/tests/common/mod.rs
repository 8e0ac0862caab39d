//! Shared by the tests: compiling attack programs, running them plain and confined, reading all their output.
//!
//! The tests decide what is tried and expected.
#![allow(dead_code, reason = "each test binary uses a part")]

mod platform;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Mutex, OnceLock, PoisonError};

use platform::{LIBRARIES, LOADER, TARGET, TOOLS};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sandbox::{Access, Child, Command, Confinement, Layers, Policy, Sandbox};

/// Time limit for a test that would otherwise hang. Nothing is measured with it.
pub(crate) const TEST_TIMEOUT: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

/// Set if every attempt must work without a sandbox, and every tier must be supported.
pub(crate) const REQUIRE_ALL: &str = "SANDBOX_REQUIRE_ALL";

/// The name of the best tier that a machine must have, if that is not `full`, for example with a kernel
/// without Landlock.
const REQUIRED_TIER: &str = "SANDBOX_REQUIRE_TIER";

/// The same for the runs of root's tests as an ordinary user, whose tier may be lower, for example if only root may
/// create user namespaces.
const REQUIRED_ORDINARY_TIER: &str = "SANDBOX_REQUIRE_ORDINARY_TIER";

pub(crate) const EPERM: i32 = 1;
pub(crate) const ENOENT: i32 = 2;
pub(crate) const ESRCH: i32 = 3;
pub(crate) const ENOMEM: i32 = 12;
pub(crate) const EACCES: i32 = 13;
pub(crate) const EROFS: i32 = 30;
pub(crate) const SIGABRT: i32 = 6;
pub(crate) const SIGKILL: i32 = 9;
pub(crate) const SIGSEGV: i32 = 11;
pub(crate) const SIGXCPU: i32 = 24;
pub(crate) const SIGSYS: i32 = 31;

/// The output of a process and how it ended.
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

    /// Returns the text that a successful attempt printed after `done`.
    pub(crate) fn detail(&self) -> &str {
        assert!(self.is_done(), "{self:?}");
        self.stdout["done".len()..].trim()
    }

    /// The error number of a failed attempt.
    pub(crate) fn errno(&self) -> Option<i32> {
        self.stdout.strip_prefix("errno ")?.split(' ').next()?.parse().ok()
    }

    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

/// A folder with the helper and the programs that another user can read.
const REACHABLE: &str = "SANDBOX_TEST_REACHABLE";

fn reachable(name: &str) -> Option<PathBuf> {
    std::env::var_os(REACHABLE).map(|folder| Path::new(&folder).join(name))
}

/// The helper of the tests.
pub(crate) fn helper() -> PathBuf {
    reachable("helper").unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_sandbox-helper")))
}

/// A user without any rights (`nobody`).
pub(crate) const ORDINARY: u32 = 65534;

/// If this process is root and is not in such a run already: a command that runs tests of this binary as an
/// ordinary user, with the helper and these programs in a folder that the user can read. Dropping the folder
/// deletes it.
pub(crate) fn as_an_ordinary_user(programs: &[&str]) -> Option<(std::process::Command, tempfile::TempDir)> {
    if !rustix::process::getuid().is_root() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder can be created");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))
        .expect("the folder is root's");
    let copy = |from: &Path, name: &str| {
        copy_program(from, &folder.path().join(name));
    };
    copy(&helper(), "helper");
    copy(&std::env::current_exe().expect("the test runs"), "host");
    programs.iter().for_each(|name| copy(&compiled(name), name));
    let mut host = std::process::Command::new(folder.path().join("host"));
    host.current_dir("/").uid(ORDINARY).gid(ORDINARY).env(REACHABLE, folder.path());
    if let Some(tier) = std::env::var_os(REQUIRED_ORDINARY_TIER) {
        host.env(REQUIRED_TIER, tier);
    }
    Some((host, folder))
}

/// Runs all tests of this binary again as an ordinary user, except the calling test and those that this run skips.
pub(crate) fn again_as_an_ordinary_user(own_name: &str, programs: &[&str]) {
    let Some((mut host, _folder)) = as_an_ordinary_user(programs) else { return };
    let own: Vec<String> = std::env::args().collect();
    let skipped = own.windows(2).filter(|pair| pair[0] == "--skip").flatten();
    let output = host.args(["--skip", own_name]).args(skipped).output().expect("the copy starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
}

/// Copies a program in a separate process. If this one wrote the file, a child that another thread is
/// starting could inherit the open file, and executing it would fail with ETXTBSY (execve(2)).
pub(crate) fn copy_program(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp").arg(from).arg(to).status();
    assert!(status.expect("cp is installed").success(), "{} can be copied", from.display());
}

pub(crate) fn sandbox(policy: Policy) -> Sandbox {
    Sandbox::new(with_required_tier(policy)).helper(helper())
}

/// The tier that [`REQUIRED_TIER`] names.
pub(crate) fn required_tier() -> Option<Layers> {
    std::env::var(REQUIRED_TIER).ok().map(|name| name.parse().expect("it names a tier"))
}

/// The default minimum starts nothing on a machine whose best tier is lower. Tests of the default policy then
/// require the machine's best tier.
fn with_required_tier(policy: Policy) -> Policy {
    match required_tier() {
        Some(tier) if policy.confinement == Confinement::default() => {
            policy.confinement(Confinement::AtLeast(tier))
        }
        _ => policy,
    }
}

/// Runs a confined command to its end.
pub(crate) fn confined(policy: Policy, command: Command) -> Output {
    finish(sandbox(policy).spawn(command).expect("the policy applies"))
}

/// Reads all output and waits. Fails if the child does not end.
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

pub(crate) fn read_all(pipe: Option<OwnedFd>) -> std::thread::JoinHandle<String> {
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
    poll(&mut events, Some(&TEST_TIMEOUT)).expect("a pidfd can be polled") > 0
}

/// A process as `/proc` shows it here, in any namespace.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) name: String,
    parent: u32,
}

/// All processes that exist, with their parents (proc_pid_stat(5)).
fn processes() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| {
        let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (name, rest) = text.split_once('(')?.1.rsplit_once(") ")?;
        Some(Process { id, name: name.to_owned(), parent: rest.split(' ').nth(1)?.parse().ok()? })
    })
    .collect()
}

/// All descendants of a process.
pub(crate) fn descendants(ancestor: u32) -> Vec<Process> {
    let all = processes();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        let children = all.iter().filter(|process| process.parent == parent);
        parents.extend(children.clone().map(|child| child.id));
        found.extend(children.cloned());
    }
    found
}

/// The tiers that this machine supports.
pub(crate) fn tiers() -> Vec<Layers> {
    let support = sandbox(Policy::program()).support();
    // If all tiers are required, a probe that finds fewer must not let tests pass that tried nothing.
    let required = required_tier().or(std::env::var_os(REQUIRE_ALL).map(|_| Layers::FULL));
    assert!(required.is_none_or(|required| support.layers == required), "{support:?}");
    Layers::TIERS.into_iter().filter(|tier| support.layers.include(*tier)).collect()
}

/// The policy with exactly this tier.
pub(crate) fn exactly(policy: Policy, layers: Layers) -> Policy {
    policy.confinement(Confinement::Exactly(layers))
}

/// The toolchain that runs these tests.
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
    sysroot().join(TOOLS).join("rust-lld")
}

/// A policy with everything that rustc and its linker need, and a folder to work in.
pub(crate) fn compiler_policy(folder: &Path) -> Policy {
    Policy::compiler()
        .grant(rustc(), Access::ReadExecute)
        .grant(linker(), Access::ReadExecute)
        .grant(LOADER, Access::ReadExecute)
        .grant(sysroot().join("lib"), Access::Read)
        .grant_if_exists(LIBRARIES[0], Access::Read)
        .grant_if_exists(LIBRARIES[1], Access::Read)
        .grant("/dev/null", Access::Write)
        .grant(folder, Access::Write)
        .variable("LD_LIBRARY_PATH", sysroot().join("lib").to_str().expect("the path is text"))
        .variable("TMPDIR", folder.to_str().expect("the path is text"))
        .working_folder(folder)
}

/// The arguments that build a static program without a C toolchain.
pub(crate) fn target_arguments() -> [String; 4] {
    [
        "--edition=2024".to_owned(),
        format!("--target={TARGET}"),
        "-C".to_owned(),
        format!("linker={}", linker().display()),
    ]
}

/// The program of attempts.
pub(crate) fn attempts() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("attempts"))
}

/// A sealed copy of a program, in memory.
pub(crate) fn in_memory(program: &Path) -> OwnedFd {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let file = memfd_create("image", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    let mut file = std::fs::File::from(file);
    file.write_all(&std::fs::read(program).unwrap()).unwrap();
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL).unwrap();
    file.into()
}

/// A static program from `tests/programs`, a file or a folder with a `main.rs`, compiled once.
pub(crate) fn compiled(name: &str) -> PathBuf {
    static COMPILED: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let program = compiled.entry(name.to_owned());
    program.or_insert_with(|| reachable(name).unwrap_or_else(|| compile(name))).clone()
}

/// Adds the programs' target if it is missing, like the first use of Toolsmith.
fn add_target() {
    let sysroot = sysroot();
    if sysroot.join("lib/rustlib").join(TARGET).exists() {
        return;
    }
    let toolchain = sysroot.file_name().expect("a toolchain has its own folder");
    let status = std::process::Command::new("rustup")
        .args(["target", "add", TARGET, "--toolchain"])
        .arg(toolchain)
        .status();
    let added = status.is_ok_and(|status| status.success());
    assert!(added, "type `rustup target add {TARGET} --toolchain {}`", toolchain.display());
}

fn compile(name: &str) -> PathBuf {
    add_target();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let draft = folder.join(format!("{name}-{}", std::process::id()));
    let program = folder.join(name);
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let (file, in_folder) = (programs.join(format!("{name}.rs")), programs.join(name).join("main.rs"));
    let source = if file.exists() { file } else { in_folder };
    let status = std::process::Command::new(rustc())
        .args(target_arguments())
        .arg("-o")
        .arg(&draft)
        .arg(source)
        .status();
    assert!(status.expect("rustc is installed").success(), "rustc compiles {name}; its messages are above");
    std::fs::rename(&draft, &program).expect("both are in one folder");
    program
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
