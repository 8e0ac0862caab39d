//! Nothing outlives its owner: no child, no descendants, no zombies.
//!
//! The test binary starts itself as another host if a test needs one that can be killed or is not root. What
//! a child may do is in other tests.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]
#![allow(clippy::print_stdout, reason = "another host reports to the test that started it")]

mod common;

use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

use common::{SIGKILL, attempts, ends, finish};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use sandbox::{Access, Child, Command, Confinement, Layers, Policy, Sandbox};

/// The role of this process as another host. The tests set it for themselves.
const ROLE: &str = "SANDBOX_TEST_ROLE";

/// The helper and the program, in places that another user can read.
const FILES: &str = "SANDBOX_TEST_FILES";

fn shell(script: &str) -> (Policy, Command) {
    let policy = ["/usr", "/lib", "/lib64", "/bin"]
        .into_iter()
        .fold(Policy::build(), |policy, path| policy.grant_if_exists(path, Access::ReadExecute))
        .grant("/dev/null", Access::Write)
        .variable("PATH", "/usr/bin:/bin");
    (policy, Command::new("/bin/sh").args(["-c", script]))
}

/// A child running the shell, and the process that the shell started in the background.
fn with_grandchild(script: &str) -> (Child, OwnedFd) {
    let (policy, command) = shell(script);
    let mut child = common::sandbox(policy).spawn(command).unwrap();
    let grandchild = pidfd(background(&mut child));
    (child, grandchild)
}

/// The `sleep` started by the child's shell, by its process id here. Inside a process namespace it has
/// another one.
fn background(child: &mut Child) -> u32 {
    let mut stdout = String::new();
    BufReader::new(std::fs::File::from(child.take_stdout().unwrap())).read_line(&mut stdout).unwrap();
    assert_eq!(stdout, "started\n");
    loop {
        // The shell prints this after its fork, which may be before the exec.
        if let Some(found) =
            common::descendants(child.id()).into_iter().find(|process| process.name == "sleep")
        {
            return found.id;
        }
        assert!(child.try_wait().unwrap().is_none(), "the shell has ended without its background process");
    }
}

fn pidfd(number: u32) -> OwnedFd {
    let pid = Pid::from_raw(i32::try_from(number).unwrap()).unwrap();
    pidfd_open(pid, PidfdFlags::empty()).unwrap()
}

fn pidfd_of_line(from: &mut impl BufRead) -> OwnedFd {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    pidfd(line.trim().parse().unwrap_or_else(|_| panic!("a process id in {line:?}")))
}

fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

const BACKGROUND: &str = "sleep 1000 & echo started; wait";

/// Under a limit of memory, the kernel may end any process.
#[test]
fn a_child_is_ended_before_the_host_if_memory_runs_out() {
    let score = |process: &str| -> i32 {
        let text = std::fs::read_to_string(format!("/proc/{process}/oom_score_adj")).unwrap();
        text.trim().parse().unwrap()
    };
    let (policy, command) = shell(BACKGROUND);
    let mut child = common::sandbox(policy).spawn(command).unwrap();
    let process = background(&mut child);
    assert_eq!(score(&process.to_string()), (score("self") + 500).min(1000));
}

#[test]
fn kill_ends_a_program() {
    let mut child = common::sandbox(Policy::program()).spawn(Command::new(attempts()).arg("wait")).unwrap();
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(SIGKILL));
    child.kill().unwrap();
    assert_eq!(child.try_wait().unwrap().and_then(|status| status.signal()), Some(SIGKILL));
}

#[test]
fn drop_ends_a_program() {
    let child = common::sandbox(Policy::program()).spawn(Command::new(attempts()).arg("wait")).unwrap();
    let pid = child.id();
    assert!(exists(pid));
    drop(child);
    assert!(!exists(pid), "neither running nor a zombie");
}

#[test]
fn kill_ends_a_whole_tree() {
    let (mut child, grandchild) = with_grandchild(BACKGROUND);
    child.kill().unwrap();
    assert!(ends(child.as_fd()));
    assert!(ends(grandchild.as_fd()));
    assert_eq!(child.wait().unwrap().signal(), Some(SIGKILL));
}

#[test]
fn drop_ends_a_whole_tree() {
    // One descendant ignores signals, another is orphaned.
    let (child, grandchild) =
        with_grandchild("(trap '' TERM HUP INT; sleep 1000 & echo started); wait; while :; do :; done");
    let pid = child.id();
    drop(child);
    assert!(ends(grandchild.as_fd()));
    assert!(!exists(pid));
}

#[test]
fn a_tree_whose_supervisor_is_killed_ends_with_it() {
    for tier in Layers::TIERS {
        let (policy, command) = shell(BACKGROUND);
        let policy = policy.confinement(Confinement::Exactly(tier));
        let mut child = common::sandbox(policy).spawn(command).unwrap();
        let grandchild = pidfd(background(&mut child));
        kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::KILL).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(SIGKILL), "{tier}");
        assert!(ends(grandchild.as_fd()), "{tier}");
    }
}

