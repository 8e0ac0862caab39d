//! Scratch space that children share: what one leaves the next one finds, nobody else, and it goes.
//!
//! All of it needs namespaces, and is left out where there are none. Leaves scratch space of a child's own to `paths`.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]
#![allow(clippy::print_stdout, reason = "another host speaks to the test that started it")]

mod common;

use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{EACCES, ENOENT, EPERM, Output, compiled, ends, exactly, finish, sandbox};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use sandbox::{Access, Child, Command, Layers, Policy, SCRATCH, Scratch, SpawnError};

const ENOSPC: i32 = 28;
const MIB: u64 = 1 << 20;

/// What this process is to do as another host, set by the tests for themselves.
const ROLE: &str = "SANDBOX_TEST_ROLE";

/// The tiers that have namespaces.
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

/// A shell with all that a build may do, which is more than a program may.
fn shell(script: &str, scratch: &Scratch) -> Output {
    let policy = ["/usr", "/lib", "/lib64", "/bin"]
        .into_iter()
        .fold(Policy::build(), |policy, path| policy.grant_if_exists(path, Access::ReadExecute))
        .variable("PATH", "/usr/bin:/bin")
        .shared_scratch(scratch);
    finish(sandbox(policy).spawn(Command::new("/bin/sh").args(["-c", script])).expect("the policy applies"))
}

/// Whether anything refers to a mount namespace: a process that is in it, or a descriptor.
fn is_referred_to(namespace: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let refers = |link: PathBuf| std::fs::read_link(link).is_ok_and(|target| target == Path::new(namespace));
    processes.filter(|path| path.join("ns").exists()).any(|process| {
        let descriptors = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        refers(process.join("ns/mnt")) || descriptors.into_iter().any(|entry| refers(entry.path()))
    })
}

/// Whether nothing does any more. A child that another thread is just starting has, until its exec, what this process has.
fn is_let_go(namespace: &str) -> bool {
    (0..1000).any(|_| {
        std::thread::yield_now();
        !is_referred_to(namespace)
    })
}

/// The namespace that holds a space.
fn namespace(scratch: &Scratch) -> String {
    let told = format!("{scratch:?}");
    let name = told.split_once(" bytes, ").and_then(|(_, rest)| rest.strip_suffix(')'));
    name.filter(|name| name.starts_with("mnt:[")).unwrap_or_else(|| panic!("{told}")).to_owned()
}

