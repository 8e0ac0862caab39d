//! Shared scratch space: files that one child leaves are visible to the next, to no other process, and are
//! deleted.
//!
//! All of this needs namespaces, and is skipped without them. A child's own scratch space is tested in
//! `paths`.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]
#![allow(clippy::print_stdout, reason = "another host reports to the test that started it")]

mod common;

use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{EACCES, ENOENT, EPERM, Output, compiled, ends, exactly, finish, sandbox};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use sandbox::{Access, Child, Command, Layers, Policy, PolicyError, SCRATCH, Scratch, SpawnError};

const ENOSPC: i32 = 28;
const MIB: u64 = 1 << 20;

/// The role of this process as another host. The tests set it for themselves.
const ROLE: &str = "SANDBOX_TEST_ROLE";

/// The tiers with namespaces.
fn tiers() -> Vec<Layers> {
    common::tiers().into_iter().filter(|tier| tier.namespaces).collect()
}

fn space(bytes: u64) -> Scratch {
    Scratch::with_helper(bytes, common::helper()).unwrap()
}

fn program() -> Policy {
    Policy::program().limits(|limits| limits.file_size = Some(1 << 30))
}

fn start(arguments: &[&str], policy: Policy) -> Child {
    sandbox(policy).spawn(Command::new(compiled("files")).args(arguments)).expect("the policy applies")
}

fn files(arguments: &[&str], policy: Policy) -> Output {
    finish(start(arguments, policy))
}

/// A shell with all rights of a build, which are more than a program's.
fn shell(script: &str, scratch: &Scratch) -> Output {
    let policy = ["/usr", "/lib", "/lib64", "/bin"]
        .into_iter()
        .fold(Policy::build(), |policy, path| policy.grant_if_exists(path, Access::ReadExecute))
        .variable("PATH", "/usr/bin:/bin")
        .shared_scratch(scratch);
    finish(sandbox(policy).spawn(Command::new("/bin/sh").args(["-c", script])).expect("the policy applies"))
}

/// Whether a process or a descriptor refers to a mount namespace.
fn is_referred_to(namespace: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let refers = |link: PathBuf| std::fs::read_link(link).is_ok_and(|target| target == Path::new(namespace));
    processes.filter(|path| path.join("ns").exists()).any(|process| {
        let descriptors = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        refers(process.join("ns/mnt")) || descriptors.into_iter().any(|entry| refers(entry.path()))
    })
}

/// Whether no reference remains, after retries: a child that another thread is starting has this process's
/// descriptors until its exec.
fn is_released(namespace: &str) -> bool {
    (0..1000).any(|_| {
        std::thread::yield_now();
        !is_referred_to(namespace)
    })
}

