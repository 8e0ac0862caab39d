//! Rules on system calls and their arguments, and filters made from them: answering, allowing or notifying.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

/// System calls and the conditions on their arguments. Any rule of a list may match; an empty list always
/// matches.
pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// A result of building filters.
pub(super) type Built<T> = Result<T, seccompiler::Error>;

/// The architecture of this process. A filter kills at a call of any other, for example through the 32-bit entry.
const ARCHITECTURE: TargetArch =
    if cfg!(target_arch = "aarch64") { TargetArch::aarch64 } else { TargetArch::x86_64 };

/// A filter that returns `action` for calls that match the rules, and allows the others.
pub(super) fn answering(rules: Rules, action: SeccompAction) -> Built<BpfProgram> {
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, action, ARCHITECTURE)?.try_into()?)
}

/// A filter that allows calls that match the rules, and returns EPERM for the others.
pub(super) fn allowing(rules: Rules) -> Built<BpfProgram> {
    let otherwise = SeccompAction::Errno(libc::EPERM as u32);
    Ok(SeccompFilter::new(rules, otherwise, SeccompAction::Allow, ARCHITECTURE)?.try_into()?)
}

/// A filter that allows calls that match the rules, and notifies the listener of the others.
pub(super) fn notifying(rules: Rules) -> Built<BpfProgram> {
    let placeholder = SeccompAction::Trace(0);
    let filter = SeccompFilter::new(rules, placeholder, SeccompAction::Allow, ARCHITECTURE)?;
    let mut program: BpfProgram = filter.try_into()?;
    // seccompiler does not know this action, so it replaces a placeholder that nothing else in the filter
    // returns.
    let return_code = (libc::BPF_RET | libc::BPF_K) as u16;
    for instruction in &mut program {
        if instruction.code == return_code && instruction.k == libc::SECCOMP_RET_TRACE {
            instruction.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    Ok(program)
}

/// The newest system call that the lists consider: `mseal`, Linux 6.10.
const NEWEST_CALL: u32 = 462;

/// x86_64: the bit that marks calls of the x32 interface (asm/unistd.h).
const X32_BIT: u32 = 0x4000_0000;

/// Handles calls that lists of known numbers cannot. Returns ENOSYS for calls newer than the lists, and on x86_64
/// kills at any call of the x32 interface, whose numbers no list contains. Calls with `int 0x80` belong to another
/// architecture ([`ARCHITECTURE`]).
pub(super) fn without_unknown() -> BpfProgram {
    let instruction = |code: u32, jt: u8, jf: u8, k: u32| sock_filter { code: code as u16, jt, jf, k };
    let answer = |action: u32| instruction(libc::BPF_RET | libc::BPF_K, 0, 0, action);
    let from = |number: u32| instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, number);
    let mut filter = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    if cfg!(target_arch = "x86_64") {
        filter.extend([from(X32_BIT), answer(libc::SECCOMP_RET_KILL_PROCESS)]);
    }
    filter.extend([
        from(NEWEST_CALL + 1),
        answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        answer(libc::SECCOMP_RET_ALLOW),
    ]);
    filter
}

/// `clone3` passes its flags in memory, where a filter cannot read them. At ENOSYS, C libraries fall back to
/// `clone`.
pub(super) fn without_clone3() -> Built<BpfProgram> {
    answering(always([libc::SYS_clone3]), SeccompAction::Errno(libc::ENOSYS as u32))
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

/// A condition on an argument that the kernel reads as 64 bits: an address, a length, flags of `clone`.
pub(super) fn long(argument: u8, operator: SeccompCmpOp, value: u64) -> Built<SeccompCondition> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value)?)
}
