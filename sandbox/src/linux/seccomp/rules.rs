//! Rules on system calls and their arguments, and filters made from them: answering, allowing or notifying.

use seccompiler::{BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::search::{self, Built, Rules, instruction};

/// A filter that returns `action` for calls that match the rules, and allows the others.
pub(super) fn answering(rules: Rules, action: &SeccompAction) -> Built<BpfProgram> {
    search::filter(rules, &SeccompAction::Allow, action)
}

/// A filter that allows calls that match the rules, and returns EPERM for the others.
pub(super) fn allowing(rules: Rules) -> Built<BpfProgram> {
    let otherwise = SeccompAction::Errno(libc::EPERM as u32);
    search::filter(rules, &otherwise, &SeccompAction::Allow)
}

/// A filter that allows calls that match the rules, and notifies the listener of the others.
pub(super) fn notifying(rules: Rules) -> Built<BpfProgram> {
    Ok(with_listener(search::filter(rules, &LISTENER, &SeccompAction::Allow)?))
}

/// A filter that notifies the listener of calls that match the rules, and allows the others.
pub(super) fn watching(rules: Rules) -> Built<BpfProgram> {
    Ok(with_listener(search::filter(rules, &SeccompAction::Allow, &LISTENER)?))
}

/// Stands for the listener.
const LISTENER: SeccompAction = SeccompAction::Trace(0);

fn with_listener(mut program: BpfProgram) -> BpfProgram {
    // seccompiler does not know this action, so it replaces a placeholder that nothing else in the filter
    // returns.
    let return_code = (libc::BPF_RET | libc::BPF_K) as u16;
    for instruction in &mut program {
        if instruction.code == return_code && instruction.k == libc::SECCOMP_RET_TRACE {
            instruction.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    program
}

/// The newest system call that the lists consider: `mseal`, Linux 6.10.
const NEWEST_CALL: u32 = 462;

/// x86_64: the bit that marks calls of the x32 interface (asm/unistd.h).
const X32_BIT: u32 = 0x4000_0000;

/// A filter for calls on which no list can decide. It returns ENOSYS for calls newer than the lists and for
/// `replaceable` ones, such as those that pass flags in memory, where a filter cannot read them; callers then use other
/// calls. On x86_64, it kills at any call of the x32 interface, whose numbers no list contains. Calls with `int 0x80`
/// belong to another architecture, which [`search`] excludes.
pub(super) fn unavailable(replaceable: &[i64]) -> BpfProgram {
    let answer = |action: u32| instruction(libc::BPF_RET | libc::BPF_K, (0, 0), action);
    let if_true =
        |condition: u32, number: u32| instruction(libc::BPF_JMP | condition | libc::BPF_K, (0, 1), number);
    let missing = || answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32);
    let mut filter = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, (0, 0), 0)];
    if cfg!(target_arch = "x86_64") {
        filter.extend([if_true(libc::BPF_JGE, X32_BIT), answer(libc::SECCOMP_RET_KILL_PROCESS)]);
    }
    filter.extend([if_true(libc::BPF_JGE, NEWEST_CALL + 1), missing()]);
    for call in replaceable {
        filter.extend([if_true(libc::BPF_JEQ, *call as u32), missing()]);
    }
    filter.push(answer(libc::SECCOMP_RET_ALLOW));
    filter
}

/// Rules that match these calls with any arguments.
pub(super) fn always(calls: impl IntoIterator<Item = i64>) -> Rules {
    calls.into_iter().map(|call| (call, Vec::new())).collect()
}

/// Adds a rule. All its conditions must match.
pub(super) fn when(rules: &mut Rules, call: i64, conditions: Vec<SeccompCondition>) -> Built<()> {
    rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
    Ok(())
}

/// A condition on an argument that the kernel reads as 32 bits.
pub(super) fn int(argument: u8, operator: SeccompCmpOp, value: u32) -> Built<SeccompCondition> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, u64::from(value))?)
}

/// A condition on flags: no others than `allowed`.
pub(super) fn only(argument: u8, allowed: i32) -> Built<SeccompCondition> {
    with(argument, 0, allowed)
}

/// A condition on flags or an operation with flags: `required`, and no others than `allowed`.
pub(super) fn with(argument: u8, required: i32, allowed: i32) -> Built<SeccompCondition> {
    int(argument, SeccompCmpOp::MaskedEq(u64::from(!allowed as u32)), required as u32)
}

/// A condition on an argument that the kernel reads as 64 bits: an address, a length, flags of `clone`.
pub(super) fn long(argument: u8, operator: SeccompCmpOp, value: u64) -> Built<SeccompCondition> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value)?)
}
