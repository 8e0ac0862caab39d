//! Tests each system call added to Linux since 4.18, by number: under every policy and tier and through every
//! kernel entry, it is refused or is in a list with the reason why it is allowed.
//!
//! The numbers extend beyond the newest kernel's, so a call of a later kernel is refused before anyone
//! reviews it. Older calls are tried by name in `program.rs`, `compiler.rs` and `escape/`.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod common;
#[path = "programs/numbers.rs"]
mod numbers;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use common::{EPERM, SIGSYS, compiled, exactly, finish, sandbox, tiers};
use sandbox::{Access, Command, Layers, Policy, system_call_name};

/// From the first number since Linux 4.18, to one that Linux 6.18 does not use. Newer calls have the same number on all
/// architectures.
const NUMBERS: RangeInclusive<u32> = if cfg!(target_arch = "aarch64") { 294..=470 } else { 335..=470 };

const ENOSYS: i32 = 38;

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// With this error number, or 0 if it worked.
    Answered(i32),
    /// With this signal.
    Killed(i32),
}

impl Ending {
    /// Whether a filter refused it: EPERM, ENOSYS, or SIGSYS.
    fn is_refused(self) -> bool {
        matches!(self, Self::Answered(EPERM | ENOSYS) | Self::Killed(SIGSYS))
    }
}

