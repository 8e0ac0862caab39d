//! Tests how children share processors, and numbers of processes, with the host and with each other.
//!
//! No time is compared. What is tried are the causes: niceness, limits, and what counts against them.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod common;

use std::fs::{File, read_to_string};
use std::io::{BufRead as _, BufReader};
use std::os::fd::AsFd as _;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{SIGKILL, attempts, compiled, exactly, sandbox, tiers};
use sandbox::{Child, Command, Policy};

fn start(policy: Policy, arguments: &[&str]) -> Child {
    sandbox(policy).spawn(Command::new(compiled("floods")).args(arguments)).unwrap()
}

/// The first line that a child prints, or nothing if it ends before.
fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(File::from(child.take_stdout().unwrap())).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// Waits until a condition holds. Nothing is measured with the time limit.
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(10));
    }
}

/// A field of proc_pid_stat(5), by its number. The third follows the name, which is in parentheses.
fn field(stat: &str, number: usize) -> i64 {
    let text = read_to_string(stat).unwrap();
    let (_, fields) = text.rsplit_once(") ").unwrap();
    fields.split(' ').nth(number - 3).unwrap().parse().unwrap()
}

fn niceness(process: &str) -> i64 {
    field(&format!("/proc/{process}/stat"), 19)
}

/// The niceness of each thread of a child's command: the only one of its processes with several.
fn niceness_of_threads(child: &Child) -> Vec<i64> {
    let tasks = |id: u32| std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let processes = common::descendants(child.id());
    let command = processes.into_iter().max_by_key(|process| tasks(process.id).count()).unwrap().id;
    tasks(command).map(|task| field(&task.path().join("stat").display().to_string(), 19)).collect()
}

#[test]
fn children_and_their_supervisors_yield_to_the_host() {
    let expected = (niceness("self") + 5).min(19);
    for tier in tiers() {
        for policy in [Policy::program(), Policy::compiler(), Policy::build()] {
            let child = sandbox(exactly(policy, tier)).spawn(Command::new(attempts()).arg("wait")).unwrap();
            let below = common::descendants(child.id());
            assert!(!below.is_empty());
            for id in below.iter().map(|process| process.id).chain([child.id()]) {
                assert_eq!(niceness(&id.to_string()), expected, "{tier}: {below:?}");
            }
        }
    }
}

/// Without privileges, the kernel allows one change within 100 ms on the whole machine.
#[test]
fn sessions_yield_to_others_even_if_many_begin_at_once() {
    let policy = Policy::program().limits(|limits| limits.niceness = 7);
    let children: Vec<Child> = (0..4)
        .map(|_| sandbox(policy.clone()).spawn(Command::new(attempts()).arg("wait")).unwrap())
        .collect();
    for child in &children {
        // Kernels without autogroups have no such file.
        let group = || read_to_string(format!("/proc/{}/autogroup", child.id())).ok();
        wait_until("the session yields", || group().is_none_or(|group| group.ends_with(" nice 7\n")));
    }
}

#[test]
fn threads_beyond_the_competing_ones_yield_to_others() {
    let policy = Policy::program().limits(|limits| limits.competing_threads = Some(4));
    let base = (niceness("self") + 5).min(19);
    for tier in tiers() {
        let mut few = start(exactly(policy.clone(), tier), &["threads", "3"]);
        let mut many = start(exactly(policy.clone(), tier), &["threads", "60"]);
        assert_eq!([&mut few, &mut many].map(first_line), ["ready", "ready"], "{tier}");
        wait_until("all of many threads yield", || {
            let all = niceness_of_threads(&many);
            all.len() == 61 && all.iter().all(|niceness| *niceness == (base + 13).min(19))
        });
        assert_eq!(niceness_of_threads(&few), [base; 4], "{tier}");
    }
}

/// Threads without memory of their own, which only take numbers.
#[test]
fn threads_are_limited_for_root_too() {
    let of_machine = || read_to_string("/proc/sys/kernel/pid_max").unwrap();
    let before = of_machine();
    for tier in tiers() {
        let policy = Policy::program().limits(|limits| limits.processes = Some(10));
        let mut child = start(exactly(policy, tier), &["clones", "5000"]);
        let started = first_line(&mut child);
        if matches!(started.parse(), Ok(0..=10)) {
            // The kernel has refused the eleventh.
            child.kill().unwrap();
            assert_eq!(started, "10", "{tier}");
            continue;
        }
        assert!(common::ends(child.as_fd()), "{tier}: {started} threads are left alone");
        let status = child.wait().unwrap();
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&status),
            Some(SIGKILL),
            "{tier}: {started}"
        );
        assert!(child.evidence().out_of_tasks, "{tier}: {started} {:?}", child.evidence());
    }
    assert_eq!(of_machine(), before);
}

/// From this version on, a process namespace has its own limit.
#[test]
fn in_a_namespace_the_kernel_refuses_a_thread_too_many() {
    let release = read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    let has_own = (numbers.next(), numbers.next()) >= (Some(6), Some(14));
    // Containers may show it for reading only. On larger machines, the smallest limit of the kernel is higher.
    let flags = rustix::fs::statvfs("/proc/sys/kernel").unwrap().f_flag;
    let is_writable = !flags.contains(rustix::fs::StatVfsMountFlags::RDONLY);
    let is_small = std::thread::available_parallelism().unwrap().get() <= 32;
    let is_expected = has_own && is_writable && is_small;
    for tier in tiers().into_iter().filter(|tier| tier.namespaces && is_expected) {
        let policy = Policy::program().limits(|limits| limits.processes = Some(10));
        let mut child = start(exactly(policy, tier), &["clones", "5000"]);
        assert_eq!(first_line(&mut child), "10", "{tier}");
    }
}

#[test]
fn refusing_calls_counts_against_the_limit_of_processor_time() {
    for tier in tiers() {
        let policy = Policy::program().limits(|limits| limits.cpu_seconds = Some(5));
        let mut child = start(exactly(policy, tier), &["refused"]);
        if !child.report().layers.iter().any(|layer| layer == "seccomp-notify") {
            // The filter refuses by itself.
            continue;
        }
        let line = first_line(&mut child);
        let own = line.strip_prefix("5 4 ").unwrap_or_else(|| panic!("{tier}: {line:?}"));
        child.wait().unwrap();
        // The program's, and the second by which its limit was lowered.
        let counted = Duration::from_micros(own.parse().unwrap()) + Duration::from_secs(1);
        let reported = child.evidence().processor_time;
        assert!(reported >= counted, "{tier}: {reported:?}, expected at least {counted:?}");
    }
}

#[test]
fn the_limits_apply_to_an_ordinary_user() {
    common::again_as_an_ordinary_user("the_limits_apply_to_an_ordinary_user", &["attempts", "floods"]);
}
