//! The limits of all processes of a child together, where control groups are delegated.
//!
//! Most machines delegate none to the process that runs the tests. There, the same attempts must work, and nothing may
//! claim a group. `tests/platforms/run cgroup-v2` boots a machine that delegates one.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod common;

use std::path::{Path, PathBuf};

use common::{SIGKILL, attempts, exactly, in_memory, read_all, sandbox, tiers};
use sandbox::{Command, Evidence, Policy};

/// Set if groups must be delegated.
const REQUIRED: &str = "SANDBOX_REQUIRE_CONTROL_GROUPS";

const MIB: u64 = 1 << 20;

fn are_delegated() -> bool {
    let support = sandbox(Policy::program()).support();
    let found = support.mechanisms.iter().find(|mechanism| mechanism.name == "control groups").unwrap();
    assert!(found.available || std::env::var_os(REQUIRED).is_none(), "{found:?}");
    found.available
}

/// The groups of this process's children, with their processes.
fn groups() -> Vec<(PathBuf, String)> {
    let prefix = format!("sandbox-{}-", std::process::id());
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                let processes =
                    std::fs::read_to_string(entry.path().join("cgroup.procs")).unwrap_or_default();
                found.push((entry.path(), processes));
            }
            folders.push(entry.path());
        }
    }
    found
}

/// Runs an attempt by path and, as `serve` does, by descriptor in a helper that was started ahead.
fn both_ways(policy: &Policy, name: &str, argument: &str) -> Vec<(common::Output, Evidence)> {
    let sandbox = sandbox(policy.clone());
    let by_path = Command::new(attempts());
    let by_descriptor = Command::new("/image").image(in_memory(attempts()));
    let mut ends = Vec::new();
    for (command, ahead) in [(by_path, false), (by_descriptor, true)] {
        if ahead {
            sandbox.start_helper_ahead().unwrap();
        }
        let mut child = sandbox.spawn(command.args([name, argument])).unwrap();
        let (stdout, stderr) = (read_all(child.take_stdout()), read_all(child.take_stderr()));
        let status = child.wait().unwrap();
        let output =
            common::Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() };
        ends.push((output, child.evidence().clone()));
    }
    ends
}

#[test]
fn each_child_has_a_group_until_its_end() {
    let are_delegated = are_delegated();
    for policy in [Policy::program(), Policy::compiler()] {
        for tier in tiers() {
            let sandbox = sandbox(exactly(policy.clone(), tier));
            let child = sandbox.spawn(Command::new(attempts()).arg("wait")).unwrap();
            let is_reported = child.report().layers.iter().any(|layer| layer == "cgroup");
            assert_eq!(is_reported, are_delegated, "{tier}: {:?}", child.report());
            let id = child.id().to_string();
            let own: Vec<PathBuf> = groups()
                .into_iter()
                .filter(|(_, processes)| processes.lines().any(|process| process == id))
                .map(|(group, _)| group)
                .collect();
            assert_eq!(own.len(), usize::from(are_delegated), "{tier}: {own:?}");
            if let Some(group) = own.first() {
                let processes = std::fs::read_to_string(group.join("cgroup.procs")).unwrap();
                let descendants = common::descendants(child.id());
                assert!(!descendants.is_empty());
                for process in descendants {
                    let is_in = processes.lines().any(|line| line == process.id.to_string());
                    assert!(is_in, "{tier}: {process:?} is not among {processes}");
                }
            }
            drop(child);
            assert!(own.iter().all(|group| !Path::new(group).exists()), "{tier}: {own:?}");
        }
    }
}

#[test]
fn memory_is_limited_together() {
    let are_delegated = are_delegated();
    let bytes = 200 * MIB;
    for tier in tiers() {
        let policy = Policy::program().limits(|limits| {
            limits.address_space = Some(1024 * MIB);
            limits.total_memory = Some(64 * MIB);
        });
        for (output, evidence) in both_ways(&exactly(policy, tier), "memory", &bytes.to_string()) {
            assert_eq!(evidence.out_of_memory, are_delegated, "{tier}: {output:?}");
            assert!(!evidence.out_of_tasks, "{tier}");
            if are_delegated {
                assert_eq!(output.signal(), Some(SIGKILL), "{tier}: {output:?}");
            } else {
                assert_eq!(output.detail(), bytes.to_string(), "{tier}");
            }
        }
    }
}

#[test]
fn tasks_are_limited_together() {
    let are_delegated = are_delegated();
    for tier in tiers() {
        let policy = Policy::program().limits(|limits| limits.total_tasks = Some(12));
        for (output, evidence) in both_ways(&exactly(policy, tier), "threads", "40") {
            let started: u64 = output.detail().parse().unwrap();
            assert_eq!(evidence.out_of_tasks, are_delegated, "{tier}: {output:?}");
            assert!(!evidence.out_of_memory, "{tier}");
            assert_eq!(started < 12, are_delegated, "{tier}: {output:?}");
        }
    }
}

/// The same for a user to whom root has delegated a group.
#[test]
fn the_limits_apply_to_an_ordinary_user() {
    common::again_as_an_ordinary_user("the_limits_apply_to_an_ordinary_user", &["attempts"]);
}
