//! A helper that was started ahead confines a program like any other helper.
//!
//! The tests of this file share the one helper that waits, so they take turns.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{
    attempts, compiled, copy_program, descendants, ends, exactly, finish, helper, in_memory, sandbox, tiers,
};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use sandbox::{Child, Command, Layers, Policy, SpawnError, end_waiting_helper};

static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    end_waiting_helper();
    turn
}

/// A command as programs are executed: by a descriptor.
fn command() -> Command {
    Command::new(attempts()).image(in_memory(attempts()))
}

/// The processes that this one has started.
fn children() -> Vec<u32> {
    descendants(std::process::id()).iter().map(|process| process.id).collect()
}

#[test]
fn the_next_program_uses_the_waiting_helper_and_has_the_same_layers() {
    let _turn = turn();
    for tier in tiers() {
        let sandbox = sandbox(exactly(Policy::program(), tier));
        let command = || command().args(["arguments", "a b\u{e4}"]);
        let before = sandbox.spawn(command()).unwrap();
        let report = before.report().clone();
        let before = finish(before);
        sandbox.start_helper_ahead().unwrap();
        sandbox.start_helper_ahead().unwrap();
        let waiting = children();
        assert_eq!(waiting.len(), 1, "one helper waits");
        let child = sandbox.spawn(command()).unwrap();
        assert_eq!(child.id(), waiting[0]);
        assert_eq!(child.report(), &report);
        let after = finish(child);
        assert_eq!((after.detail(), after.status), (before.detail(), before.status));
        assert_eq!(after.detail(), "a b\u{e4} 0");
        assert!(children().is_empty(), "{:?}", children());
    }
}

#[test]
fn a_waiting_helper_has_left_the_namespaces_that_no_policy_needs() {
    let _turn = turn();
    if !tiers().contains(&Layers::FULL) {
        return;
    }
    sandbox(exactly(Policy::program(), Layers::FULL)).start_helper_ahead().unwrap();
    let waiting = children()[0];
    // The last one has a name only after a fork.
    let namespace = |process: &str, kind: &str| std::fs::read_link(format!("/proc/{process}/ns/{kind}")).ok();
    let has_left = |kind: &&str| namespace(&waiting.to_string(), kind) != namespace("self", kind);
    // It leaves them one after the other, this one last.
    let deadline = Instant::now() + Duration::from_secs(10);
    while !has_left(&"uts") && Instant::now() < deadline {
        sleep(Duration::from_millis(5));
    }
    let left: Vec<&str> = ["user", "net", "ipc", "uts", "mnt", "cgroup", "pid_for_children"]
        .into_iter()
        .filter(has_left)
        .collect();
    assert_eq!(left, ["user", "net", "ipc", "uts", "pid_for_children"]);
    end_waiting_helper();
}

#[test]
fn a_helper_without_the_rights_of_the_host_opens_no_files() {
    let _turn = turn();
    if !tiers().contains(&Layers::FULL) {
        return;
    }
    let sandbox = sandbox(exactly(Policy::program(), Layers::FULL));
    sandbox.start_helper_ahead().unwrap();
    let waiting = children()[0];
    let child = sandbox.spawn(Command::new(attempts()).arg("nothing")).unwrap();
    assert_ne!(child.id(), waiting);
    assert!(finish(child).is_done());
    let lower = common::sandbox(exactly(Policy::program(), Layers { namespaces: false, ..Layers::FULL }));
    let child = lower.spawn(command().arg("nothing")).unwrap();
    assert_ne!(child.id(), waiting);
    assert!(finish(child).is_done());
    end_waiting_helper();
}

#[test]
fn a_program_starts_without_a_helper_that_was_killed() {
    let _turn = turn();
    let sandbox = sandbox(Policy::program());
    sandbox.start_helper_ahead().unwrap();
    let waiting = Pid::from_raw(i32::try_from(children()[0]).unwrap()).unwrap();
    let pidfd = pidfd_open(waiting, PidfdFlags::empty()).unwrap();
    kill_process(waiting, Signal::KILL).unwrap();
    assert!(ends(std::os::fd::AsFd::as_fd(&pidfd)));
    assert!(finish(sandbox.spawn(command().arg("nothing")).unwrap()).is_done());
}

/// Spawns a command with a waiting helper that ends as `name` says; returns the waiting helper, and the child.
fn spawned_with(name: &str) -> (u32, Result<Child, SpawnError>) {
    let folder = tempfile::tempdir().unwrap();
    copy_program(&helper(), &folder.path().join("helper"));
    copy_program(&compiled("ends_ahead"), &folder.path().join(name));
    let sandbox = sandbox(Policy::program()).helper(folder.path().join(name));
    sandbox.start_helper_ahead().unwrap();
    let waiting = children()[0];
    (waiting, sandbox.spawn(command().args(["arguments", "a"])))
}

/// It is alive when it is chosen, and has not read its whole policy when it ends, so it has executed nothing.
#[test]
fn a_program_gets_another_helper_if_the_waiting_one_ends_before_its_policy_arrives() {
    let _turn = turn();
    for name in ["ends-before-it-reads", "ends-while-it-reads"] {
        let (waiting, child) = spawned_with(name);
        let child = child.unwrap();
        assert_ne!(child.id(), waiting, "{name}");
        assert_eq!(finish(child).detail(), "a 0", "{name}");
        assert!(children().is_empty(), "{name}: {:?}", children());
    }
}

/// It could have executed the program.
#[test]
fn a_program_does_not_start_again_after_its_helper_has_read_the_policy() {
    let _turn = turn();
    let (_, child) = spawned_with("ends-after-it-has-read");
    assert!(matches!(child, Err(SpawnError::HelperEnded(_))), "{child:?}");
    assert!(children().is_empty(), "{:?}", children());
}

#[test]
fn a_waiting_helper_can_be_ended() {
    let _turn = turn();
    sandbox(Policy::program()).start_helper_ahead().unwrap();
    assert_eq!(children().len(), 1);
    end_waiting_helper();
    assert!(children().is_empty(), "{:?}", children());
}

#[test]
fn compilers_have_their_own_helpers() {
    let _turn = turn();
    let sandbox = sandbox(Policy::program());
    sandbox.start_helper_ahead().unwrap();
    let waiting = children()[0];
    let compiler = common::sandbox(Policy::compiler().grant(attempts(), sandbox::Access::ReadExecute));
    let child = compiler.spawn(Command::new(attempts()).arg("nothing")).unwrap();
    assert_ne!(child.id(), waiting);
    finish(child);
    end_waiting_helper();
}
