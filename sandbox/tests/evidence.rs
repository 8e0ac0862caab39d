//! What a program was refused is known afterwards, by the kernel's word, and nothing gets lost or made up on the way.
//!
//! Leaves what is refused to the escape tests.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod common;

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;

use common::{EPERM, SIGSYS, compiled, exactly, sandbox, tiers};
use sandbox::{Command, Evidence, Policy, system_call_name};

/// How an attempt ended, what it said, and what it met with.
struct Met {
    signal: Option<i32>,
    said: String,
    evidence: Evidence,
    is_told: bool,
}

fn meet(policy: Policy, program: &str, arguments: &[&str]) -> Met {
    let mut child = sandbox(policy).spawn(Command::new(compiled(program)).args(arguments)).unwrap();
    let mut said = String::new();
    File::from(child.take_stdout().unwrap()).read_to_string(&mut said).unwrap();
    assert_eq!(*child.evidence(), Evidence::default(), "nothing is known before the end");
    let status = child.wait().unwrap();
    let is_told = child.report().layers.iter().any(|layer| layer == "seccomp-notify");
    let evidence = child.evidence().clone();
    assert_eq!(evidence, *child.evidence(), "the same when asked again");
    Met { signal: status.signal(), said, evidence, is_told }
}

/// Numbers by the kernel's names.
fn number(name: &str) -> u32 {
    (0..512)
        .find(|number| system_call_name(*number) == Some(name))
        .unwrap_or_else(|| panic!("no call is {name}"))
}

#[test]
fn what_was_refused_is_known() {
    for tier in tiers() {
        let met = meet(exactly(Policy::program(), tier), "attempts", &["read", "/etc/passwd"]);
        assert!(met.said.starts_with("errno 1 "), "{}", met.said);
        assert_eq!((met.signal, met.evidence.fatal), (None, None));
        if met.is_told {
            let names: Vec<_> =
                met.evidence.refused.iter().filter_map(|number| system_call_name(*number)).collect();
            assert_eq!(names, ["open"], "{tier}");
        }
    }
}

#[test]
fn what_was_not_tried_is_not_reported() {
    for tier in tiers() {
        for policy in [Policy::program(), Policy::compiler()] {
            let met = meet(exactly(policy, tier), "attempts", &["nothing"]);
            assert_eq!(
                met.evidence,
                Evidence::default(),
                "{tier}: neither the canary's attempt nor any other"
            );
        }
        let met = meet(exactly(Policy::compiler(), tier), "attempts", &["tcp", "127.0.0.1:1"]);
        assert!(met.evidence.refused.is_empty(), "a compiler's filter tells nothing");
    }
}

/// A list of its own, so that one that is taken from the filter is missed here.
const FATAL: [&str; 46] = [
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
    "iopl",
    "ioperm",
    "modify_ldt",
    "personality",
];

#[test]
fn a_call_that_ends_a_program_is_named_and_the_last_thing_it_does() {
    for name in FATAL {
        let number = number(name);
        let argument = number.to_string();
        let met = meet(Policy::program(), "escape", &["raw", &argument]);
        assert_eq!((met.signal, met.said.as_str()), (Some(SIGSYS), ""), "{name}");
        if met.is_told {
            assert_eq!(met.evidence.fatal, Some(number), "{name}");
            assert!(met.evidence.refused.contains(&number), "{name}");
        }
        let met = meet(Policy::compiler(), "escape", &["raw", &argument]);
        assert!(met.said.starts_with(&format!("errno {EPERM} ")), "{name}: {}", met.said);
    }
}

/// The supervisor hears of the exec and of the first refused call at about the same time.
#[test]
fn the_first_call_is_not_taken_for_a_failure_to_start() {
    let number = number("ptrace").to_string();
    let tiers = tiers();
    for turn in 0..200 {
        let met = meet(exactly(Policy::program(), tiers[turn % tiers.len()]), "escape", &["raw", &number]);
        assert_eq!((met.signal, met.said.as_str()), (Some(SIGSYS), ""));
    }
}

#[test]
fn a_flood_of_refused_calls_is_answered() {
    for tier in tiers() {
        let met = meet(exactly(Policy::program(), tier), "escape", &["insist", "5000"]);
        assert_eq!(met.said.trim(), "done 20000", "{tier}");
        if met.is_told {
            assert_eq!(met.evidence.refused.iter().copied().collect::<Vec<_>>(), [number("socket")]);
        }
    }
}

/// Set where this process is the one beneath a listener.
const BENEATH: &str = "SANDBOX_TEST_BENEATH_A_LISTENER";

/// As in a container whose manager listens: there can be no second listener, and the filters refuse by themselves.
#[test]
fn beneath_another_listener_the_same_is_refused() {
    if std::env::var_os(BENEATH).is_none() {
        let mut own = std::process::Command::new(std::env::current_exe().unwrap());
        own.args(["--exact", "beneath_another_listener_the_same_is_refused"]).env(BENEATH, "");
        let output = own.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        return;
    }
    listen_to_nothing();
    let ptrace = number("ptrace").to_string();
    for tier in tiers() {
        let met = meet(exactly(Policy::program(), tier), "attempts", &["read", "/etc/passwd"]);
        assert!(met.said.starts_with("errno 1 "), "{}", met.said);
        assert!(!met.is_told && met.evidence == Evidence::default(), "{tier}");
        let met = meet(exactly(Policy::program(), tier), "escape", &["raw", &ptrace]);
        assert_eq!((met.signal, met.said.as_str()), (Some(SIGSYS), ""), "{tier}");
        assert_eq!(met.evidence, Evidence::default(), "{tier}");
    }
}

/// Puts this thread, and all that it starts, under a filter that allows everything and has a listener.
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
fn all_of_it_holds_for_an_ordinary_user() {
    common::again_as_an_ordinary_user("all_of_it_holds_for_an_ordinary_user", &["attempts", "escape"]);
}
