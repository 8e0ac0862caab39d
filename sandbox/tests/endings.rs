//! Ends a thousand children at random moments, and kills helpers while they prepare. No process, mount, file
//! or descriptor remains.
//!
//! The test binary starts itself as their host, so that leftovers can be found. `SANDBOX_TEST_SEED` repeats a
//! run.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]
#![allow(clippy::print_stdout, reason = "the host reports to the test that started it")]

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use common::{Process, attempts, compiled, descendants, ends, exactly, sandbox};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, kill_process, pidfd_open, set_child_subreaper,
    setrlimit, wait,
};
use sandbox::{Access, Command, Layers, Policy};

/// The folder of the host. Its presence makes this process the host.
const ROLE: &str = "SANDBOX_TEST_ENDINGS";
const SEED: &str = "SANDBOX_TEST_SEED";

const CHILDREN: usize = 1000;
const THREADS: usize = 4;

/// A pseudo-random generator, the same for the same seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

#[test]
fn a_thousand_children_leave_nothing() {
    if std::env::var_os(ROLE).is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let seed = std::env::var(SEED).unwrap_or_else(|_| "20250521".to_owned());
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "acts_as_the_host", "--nocapture"])
        .env(ROLE, folder.path())
        .env("TMPDIR", folder.path())
        .env(SEED, &seed)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        stdout.contains("nothing is left"),
        "seed {seed}: {stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert!(files.is_empty(), "{files:?}");
}

/// Does nothing in an ordinary run.
#[test]
fn acts_as_the_host() {
    let Some(folder) = std::env::var_os(ROLE) else { return };
    let seed: u64 = std::env::var(SEED).unwrap().parse().unwrap();
    let folder = PathBuf::from(folder).join("work");
    std::fs::create_dir(&folder).unwrap();
    // Orphans become children of this process, so that it can find them.
    set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    // Created once: the programs, the probe's result, the thread that starts helpers.
    let _ = compiled("files");
    drop(sandbox(Policy::program()).spawn(Command::new(attempts()).arg("nothing")).unwrap());
    let before = State::now();
    // With a process namespace, all processes end with its first process, even if the supervisor is killed.
    // Without, the supervisor must live to end its tree, so only its owner ends it.
    let (tiers, others): (Vec<_>, Vec<_>) = common::tiers().into_iter().partition(|tier| tier.namespaces);
    let share = if tiers.is_empty() || others.is_empty() { CHILDREN } else { CHILDREN / 2 };
    let mut started = 0;
    for (tiers, disturbed) in [(tiers, true), (others, false)] {
        if !tiers.is_empty() {
            started += live_and_end(seed, &folder, &tiers, share, disturbed);
        }
    }
    settle();
    std::fs::remove_dir(&folder).unwrap();
    assert_eq!(State::now(), before);
    println!("\nnothing is left of {started}");
}

/// Enough copies that more are being forked while they are killed.
const COPIES: usize = 60;

/// The limit that protects the machine does not bind root, so root runs this test as another user.
#[test]
fn endless_forks_are_ended() {
    if let Some((mut host, _folder)) = common::as_an_ordinary_user(&["escape"]) {
        let output = host.args(["--exact", "endless_forks_are_ended"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    // Protects the machine if the sandbox fails: a limit of the existing tasks (proc_loadavg(5)) and some
    // hundreds more.
    let loads = std::fs::read_to_string("/proc/loadavg").unwrap();
    let tasks: u64 = loads.split(['/', ' ']).nth(4).unwrap().parse().unwrap();
    let limit = Rlimit { current: Some(tasks + 800), maximum: Some(tasks + 800) };
    setrlimit(Resource::Nproc, limit).unwrap();
    for tier in common::tiers() {
        let policy = Policy::compiler().limits(|limits| limits.processes = Some(COPIES as u64 + 20));
        let command = Command::new(compiled("escape")).arg("fork-endlessly");
        let mut child = sandbox(exactly(policy, tier)).spawn(command).unwrap();
        let mut seen: Vec<Process> = Vec::new();
        while seen.len() < COPIES {
            assert!(child.try_wait().unwrap().is_none(), "{tier}");
            seen = descendants(child.id());
        }
        child.kill().unwrap();
        assert!(ends(std::os::fd::AsFd::as_fd(&child)), "{tier}");
        child.wait().unwrap();
        for process in seen {
            let pid = i32::try_from(process.id).ok().and_then(Pid::from_raw).unwrap();
            let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            // Its number may belong to another process by now.
            let name = std::fs::read_to_string(format!("/proc/{}/comm", process.id)).unwrap_or_default();
            assert!(name.trim() != "escape" || ends(std::os::fd::AsFd::as_fd(&pidfd)), "{tier}");
        }
    }
}

/// The state that must be the same before and after.
#[derive(Debug, PartialEq, Eq)]
struct State {
    mounts: String,
    descriptors: usize,
    processes: Vec<String>,
    groups: BTreeSet<PathBuf>,
}

impl State {
    fn now() -> Self {
        Self {
            mounts: std::fs::read_to_string("/proc/self/mountinfo").unwrap(),
            descriptors: std::fs::read_dir("/proc/self/fd").unwrap().count(),
            processes: descendants(std::process::id()).into_iter().map(|process| process.name).collect(),
            groups: own_groups(),
        }
    }
}

/// Control groups with this process's number.
fn own_groups() -> BTreeSet<PathBuf> {
    let mine = format!("sandbox-{}-", std::process::id());
    let (mut found, mut folders) = (BTreeSet::new(), vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(&mine) {
                    found.insert(entry.path());
                }
                folders.push(entry.path());
            }
        }
    }
    found
}

/// Waits for killed processes to end, and reaps the orphans among them.
fn settle() {
    loop {
        while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        let left = descendants(std::process::id());
        let Some(one) = left.first() else { return };
        let Some(pid) = i32::try_from(one.id).ok().and_then(Pid::from_raw) else { return };
        if let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) {
            assert!(ends(std::os::fd::AsFd::as_fd(&pidfd)), "left: {left:?}");
        }
    }
}

