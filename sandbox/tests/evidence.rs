//! Refused calls of a program are known afterwards, from the kernel, without losses or additions.
//!
//! The escape tests cover which calls are refused.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod common;

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;

use common::{EPERM, SIGSYS, compiled, exactly, sandbox, tiers};
use sandbox::{Command, Evidence, Policy, system_call_name};

/// The end of an attempt, its output, and its evidence.
struct Observed {
    signal: Option<i32>,
    stdout: String,
    evidence: Evidence,
    has_listener: bool,
}

fn observe(policy: Policy, program: &str, arguments: &[&str]) -> Observed {
    let mut child = sandbox(policy).spawn(Command::new(compiled(program)).args(arguments)).unwrap();
    let mut stdout = String::new();
    File::from(child.take_stdout().unwrap()).read_to_string(&mut stdout).unwrap();
    assert_eq!(*child.evidence(), Evidence::default(), "nothing is known before the end");
    let status = child.wait().unwrap();
    let has_listener = child.report().layers.iter().any(|layer| layer == "seccomp-notify");
    let mut evidence = child.evidence().clone();
    assert_eq!(evidence, *child.evidence(), "the same when read again");
    // The tests compare everything else, which is the same in each run.
    let processor_time = std::mem::take(&mut evidence.processor_time);
    assert!(!processor_time.is_zero(), "starting it takes time");
    Observed { signal: status.signal(), stdout, evidence, has_listener }
}

/// The number of a system call.
fn number(name: &str) -> u32 {
    (0..512)
        .find(|number| system_call_name(*number) == Some(name))
        .unwrap_or_else(|| panic!("no system call is named {name}"))
}

#[test]
fn refused_calls_are_reported() {
    for tier in tiers() {
        let observed = observe(exactly(Policy::program(), tier), "attempts", &["read", "/etc/passwd"]);
        assert!(observed.stdout.starts_with("errno 1 "), "{}", observed.stdout);
        assert_eq!((observed.signal, observed.evidence.fatal), (None, None));
        if observed.has_listener {
            let names: Vec<_> =
                observed.evidence.refused.iter().filter_map(|number| system_call_name(*number)).collect();
            let opening = if cfg!(target_arch = "aarch64") { "openat" } else { "open" };
            assert_eq!(names, [opening], "{tier}");
        }
    }
}

#[test]
fn calls_that_were_not_made_are_not_reported() {
    for tier in tiers() {
        for policy in [Policy::program(), Policy::compiler()] {
            let observed = observe(exactly(policy, tier), "attempts", &["nothing"]);
            assert_eq!(
                observed.evidence,
                Evidence::default(),
                "{tier}: neither the canary's attempt nor any other"
            );
        }
        let observed = observe(exactly(Policy::compiler(), tier), "attempts", &["tcp", "127.0.0.1:1"]);
        assert!(observed.evidence.refused.is_empty(), "a compiler's filter reports nothing");
    }
}

/// std tries calls that are unavailable, and copies with others: that is not an attempt of the program.
#[test]
fn copying_a_file_to_the_output_is_not_reported() {
    for tier in tiers().into_iter().filter(|tier| tier.namespaces) {
        let policy = Policy::program().scratch(1 << 20).limits(|limits| limits.file_size = Some(1 << 20));
        let observed = observe(exactly(policy, tier), "attempts", &["copy", "/scratch/file"]);
        assert!(observed.stdout.starts_with("done copied\n"), "{tier}: {}", observed.stdout);
        assert_eq!(observed.evidence, Evidence::default(), "{tier}");
    }
}

/// A separate list, so that removing a call from the filter fails the test.
const FATAL: &[&str] = &[
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "move_mount",
    "open_tree",
    "mount_setattr",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "swapon",
    "swapoff",
    "acct",
    "bpf",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "userfaultfd",
    "perf_event_open",
    "keyctl",
    "add_key",
    "request_key",
    "fanotify_init",
    "open_by_handle_at",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "syslog",
    "settimeofday",
    "clock_settime",
    #[cfg(target_arch = "x86_64")]
    "iopl",
    #[cfg(target_arch = "x86_64")]
    "ioperm",
    #[cfg(target_arch = "x86_64")]
    "modify_ldt",
    "personality",
];