#[test]
fn what_one_child_leaves_the_next_one_finds_and_nobody_else() {
    for tier in tiers() {
        let (ours, theirs) = (space(MIB), space(MIB));
        let in_ours = || exactly(program().shared_scratch(&ours), tier);
        assert_eq!(files(&["folder"], in_ours()).detail(), SCRATCH);
        assert_eq!(files(&["create", SCRATCH], in_ours()).detail(), "");
        assert_eq!(files(&["read", "/scratch/made"], in_ours()).detail(), "made", "{tier}");
        assert_eq!(files(&["work", "."], in_ours()).detail(), "", "{tier}");
        // Not another owner's children, not those with a space of their own, with none, or the host.
        assert_eq!(files(&["list", SCRATCH], exactly(program().shared_scratch(&theirs), tier)).detail(), "");
        assert_eq!(files(&["list", SCRATCH], exactly(program().scratch(MIB), tier)).detail(), "");
        assert_eq!(files(&["list", SCRATCH], exactly(program(), tier)).errno(), Some(EPERM));
        let elsewhere = exactly(program().grant("/usr", Access::Read), tier);
        assert!(!files(&["read", "/scratch/made"], elsewhere).is_done());
        assert_eq!(files(&["list", SCRATCH], in_ours()).detail(), "made", "nor did they touch it");
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
fn its_size_and_number_of_files_hold_for_all_children_together() {
    let scratch = space(4 * MIB);
    let policy = || program().shared_scratch(&scratch);
    assert!(files(&["fill", SCRATCH, "3", &MIB.to_string()], policy()).is_done());
    // The next has what is left: the first three files are written again.
    let full = files(&["fill", SCRATCH, "8", &MIB.to_string()], policy());
    assert_eq!(full.errno(), Some(ENOSPC), "{full:?}");
    assert_eq!(files(&["clear", SCRATCH], policy()).detail(), "");
    assert!(files(&["fill", SCRATCH, "3", &MIB.to_string()], policy()).is_done(), "room comes back");
    assert_eq!(files(&["clear", SCRATCH], policy()).detail(), "");
    let many = files(&["fill", SCRATCH, "1000000", "0"], policy());
    assert_eq!(many.errno(), Some(ENOSPC), "files without contents are bounded too: {many:?}");
    assert_eq!(files(&["work", "/scratch"], policy()).errno(), Some(ENOSPC), "for the next one as well");
}

#[test]
fn what_is_left_behind_can_not_harm_the_next() {
    let scratch = space(4 * MIB);
    // More than a program could leave: its filter denies links, pipes and modes already.
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
        // It goes, whatever it is.
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
fn mounts_of_it_have_no_devices_setuid_programs_or_code() {
    let scratch = space(MIB);
    let policy = Policy::build()
        .grant("/usr", Access::ReadExecute)
        .grant_if_exists("/lib", Access::ReadExecute)
        .grant_if_exists("/lib64", Access::ReadExecute)
        .grant_if_exists("/bin", Access::ReadExecute)
        .shared_scratch(&scratch);
    // Landlock would keep the list of mounts from it.
    let policy = exactly(policy, Layers { namespaces: true, ..Layers::OFF });
    let told = sandbox(policy).spawn(Command::new("/bin/sh").args(["-c", "cat /proc/$$/mountinfo"]));
    let told = finish(told.unwrap());
    let mount = told.stdout.lines().find(|line| line.contains(" /scratch "));
    let Some(mount) = mount else { panic!("{told:?}") };
    for flag in ["nosuid", "nodev", "noexec", "size=1024k", "nr_inodes=65536"] {
        assert!(mount.contains(flag), "{flag} in {mount}");
    }
}

#[test]
fn it_goes_with_its_owner_and_no_process_holds_it() {
    let scratch = space(MIB);
    let name = namespace(&scratch);
    assert!(is_referred_to(&name), "the host has it");
    let waiting = start(&["await", "/scratch/made"], program().shared_scratch(&scratch));
    let copy = scratch.clone();
    assert_eq!(copy, scratch);
    drop(scratch);
    assert!(files(&["create", SCRATCH], program().shared_scratch(&copy)).is_done());
    drop(copy);
    assert!(is_let_go(&name), "nobody has it any more, while a child still uses what is in it");
    assert_eq!(finish(waiting).detail(), "made");
}

#[test]
fn a_child_can_neither_hold_it_nor_end_it() {
    let scratch = space(MIB);
    let name = namespace(&scratch);
    let told = files(&["held"], program().shared_scratch(&scratch));
    assert_eq!(told.detail(), "0 pipe, 1 pipe, 2 pipe", "no descriptor of it gets to the child");
    for attempt in ["kill-parent", "fork"] {
        assert!(!files(&[attempt], program().shared_scratch(&scratch)).is_done());
    }
    let waiting = start(&["await", "/scratch/never"], program().shared_scratch(&scratch));
    drop(scratch);
    assert!(is_let_go(&name), "a child that does not end holds no way to it");
    let (processes, own) = (common::descendants(waiting.id()), waiting.id());
    drop(waiting);
    for process in processes {
        assert!(!Path::new(&format!("/proc/{}", process.id)).exists(), "{process:?} of {own} is left");
    }
}

#[test]
fn nothing_of_it_outlives_a_killed_host() {
    let mut host = std::process::Command::new(std::env::current_exe().unwrap());
    host.args(["--exact", "acts_as_another_host", "--nocapture", "--test-threads=1"]);
    let mut host = host.env(ROLE, "host").stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(host.stdout.take().unwrap());
    let mut line = || {
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        line.trim().to_owned()
    };
    while line() != "ready" {
        assert!(host.try_wait().unwrap().is_none(), "it says when it is ready");
    }
    let (name, child) = (line(), pidfd(line().parse().unwrap()));
    assert!(is_referred_to(&name));
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(ends(child.as_fd()));
    assert!(is_let_go(&name));
}

fn pidfd(number: i32) -> OwnedFd {
    pidfd_open(Pid::from_raw(number).unwrap(), PidfdFlags::empty()).unwrap()
}

/// Does nothing in an ordinary run; as another host it has a space with a child in it, and waits to be killed.
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
fn many_spaces_at_once_stay_apart() {
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
    assert!(matches!(&error, SpawnError::Policy(why) if why.contains("scratch space")), "{error}");
    let error = Scratch::with_helper(0, common::helper()).unwrap_err();
    assert!(matches!(error, SpawnError::Policy(_)), "{error}");
    let error = Scratch::with_helper(MIB, "/nonexistent").unwrap_err();
    assert!(matches!(error, SpawnError::Start { .. }), "{error}");
    let error = Scratch::with_helper(MIB, "/bin/true").unwrap_err();
    assert!(matches!(error, SpawnError::HelperEnded(_) | SpawnError::Control(_)), "{error}");
}

#[test]
fn all_of_it_holds_for_an_ordinary_user() {
    common::again_as_an_ordinary_user("all_of_it_holds_for_an_ordinary_user", &["files"]);
}