/// Returns how many of `count` children were started.
fn live_and_end(seed: u64, folder: &Path, tiers: &[Layers], count: usize, disturbed: bool) -> usize {
    let (next, started, over) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let turn = next.fetch_add(1, Ordering::Relaxed);
                        if turn >= count {
                            return;
                        }
                        let random = Random(seed ^ (turn as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                        started.fetch_add(usize::from(one_life(random, folder, tiers)), Ordering::Relaxed);
                    }
                })
            })
            .collect();
        if disturbed {
            scope.spawn(|| disturb(Random(seed | 1), &over));
        }
        let ended: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|ended| ended.unwrap());
    });
    let started = started.into_inner();
    assert!(started > count / 2, "only {started} of {count} were started");
    started
}

/// Occasionally kills a descendant of this process: a helper while it prepares, a supervisor, a first process
/// or a command.
fn disturb(mut random: Random, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let found: Vec<Process> = descendants(std::process::id());
        if found.is_empty() || random.below(3) > 0 {
            std::thread::yield_now();
            continue;
        }
        let chosen = &found[random.below(found.len() as u64) as usize];
        if let Some(pid) = i32::try_from(chosen.id).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Starts a child and ends it. Returns whether it started; its helper may have been killed.
fn one_life(mut random: Random, folder: &Path, tiers: &[Layers]) -> bool {
    let tier = tiers[random.below(tiers.len() as u64) as usize];
    let (policy, command) = kind(&mut random, folder, tier);
    let Ok(mut child) = sandbox(exactly(policy, tier)).spawn(command) else { return false };
    for _ in 0..random.below(40) * random.below(40) {
        std::thread::yield_now();
    }
    match random.below(4) {
        0 => {}
        1 => child.kill().unwrap(),
        2 => {
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(child.evidence().refused.is_empty());
        }
        _ => drop(child.try_wait().unwrap()),
    }
    true
}

fn kind(random: &mut Random, folder: &Path, tier: Layers) -> (Policy, Command) {
    let tree = "(sleep 100 & sleep 100) & while :; do (:); done";
    match random.below(if tier.namespaces { 6 } else { 4 }) {
        0 => (Policy::program(), Command::new(attempts()).arg("wait")),
        1 => (Policy::program(), Command::new(attempts()).arg("nothing")),
        2 => (Policy::compiler(), Command::new(attempts()).arg("fork")),
        3 => {
            let shell = ["/usr", "/lib", "/lib64", "/bin"]
                .into_iter()
                .fold(Policy::build(), |policy, path| policy.grant_if_exists(path, Access::ReadExecute))
                .variable("PATH", "/usr/bin:/bin");
            (shell, Command::new("/bin/sh").args(["-c", tree]))
        }
        4 => {
            let policy = Policy::program().scratch(1 << 20).limits(|limits| limits.file_size = Some(1 << 20));
            (policy, Command::new(compiled("files")).args(["fill", sandbox::SCRATCH, "1000", "8192"]))
        }
        _ => {
            let policy = Policy::program().grant(folder, Access::Read);
            (policy, Command::new(attempts()).arg("wait"))
        }
    }
}
