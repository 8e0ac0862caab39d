//! Attempts that only the host can stop: a program that ignores every signal and waits, and one that writes
//! endlessly. Also attempts on the processes in between: the supervisor, the first process of a namespace,
//! and their descriptors.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;

use sandbox::{Command, Policy};

use crate::common::{SIGKILL, ends, exactly, finish, sandbox, tiers};
use crate::program;

/// Bytes that a host reads before it stops reading.
const ENOUGH: u64 = 4 << 20;

#[test]
fn the_host_can_kill_a_program_that_ignores_signals() {
    for policy in [Policy::program(), Policy::compiler()] {
        for tier in tiers() {
            let command = Command::new(program()).arg("ignore-signals");
            let mut child = sandbox(exactly(policy.clone(), tier)).spawn(command).unwrap();
            let mut ready = [0; 6];
            File::from(child.take_stdout().unwrap()).read_exact(&mut ready).unwrap();
            assert_eq!(&ready, b"ready\n");
            child.kill().unwrap();
            assert!(ends(child.as_fd()), "{tier}");
            assert_eq!(child.wait().unwrap().signal(), Some(SIGKILL), "{tier}");
        }
    }
}

#[test]
fn the_host_can_kill_a_program_that_floods_output() {
    for policy in [Policy::program(), Policy::compiler()] {
        for tier in tiers() {
            let command = Command::new(program()).arg("flood");
            let mut child = sandbox(exactly(policy.clone(), tier)).spawn(command).unwrap();
            let mut output = File::from(child.take_stdout().unwrap());
            let read = std::io::copy(&mut output.by_ref().take(ENOUGH), &mut std::io::sink()).unwrap();
            assert_eq!(read, ENOUGH);
            child.kill().unwrap();
            assert!(ends(child.as_fd()), "{tier}");
            assert_eq!(child.wait().unwrap().signal(), Some(SIGKILL), "{tier}");
        }
    }
}

#[test]
fn parent_processes_are_unreachable() {
    let abi = sandbox(Policy::program()).support().landlock_abi;
    for policy in [Policy::program(), Policy::compiler()] {
        // Without Landlock's signal scopes, `tgkill` reaches other processes of the user. See row 16 of the
        // table.
        for tier in tiers().into_iter().filter(|tier| tier.namespaces || abi >= 6) {
            let command = Command::new(program()).arg("attack-parent");
            let mut child = sandbox(exactly(policy.clone(), tier)).spawn(command).unwrap();
            assert!(ends(child.as_fd()), "{tier}");
            assert_eq!(child.wait().unwrap().code(), Some(7), "{tier}: the supervisor reports how it ended");
        }
    }
}

#[test]
fn only_passed_descriptors_are_inherited() {
    for policy in [Policy::program(), Policy::compiler()] {
        for tier in tiers() {
            let spawn =
                |command: Command| finish(sandbox(exactly(policy.clone(), tier)).spawn(command).unwrap());
            let command = || Command::new(program()).arg("open-descriptors");
            assert_eq!(spawn(command()).detail(), "0 1 2", "{tier}");
            let (_ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
            assert_eq!(spawn(command().broker(theirs)).detail(), "0 1 2 3", "{tier}");
        }
    }
}
