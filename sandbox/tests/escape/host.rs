//! What only the host stops: a program that ignores every signal and waits, and one that writes without end. And attempts on
//! what stands between: the supervisor, the first process of a namespace, the descriptors that they use.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;

use sandbox::{Command, Policy};

use crate::common::{SIGKILL, ends, exactly, finish, sandbox, tiers};
use crate::program;

/// Bytes after which a host has read enough.
const ENOUGH: u64 = 4 << 20;

#[test]
fn one_that_ignores_signals_ends_when_the_host_wants() {
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
fn a_flood_of_output_ends_when_the_host_wants() {
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
fn what_stands_above_is_out_of_reach() {
    let abi = sandbox(Policy::program()).support().landlock_abi;
    for policy in [Policy::program(), Policy::compiler()] {
        // Before Landlock keeps signals inside, `tgkill` reaches other processes of the user; see the table, 16.
        for tier in tiers().into_iter().filter(|tier| tier.namespaces || abi >= 6) {
            let command = Command::new(program()).arg("strike-parent");
            let mut child = sandbox(exactly(policy.clone(), tier)).spawn(command).unwrap();
            assert!(ends(child.as_fd()), "{tier}");
            assert_eq!(child.wait().unwrap().code(), Some(7), "{tier}: the supervisor says how it ended");
        }
    }
}

#[test]
fn nothing_is_inherited_but_what_is_passed_on() {
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
