//! The system calls that Linux got since 4.18, by number: each one, under every policy and tier and by every way into the
//! kernel, is refused or is in a list with the reason why it is not.
//!
//! The numbers end behind the newest kernel's, so a call that a later kernel brings is refused before anybody knows it.
//! What older calls must not do is tried by name in `program.rs`, `compiler.rs` and `escape/`.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod common;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use common::{EPERM, SIGSYS, compiled, exactly, finish, sandbox, tiers};
use sandbox::{Command, Layers, Policy};

/// From the first number after the first unbroken row, up to one that Linux 6.18 does not have.
const NUMBERS: RangeInclusive<u32> = 335..=470;

const ENOSYS: i32 = 38;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// With this error number; 0 if it worked.
    Answered(i32),
    /// With this signal.
    Killed(i32),
}

impl Ending {
    /// By a filter: refused, unknown, or the end of the process.
    fn is_refused(self) -> bool {
        matches!(self, Self::Answered(EPERM | ENOSYS) | Self::Killed(SIGSYS))
    }
}

/// A call that reaches the kernel, and why it may.
type Allowed = (u32, &'static str);

/// From 6.11 and 6.18 on the kernel lets these two by any filter. They end the process or fail where they don't come from
/// the code that the kernel itself has put into it for a probe.
const EXEMPT: [Allowed; 2] = [(335, "uretprobe: exempt"), (336, "uprobe: exempt")];

const PROGRAM: &[Allowed] = &[(441, "epoll_pwait2: waits for descriptors that it has")];

const PROGRAM_WITH_PATHS: &[Allowed] =
    &[PROGRAM[0], (439, "faccessat2: asks about paths, of which there are only granted ones")];

const COMPILER: &[Allowed] = &[
    (434, "pidfd_open: a descriptor to wait with; everything that does more with one is refused"),
    (436, "close_range: closes what it has"),
    (439, "faccessat2: as access, which builds need"),
    (441, "epoll_pwait2: waits for descriptors that it has"),
    (444, "landlock_create_ruleset: with these three a process restricts itself further"),
    (445, "landlock_add_rule"),
    (446, "landlock_restrict_self"),
    (449, "futex_waitv: waits on its own memory"),
    (450, "set_mempolicy_home_node: places its own memory"),
    (453, "map_shadow_stack: protects its own stack"),
    (454, "futex_wake: its own memory, as futex"),
    (455, "futex_wait"),
    (456, "futex_requeue"),
    (462, "mseal: locks its own mappings"),
];

/// Makes the calls in as many processes as it takes: one that is killed goes on in the next with the number after.
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
    let run = |arguments: [String; 3]| {
        finish(sandbox(policy.clone()).spawn(Command::new(compiled("calls")).args(arguments)).unwrap())
    };
    make(run, entry)
}

/// The policies with what may reach the kernel under each.
fn policies(tier: Layers) -> Vec<(&'static str, Policy, &'static [Allowed])> {
    let mut policies = vec![
        ("program", Policy::program(), PROGRAM),
        ("compiler", Policy::compiler(), COMPILER),
        ("build", Policy::build(), COMPILER),
    ];
    if tier.namespaces {
        policies.push(("program with paths", Policy::program().scratch(1 << 20), PROGRAM_WITH_PATHS));
    }
    policies
}

#[test]
fn every_call_since_linux_4_18_is_refused_or_allowed_for_a_reason() {
    let known = make(plain, "native");
    let is_known = |number: u32| known[&number] != Ending::Answered(ENOSYS);
    // Where they all fail without a sandbox as well, nothing is shown.
    assert!(known.keys().filter(|number| is_known(**number)).count() > 20, "{known:?}");
    let mut wrong = Vec::new();
    for tier in tiers() {
        for (name, policy, allowed) in policies(tier) {
            for (number, ending) in confined(&policy, tier, "native") {
                let is_allowed = allowed.iter().any(|(other, _)| *other == number);
                let is_exempt = EXEMPT.iter().any(|(other, _)| *other == number);
                let is_answered_as_before = ending == known[&number];
                let fits = match (is_allowed, is_exempt) {
                    // A list that allows more than the filter would be no list.
                    (true, _) => is_answered_as_before || !ending.is_refused(),
                    (_, true) => is_answered_as_before || ending.is_refused(),
                    _ => ending.is_refused(),
                };
                if !fits {
                    let plain = known[&number];
                    wrong.push(format!("{tier}, {name}: {number} {ending:?}, and {plain:?} without"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_call_comes_in_by_the_32_bit_entry_or_the_x32_numbers() {
    let answers = plain(["i386".to_owned(), "20".to_owned(), "20".to_owned()]);
    // `getpid` of i386, where the kernel has that entry.
    let has_entry = answers.stdout == "20 0\n";
    assert!(has_entry || std::env::var_os(common::REQUIRE_ALL).is_none(), "{answers:?}");
    let mut wrong = Vec::new();
    for tier in tiers() {
        // Each call ends a process; what a build may do, and with which paths, is no matter of the entry.
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

/// Only where there is another user to be: as root. The ways in are the same for all.
#[test]
fn every_call_is_refused_or_allowed_for_a_reason_to_an_ordinary_user_too() {
    let Some((mut host, _folder)) = common::as_an_ordinary_user(&["calls"]) else { return };
    host.args(["--exact", "every_call_since_linux_4_18_is_refused_or_allowed_for_a_reason"]);
    let output = host.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