#[test]
fn background_processes_end_with_the_command() {
    let (go, waits) = UnixStream::pair().unwrap();
    let (policy, command) = shell("sleep 1000 >/dev/null 2>&1 3>&- & echo started; read line <&3; exit 7");
    let mut child = common::sandbox(policy).spawn(command.broker(waits)).unwrap();
    let grandchild = pidfd(background(&mut child));
    drop(go);
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert!(ends(grandchild.as_fd()));
}

#[test]
fn a_supervised_command_keeps_its_status() {
    let (policy, command) = shell("kill -ABRT 0");
    assert_eq!(finish(common::sandbox(policy).spawn(command).unwrap()).signal(), Some(6));
    let (policy, command) = shell("echo out; echo err >&2; exit 3");
    let output = finish(common::sandbox(policy).spawn(command).unwrap());
    assert_eq!(
        (output.status.code(), output.stdout.as_str(), output.stderr.as_str()),
        (Some(3), "out\n", "err\n")
    );
    let policy = Policy::compiler().limits(|limits| limits.cpu_seconds = Some(1));
    assert_eq!(common::attempt(policy, "compute", "").signal(), Some(common::SIGXCPU));
}

#[test]
fn a_child_survives_the_thread_that_started_it() {
    let start = || common::sandbox(Policy::program()).spawn(Command::new(attempts()).arg("wait")).unwrap();
    let mut child = std::thread::spawn(start).join().unwrap();
    let mut stdout = BufReader::new(std::fs::File::from(child.take_stdout().unwrap()));
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "waiting\n");
    assert!(child.try_wait().unwrap().is_none());
}

#[test]
fn nothing_outlives_a_killed_host() {
    for role in ["host of a program", "host of a tree"] {
        let mut host = other_host(role, &common::helper(), attempts()).spawn().unwrap();
        let mut stdout = BufReader::new(host.stdout.take().unwrap());
        while !matches!(stdout.by_ref_line().as_deref(), Some("ready") | None) {}
        let pidfds = [pidfd_of_line(&mut stdout), pidfd_of_line(&mut stdout)];
        host.kill().unwrap();
        host.wait().unwrap();
        for pidfd in &pidfds {
            assert!(ends(pidfd.as_fd()), "{role}");
        }
    }
}

#[test]
fn many_at_once_leave_nothing() {
    let output = other_host("churn", &common::helper(), attempts()).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("no child is left"), "{output:?}");
}

/// Starts children from several threads and drops them at different points of their lives.
fn churn(spawn: &(impl Fn(Policy, Command) -> Child + Sync), program: &str) {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for turn in 0..30 {
                    let supervised = (turn + thread) % 2 == 0;
                    let policy = if supervised { Policy::compiler() } else { Policy::program() };
                    let name = ["wait", "nothing", "fork"][turn % 3];
                    let mut child = spawn(policy, Command::new(program).arg(name));
                    match turn % 5 {
                        0 => drop(child),
                        1 => child.kill().unwrap(),
                        _ if name != "wait" => assert!(ends(child.as_fd())),
                        _ => assert!(child.try_wait().unwrap().is_none()),
                    }
                }
            });
        }
    });
    let left = rustix::process::wait(rustix::process::WaitOptions::NOHANG);
    assert_eq!(left.err(), Some(rustix::io::Errno::CHILD));
    println!("\nno child is left");
}

trait Lines {
    fn by_ref_line(&mut self) -> Option<String>;
}

impl<R: BufRead> Lines for R {
    fn by_ref_line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
    }
}

/// This test binary, running only `acts_as_another_host`.
fn other_host(role: &str, helper: &Path, program: &Path) -> std::process::Command {
    let mut host = std::process::Command::new(std::env::current_exe().unwrap());
    host.args(["--exact", "acts_as_another_host", "--nocapture", "--test-threads=1"]);
    host.env(ROLE, role)
        .env(FILES, format!("{}:{}", helper.display(), program.display()))
        .stdout(Stdio::piped());
    host
}

/// Does nothing in an ordinary run. As another host, it plays the role set by the starting test.
#[test]
fn acts_as_another_host() {
    let (Ok(role), Ok(files)) = (std::env::var(ROLE), std::env::var(FILES)) else { return };
    let (helper, program) = files.split_once(':').unwrap();
    let spawn =
        |policy: Policy, command: Command| Sandbox::new(policy).helper(helper).spawn(command).unwrap();
    match role.as_str() {
        "host of a program" => {
            let child = spawn(Policy::program(), Command::new(program).arg("wait"));
            hold(&child, child.id());
        }
        "host of a tree" => {
            let (policy, command) = shell(BACKGROUND);
            let mut child = spawn(policy, command);
            let other = background(&mut child);
            hold(&child, other);
        }
        _ => churn(&spawn, program),
    }
}

/// Prints two processes that must end with this one, and waits to be killed.
fn hold(child: &Child, other: u32) {
    println!("\nready\n{}\n{other}", child.id());
    loop {
        std::thread::park();
    }
}