/// A call that reaches the kernel, and the reason why it may.
type Allowed = (u32, &'static str);

/// Calls that the kernel exempts from filters, on x86_64: from 6.11 and 6.18 on, these two. They end the process or fail, unless
/// they come from code that the kernel itself has inserted for a probe.
const EXEMPT: &[Allowed] = &[
    #[cfg(target_arch = "x86_64")]
    (335, "uretprobe: exempt"),
    #[cfg(target_arch = "x86_64")]
    (336, "uprobe: exempt"),
];

const PROGRAM: &[Allowed] = &[(441, "epoll_pwait2: waits for its own descriptors")];

const PROGRAM_WITH_PATHS: &[Allowed] =
    &[PROGRAM[0], (439, "faccessat2: checks paths; only granted ones exist")];

const COMPILER: &[Allowed] = &[
    (434, "pidfd_open: a descriptor to wait for a process; other uses of it are refused"),
    (436, "close_range: closes its own descriptors"),
    (439, "faccessat2: like access, which builds need"),
    (441, "epoll_pwait2: waits for its own descriptors"),
    (444, "landlock_create_ruleset: with these three a process restricts itself further"),
    (445, "landlock_add_rule"),
    (446, "landlock_restrict_self"),
    (449, "futex_waitv: waits on its own memory"),
    (450, "set_mempolicy_home_node: places its own memory"),
    (453, "map_shadow_stack: protects its own stack"),
    (454, "futex_wake: its own memory, like futex"),
    (455, "futex_wait"),
    (456, "futex_requeue"),
    (462, "mseal: locks its own mappings"),
];

/// Makes the calls in as many processes as needed. After a call that kills the process, the next process
/// continues with the next number.
fn make(run: impl Fn([String; 3]) -> common::Output, entry: &str) -> BTreeMap<u32, Ending> {
    let mut endings = BTreeMap::new();
    let mut first = *NUMBERS.start();
    while NUMBERS.contains(&first) {
        let output = run([entry.to_owned(), first.to_string(), NUMBERS.end().to_string()]);
        for line in output.stdout.lines() {
            let (number, errno) = line.split_once(' ').unwrap();
            first = number.parse::<u32>().unwrap() + 1;
            endings.insert(first - 1, Ending::Answered(errno.parse().unwrap()));
        }
        match output.signal() {
            Some(signal) => endings.insert(first, Ending::Killed(signal)),
            None => break,
        };
        first += 1;
    }
    assert!(NUMBERS.eq(endings.keys().copied()), "{endings:?}");
    endings
}

fn plain(arguments: [String; 3]) -> common::Output {
    let output = std::process::Command::new(compiled("calls")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    common::Output { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn confined(policy: &Policy, tier: Layers, entry: &str) -> BTreeMap<u32, Ending> {
    let policy = exactly(policy.clone(), tier);
    make(
        |arguments: [String; 3]| {
            finish(sandbox(policy.clone()).spawn(Command::new(compiled("calls")).args(arguments)).unwrap())
        },
        entry,
    )
}

/// The policies, with the calls that may reach the kernel under each.
fn policies(tier: Layers) -> Vec<(&'static str, Policy, &'static [Allowed])> {
    let mut policies = vec![
        ("program", Policy::program(), PROGRAM),
        ("compiler", Policy::compiler(), COMPILER),
        ("build", Policy::build(), COMPILER),
    ];
    let server = Policy::server().grant(compiled("calls"), Access::ReadExecute);
    policies.push(("server", server, COMPILER));
    if tier.namespaces {
        policies.push(("program with paths", Policy::program().scratch(1 << 20), PROGRAM_WITH_PATHS));
    }
    policies
}

#[test]
fn every_call_since_linux_4_18_is_refused_or_allowed_for_a_reason() {
    let known = make(plain, "native");
    // If all calls failed without a sandbox too, the test would prove nothing.
    assert!(
        known.keys().filter(|number| known[*number] != Ending::Answered(ENOSYS)).count() > 20,
        "{known:?}"
    );
    let mut wrong = Vec::new();
    for tier in tiers() {
        for (name, policy, allowed) in policies(tier) {
            for (number, ending) in confined(&policy, tier, "native") {
                let is_allowed = allowed.iter().any(|(other, _)| *other == number);
                let is_exempt = EXEMPT.iter().any(|(other, _)| *other == number);
                let is_unchanged = ending == known[&number];
                let fits = match (is_allowed, is_exempt) {
                    // A listed call must not be refused by the filter.
                    (true, _) => is_unchanged || !ending.is_refused(),
                    (_, true) => is_unchanged || ending.is_refused(),
                    _ => ending.is_refused(),
                };
                if !fits {
                    let plain = known[&number];
                    wrong.push(format!(
                        "{tier}, {name}: {number} {ending:?}, but {plain:?} without a sandbox"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_numbers_of_the_programs_are_those_of_the_kernel() {
    for (name, number) in numbers::ALL {
        let number = u32::try_from(*number).unwrap();
        assert_eq!(system_call_name(number), Some(name.to_lowercase().as_str()));
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_through_the_32_bit_entry_or_x32_numbers_are_killed() {
    let output = plain(["i386".to_owned(), "20".to_owned(), "20".to_owned()]);
    // `getpid` of i386, if the kernel has that entry.
    let has_entry = output.stdout == "20 0\n";
    assert!(has_entry || std::env::var_os(common::REQUIRE_ALL).is_none(), "{output:?}");
    let mut wrong = Vec::new();
    for tier in tiers() {
        // Each call ends a process. Build and path policies have the same filter for entries, so they are
        // skipped.
        for (name, policy, _) in policies(tier).into_iter().take(2) {
            for entry in ["i386", "x32"].into_iter().filter(|entry| has_entry || *entry == "x32") {
                let endings = confined(&policy, tier, entry);
                let others = endings.iter().filter(|(_, ending)| **ending != Ending::Killed(SIGSYS));
                wrong.extend(
                    others.map(|(call, ending)| format!("{tier}, {name}, {entry}: {call} {ending:?}")),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Only as root, which can switch to another user. The kernel entries are the same for all users.
#[test]
fn calls_of_an_ordinary_user_are_refused_or_allowed_for_a_reason() {
    let Some((mut host, _folder)) = common::as_an_ordinary_user(&["calls"]) else { return };
    host.args(["--exact", "every_call_since_linux_4_18_is_refused_or_allowed_for_a_reason"]);
    let output = host.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