/// The namespace that contains a space.
fn namespace(scratch: &Scratch) -> String {
    let text = format!("{scratch:?}");
    let name = text.split_once(" bytes, ").and_then(|(_, rest)| rest.strip_suffix(')'));
    name.filter(|name| name.starts_with("mnt:[")).unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn only_children_with_the_same_space_see_its_files() {
    for tier in tiers() {
        let (ours, theirs) = (space(MIB), space(MIB));
        let in_ours = || exactly(program().shared_scratch(&ours), tier);
        assert_eq!(files(&["folder"], in_ours()).detail(), SCRATCH);
        assert_eq!(files(&["create", SCRATCH], in_ours()).detail(), "");
        assert_eq!(files(&["read", "/scratch/made"], in_ours()).detail(), "made", "{tier}");
        assert_eq!(files(&["work", "."], in_ours()).detail(), "", "{tier}");
        // Invisible to another owner's children, children with their own space or none, and the host.
        assert_eq!(files(&["list", SCRATCH], exactly(program().shared_scratch(&theirs), tier)).detail(), "");
        assert_eq!(files(&["list", SCRATCH], exactly(program().scratch(MIB), tier)).detail(), "");
        assert_eq!(files(&["list", SCRATCH], exactly(program(), tier)).errno(), Some(EPERM));
        let elsewhere = exactly(program().grant("/usr", Access::Read), tier);
        assert!(!files(&["read", "/scratch/made"], elsewhere).is_done());
        assert_eq!(files(&["list", SCRATCH], in_ours()).detail(), "made", "the others did not touch it");
        assert!(!Path::new(SCRATCH).exists());
    }
}

#[test]
fn children_share_it_while_they_run() {
    for tier in tiers() {
        let scratch = space(MIB);
        let policy = || exactly(program().shared_scratch(&scratch), tier);
        let waiting = start(&["await", "/scratch/made"], policy());
        assert!(files(&["create", SCRATCH], policy()).is_done());
        assert_eq!(finish(waiting).detail(), "made", "{tier}");
    }
}

#[test]
fn size_and_file_limits_apply_to_all_children_together() {
    let scratch = space(4 * MIB);
    let policy = || program().shared_scratch(&scratch);
    assert!(files(&["fill", SCRATCH, "3", &MIB.to_string()], policy()).is_done());
    // The next child has the remaining space: the first three files are overwritten.
    let full = files(&["fill", SCRATCH, "8", &MIB.to_string()], policy());
    assert_eq!(full.errno(), Some(ENOSPC), "{full:?}");
    assert_eq!(files(&["clear", SCRATCH], policy()).detail(), "");
    assert!(files(&["fill", SCRATCH, "3", &MIB.to_string()], policy()).is_done(), "space is freed");
    assert_eq!(files(&["clear", SCRATCH], policy()).detail(), "");
    let many = files(&["fill", SCRATCH, "1000000", "0"], policy());
    assert_eq!(many.errno(), Some(ENOSPC), "files without contents are bounded too: {many:?}");
    assert_eq!(files(&["work", "/scratch"], policy()).errno(), Some(ENOSPC), "also for the next child");
}

#[test]
fn leftover_files_cannot_harm_the_next_child() {
    let scratch = space(4 * MIB);
    // More than a program could leave, because its filter denies links, pipes and modes.
    let left = shell(
        "ln -s /etc/passwd link; ln -s / up; mkfifo pipe; cp /bin/true tool; chmod 6755 tool; \
         mknod device c 1 1 2>/dev/null; ./tool; echo $?; ls",
        &scratch,
    );
    assert_eq!(left.stdout.lines().next(), Some("126"), "nothing runs from there: {left:?}");
    assert_eq!(left.stdout.split_once('\n').unwrap().1, "link\npipe\ntool\nup\n", "no device: {left:?}");
    for tier in tiers() {
        let policy = || exactly(program().shared_scratch(&scratch), tier);
        for path in ["/scratch/link", "/scratch/up/etc/passwd", "/scratch/up/proc/self/environ"] {
            let errno = files(&["read", path], policy()).errno();
            assert!([Some(ENOENT), Some(EACCES)].contains(&errno), "{tier}: {path}: {errno:?}");
        }
        // Each operation is refused.
        for name in ["execute", "device", "symbolic-link", "set-user-chmod", "pipe"] {
            assert_eq!(files(&[name, SCRATCH], policy()).errno(), Some(EPERM), "{tier}: {name}");
        }
    }
    // The mount alone refuses as well.
    let alone = Layers { namespaces: true, ..Layers::OFF };
    let refused = files(&["execute", SCRATCH], exactly(program().shared_scratch(&scratch), alone));
    assert_eq!(refused.errno(), Some(EACCES), "{refused:?}");
}

#[test]
fn its_mount_allows_no_devices_setuid_programs_or_code() {
    let scratch = space(MIB);
    let policy = Policy::build()
        .grant("/usr", Access::ReadExecute)
        .grant_if_exists("/lib", Access::ReadExecute)
        .grant_if_exists("/lib64", Access::ReadExecute)
        .grant_if_exists("/bin", Access::ReadExecute)
        .shared_scratch(&scratch);
    // Landlock would hide the list of mounts.
    let policy = exactly(policy, Layers { namespaces: true, ..Layers::OFF });
    let output = sandbox(policy).spawn(Command::new("/bin/sh").args(["-c", "cat /proc/$$/mountinfo"]));
    let output = finish(output.unwrap());
    let mount = output.stdout.lines().find(|line| line.contains(" /scratch "));
    let Some(mount) = mount else { panic!("{output:?}") };
    for flag in ["nosuid", "nodev", "noexec", "size=1024k", "nr_inodes=65536"] {
        assert!(mount.contains(flag), "{flag} in {mount}");
    }
}

#[test]
fn it_is_deleted_with_its_owner_and_no_process_holds_it() {
    let scratch = space(MIB);
    let name = namespace(&scratch);
    assert!(is_referred_to(&name), "the host has it");
    let waiting = start(&["await", "/scratch/made"], program().shared_scratch(&scratch));
    let copy = scratch.clone();
    assert_eq!(copy, scratch);
    drop(scratch);
    assert!(files(&["create", SCRATCH], program().shared_scratch(&copy)).is_done());
    drop(copy);
    assert!(is_released(&name), "no reference remains while a child still uses its files");
    assert_eq!(finish(waiting).detail(), "made");
}

#[test]
fn a_child_can_neither_keep_it_nor_end_it() {
    let scratch = space(MIB);
    let name = namespace(&scratch);
    let output = files(&["held"], program().shared_scratch(&scratch));
    assert_eq!(output.detail(), "0 pipe, 1 pipe, 2 pipe", "the child gets no descriptor of it");
    for attempt in ["kill-parent", "fork"] {
        assert!(!files(&[attempt], program().shared_scratch(&scratch)).is_done());
    }
    let waiting = start(&["await", "/scratch/never"], program().shared_scratch(&scratch));
    drop(scratch);
    assert!(is_released(&name), "a running child holds no reference");
    let (processes, own) = (common::descendants(waiting.id()), waiting.id());
    drop(waiting);
    for process in processes {
        assert!(!Path::new(&format!("/proc/{}", process.id)).exists(), "{process:?} of {own} is left");
    }
}

#[test]
fn it_does_not_outlive_a_killed_host() {
    let mut host = std::process::Command::new(std::env::current_exe().unwrap());
    host.args(["--exact", "acts_as_another_host", "--nocapture", "--test-threads=1"]);
    let mut host = host.env(ROLE, "host").stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(host.stdout.take().unwrap());
    let mut line = || {
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        line.trim().to_owned()
    };
    while line() != "ready" {
        assert!(host.try_wait().unwrap().is_none(), "it reports when it is ready");
    }
    let (name, child) = (line(), pidfd(line().parse().unwrap()));
    assert!(is_referred_to(&name));
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(ends(child.as_fd()));
    assert!(is_released(&name));
}

fn pidfd(number: i32) -> OwnedFd {
    pidfd_open(Pid::from_raw(number).unwrap(), PidfdFlags::empty()).unwrap()
}

/// Does nothing in an ordinary run. As another host, it has a space with a child in it, and waits to be
/// killed.
#[test]
fn acts_as_another_host() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let scratch = space(MIB);
    let child = start(&["await", "/scratch/never"], program().shared_scratch(&scratch));
    println!("\nready\n{}\n{}", namespace(&scratch), child.id());
    loop {
        std::thread::park();
    }
}

