//! The filters as the kernel runs them: tables of calls with their arguments, and what becomes of each.

mod applied;
mod compiler;
mod lists;
mod program;
mod search;
mod server;

use super::compiler as compiler_filters;
use super::filters::{Context, Deciding, Filters};
use super::{BpfProgram, Step, not_compiled, program as program_filters, rules, server as server_filters};

/// AUDIT_ARCH_AARCH64 or AUDIT_ARCH_X86_64 (linux/audit.h).
const NATIVE: u32 = if cfg!(target_arch = "aarch64") { 0xc000_00b7 } else { 0xc000_003e };

/// The 32-bit interface of the same processor: AUDIT_ARCH_ARM or AUDIT_ARCH_I386.
const OF_32_BITS: u32 = if cfg!(target_arch = "aarch64") { 0x4000_0028 } else { 0x4000_0003 };

const PROCESS: u64 = 100;
const DESCRIPTOR: u64 = 7;
const PATH: u64 = 0x2000;
const CHANNEL: u64 = 9;

/// The last system call that the lists consider, `mseal`.
const NEWEST: i64 = 462;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Allowed,
    Refused(i32),
    /// The supervisor is notified.
    Notified,
    Killed,
}
use Verdict::{Allowed, Killed, Notified, Refused};

/// A call with its arguments; further arguments are 0.
type Call<'a> = (i64, &'a [u64]);

/// Returns the value that a filter returns for a call (seccomp(2), "struct seccomp_data").
fn returned(filter: &BpfProgram, arch: u32, (number, arguments): Call<'_>) -> u32 {
    let mut data = [0; 16];
    data[0] = number as u32;
    data[1] = arch;
    for (at, argument) in arguments.iter().enumerate() {
        data[4 + 2 * at] = *argument as u32;
        data[5 + 2 * at] = (*argument >> 32) as u32;
    }
    let (mut at, mut accumulator) = (0, 0);
    loop {
        let instruction = &filter[at];
        let k = instruction.k;
        let jump = |holds| usize::from(if holds { instruction.jt } else { instruction.jf });
        at += 1;
        match u32::from(instruction.code) {
            code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => accumulator = data[k as usize / 4],
            code if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => accumulator &= k,
            code if code == libc::BPF_JMP | libc::BPF_JA => at += k as usize,
            code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => at += jump(accumulator == k),
            code if code == libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K => at += jump(accumulator > k),
            code if code == libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K => at += jump(accumulator >= k),
            code if code == libc::BPF_RET | libc::BPF_K => return k,
            other => panic!("no filter has the instruction {other:#x}"),
        }
    }
}

/// The strictest result of the filters: the smallest action as a signed number, as in the kernel.
fn verdict_of(filters: &[&BpfProgram], arch: u32, call: Call<'_>) -> Verdict {
    let results = filters.iter().map(|filter| returned(filter, arch, call));
    let strictest =
        results.min_by_key(|result| (*result & libc::SECCOMP_RET_ACTION_FULL).cast_signed()).unwrap();
    match strictest & libc::SECCOMP_RET_ACTION_FULL {
        libc::SECCOMP_RET_ALLOW => Allowed,
        libc::SECCOMP_RET_ERRNO => Refused((strictest & libc::SECCOMP_RET_DATA).cast_signed()),
        libc::SECCOMP_RET_USER_NOTIF => Notified,
        libc::SECCOMP_RET_KILL_PROCESS => Killed,
        other => panic!("no filter has the action {other:#x}"),
    }
}

fn context(signals_scoped: bool, has_paths: bool) -> Context {
    Context {
        process: PROCESS as u32,
        exec_descriptor: DESCRIPTOR as i32,
        exec_path: PATH,
        channel: CHANNEL as i32,
        signals_scoped,
        has_paths,
    }
}

/// Returns the verdict on a call under all filters of a child, whose listener has been sent.
fn verdict(filters: &Filters, call: Call<'_>) -> Verdict {
    let mut all = vec![&filters.common];
    match &filters.deciding {
        Deciding::Silent(deciding) => all.extend(deciding),
        Deciding::Notifying { filter, after, .. } | Deciding::Recording { filter, after } => {
            all.extend([filter, after]);
        }
    }
    verdict_of(&all, NATIVE, call)
}

fn assert_all(filters: &Filters, expected: Verdict, calls: &[Call<'_>]) {
    for call in calls {
        assert_eq!(verdict(filters, *call), expected, "{call:?}");
    }
}

const fn flags(flags: i32) -> u64 {
    flags as u32 as u64
}

/// A constant whose type differs between C libraries.
fn number(constant: impl TryInto<u64>) -> u64 {
    constant.try_into().ok().expect("it is not negative")
}

const HIGH: u64 = 1 << 32;
const SET_UID: u64 = 0o4644;
const SET_GID: u64 = 0o2755;

#[test]
fn unknown_calls_are_refused_and_other_interfaces_kill() {
    const X32_BIT: i64 = 0x4000_0000;
    let all = [
        (program_filters::filters(context(true, true)).unwrap(), Notified),
        (compiler_filters::filters(&context(true, false), true).unwrap(), Allowed),
        (compiler_filters::filters(&context(true, false), false).unwrap(), Allowed),
        (server_filters::filters(&context(true, false), server::FULL, false).unwrap(), Allowed),
        (server_filters::filters(&context(true, false), server::FULL, true).unwrap(), Allowed),
    ];
    for (filters, newest) in all {
        assert_eq!(verdict(&filters, (NEWEST, &[])), newest);
        assert_eq!(verdict(&filters, (NEWEST + 1, &[])), Refused(libc::ENOSYS));
        assert_eq!(verdict(&filters, (X32_BIT - 1, &[])), Refused(libc::ENOSYS));
        // Only x86_64 has this interface. For others, these are calls that no kernel has.
        let of_x32 = if cfg!(target_arch = "x86_64") { Killed } else { Refused(libc::ENOSYS) };
        assert_eq!(verdict(&filters, (X32_BIT, &[])), of_x32);
        assert_eq!(verdict(&filters, (X32_BIT + libc::SYS_read, &[])), of_x32);
        assert_eq!(verdict(&filters, (libc::SYS_clone3, &[])), Refused(libc::ENOSYS));
        let deciding = match &filters.deciding {
            Deciding::Silent(filters) => &filters[0],
            Deciding::Notifying { filter, .. } | Deciding::Recording { filter, .. } => filter,
        };
        assert_eq!(verdict_of(&[deciding], OF_32_BITS, (libc::SYS_read, &[])), Killed);
    }
}

#[test]
fn a_filter_that_does_not_compile_is_a_failure_of_its_step() {
    let error = rules::int(6, seccompiler::SeccompCmpOp::Eq, 0).unwrap_err();
    let failure = not_compiled(&error);
    assert_eq!(failure.step, Step::Seccomp);
}