#[test]
fn a_fatal_call_is_reported_and_is_the_last_one() {
    for name in FATAL {
        let number = number(name);
        let argument = number.to_string();
        let observed = observe(Policy::program(), "escape", &["raw", &argument]);
        assert_eq!((observed.signal, observed.stdout.as_str()), (Some(SIGSYS), ""), "{name}");
        if observed.has_listener {
            assert_eq!(observed.evidence.fatal, Some(number), "{name}");
            assert!(observed.evidence.refused.contains(&number), "{name}");
        }
        let observed = observe(Policy::compiler(), "escape", &["raw", &argument]);
        assert!(observed.stdout.starts_with(&format!("errno {EPERM} ")), "{name}: {}", observed.stdout);
    }
}

/// The supervisor learns of the exec and of the first refused call at about the same time.
#[test]
fn a_fatal_first_call_is_not_a_failed_start() {
    let number = number("ptrace").to_string();
    let tiers = tiers();
    for turn in 0..200 {
        let observed =
            observe(exactly(Policy::program(), tiers[turn % tiers.len()]), "escape", &["raw", &number]);
        assert_eq!((observed.signal, observed.stdout.as_str()), (Some(SIGSYS), ""));
    }
}

#[test]
fn floods_of_refused_calls_are_answered() {
    for tier in tiers() {
        let observed = observe(exactly(Policy::program(), tier), "escape", &["insist", "5000"]);
        assert_eq!(observed.stdout.trim(), "done 20000", "{tier}");
        if observed.has_listener {
            assert_eq!(observed.evidence.refused.iter().copied().collect::<Vec<_>>(), [number("socket")]);
        }
    }
}

/// Set if this process runs under another listener.
const UNDER_LISTENER: &str = "SANDBOX_TEST_UNDER_A_LISTENER";

/// As in a container whose manager listens: a second listener is impossible, so the filters refuse the calls
/// themselves.
#[test]
fn calls_are_refused_the_same_under_another_listener() {
    if std::env::var_os(UNDER_LISTENER).is_none() {
        let mut own = std::process::Command::new(std::env::current_exe().unwrap());
        own.args(["--exact", "calls_are_refused_the_same_under_another_listener"]).env(UNDER_LISTENER, "");
        let output = own.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        return;
    }
    listen_to_nothing();
    let ptrace = number("ptrace").to_string();
    for tier in tiers() {
        let observed = observe(exactly(Policy::program(), tier), "attempts", &["read", "/etc/passwd"]);
        assert!(observed.stdout.starts_with("errno 1 "), "{}", observed.stdout);
        assert!(!observed.has_listener && observed.evidence == Evidence::default(), "{tier}");
        let observed = observe(exactly(Policy::program(), tier), "escape", &["raw", &ptrace]);
        assert_eq!((observed.signal, observed.stdout.as_str()), (Some(SIGSYS), ""), "{tier}");
        assert_eq!(observed.evidence, Evidence::default(), "{tier}");
    }
}

/// Puts this thread and its descendants under a filter that allows everything and has a listener.
#[allow(unsafe_code, reason = "installs a filter, which has no safe function")]
fn listen_to_nothing() {
    let mut filter = [libc::sock_filter { code: 6, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW }];
    let program = libc::sock_fprog { len: 1, filter: filter.as_mut_ptr() };
    // SAFETY: the kernel reads the program, which outlives the call; the descriptor stays open as long as this process.
    let listener = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    assert!(listener >= 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn all_tests_pass_for_an_ordinary_user() {
    common::again_as_an_ordinary_user("all_tests_pass_for_an_ordinary_user", &["attempts", "escape"]);
}