#[test]
fn concurrent_spaces_are_separate() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for _ in 0..5 {
                    let scratch = space(MIB);
                    let policy = || program().shared_scratch(&scratch);
                    assert_eq!(files(&["list", SCRATCH], policy()).detail(), "", "thread {thread}");
                    assert!(files(&["create", SCRATCH], policy()).is_done());
                    assert_eq!(files(&["list", SCRATCH], policy()).detail(), "made");
                }
            });
        }
    });
}

#[test]
fn it_needs_namespaces_and_a_size() {
    let scratch = space(MIB);
    let without = Layers { namespaces: false, ..Layers::FULL };
    let policy = exactly(program().shared_scratch(&scratch), without);
    let error = sandbox(policy).spawn(Command::new(compiled("files")).arg("folder")).unwrap_err();
    assert!(
        matches!(&error, SpawnError::Policy(PolicyError::WithoutNamespaces { grants, .. }) if grants.contains("scratch space")),
        "{error}"
    );
    let error = Scratch::with_helper(0, common::helper()).unwrap_err();
    assert!(matches!(error, SpawnError::Policy(_)), "{error}");
    let error = Scratch::with_helper(MIB, "/nonexistent").unwrap_err();
    assert!(matches!(error, SpawnError::Start { .. }), "{error}");
    let error = Scratch::with_helper(MIB, "/bin/true").unwrap_err();
    assert!(matches!(error, SpawnError::HelperEnded(_) | SpawnError::Control(_)), "{error}");
}

#[test]
fn all_tests_pass_for_an_ordinary_user() {
    common::again_as_an_ordinary_user("all_tests_pass_for_an_ordinary_user", &["files"]);
}
