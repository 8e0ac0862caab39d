//! Rules on system calls and their arguments, and what becomes of them: a filter that answers, allows or tells.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

/// System calls and the conditions on their arguments: any rule of a list matches, an empty list matches always.
pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// A result while building; the error is the seccompiler's own.
pub(super) type Built<T> = Result<T, seccompiler::Error>;

/// A filter that answers `action` to what the rules match and passes the rest on.
pub(super) fn answering(rules: Rules, action: SeccompAction) -> Built<BpfProgram> {
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, action, TargetArch::x86_64)?.try_into()?)
}

/// A filter that allows what the rules match and answers EPERM to the rest.
pub(super) fn allowing(rules: Rules) -> Built<BpfProgram> {
    let otherwise = SeccompAction::Errno(libc::EPERM as u32);
    Ok(SeccompFilter::new(rules, otherwise, SeccompAction::Allow, TargetArch::x86_64)?.try_into()?)
}

/// A filter that allows what the rules match and brings the rest before the listener.
pub(super) fn telling(rules: Rules) -> Built<BpfProgram> {
    let stand_in = SeccompAction::Trace(0);
    let filter = SeccompFilter::new(rules, stand_in, SeccompAction::Allow, TargetArch::x86_64)?;
    let mut program: BpfProgram = filter.try_into()?;
    // The seccompiler knows no such action. Nothing else in the filter answers as its stand-in does.
    let answer = (libc::BPF_RET | libc::BPF_K) as u16;
    for instruction in &mut program {
        if instruction.code == answer && instruction.k == libc::SECCOMP_RET_TRACE {
            instruction.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    Ok(program)
}

/// The newest system call that the lists were written for: `mseal`, Linux 6.10.
const NEWEST_CALL: u32 = 462;

/// The bit that marks calls of the x32 interface (asm/unistd.h).
const X32_BIT: u32 = 0x4000_0000;

/// What a list of known numbers cannot judge: kills at any call of the x32 interface, whose numbers a list of x86_64
/// does not see, and answers ENOSYS to calls that are newer than the lists. Calls by `int 0x80` are of
/// another architecture, at which every compiled filter kills.
pub(super) fn without_unknown() -> BpfProgram {
    let instruction = |code: u32, jt: u8, jf: u8, k: u32| sock_filter { code: code as u16, jt, jf, k };
    let answer = |action: u32| instruction(libc::BPF_RET | libc::BPF_K, 0, 0, action);
    let from = |number: u32| instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, number);
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        from(X32_BIT),
        answer(libc::SECCOMP_RET_KILL_PROCESS),
        from(NEWEST_CALL + 1),
        answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        answer(libc::SECCOMP_RET_ALLOW),
    ]
}

/// `clone3` passes its flags in memory, where a filter cannot look; at ENOSYS the C libraries fall back to `clone`.
pub(super) fn without_clone3() -> Built<BpfProgram> {
    answering(always(&[libc::SYS_clone3]), SeccompAction::Errno(libc::ENOSYS as u32))
}

/// Rules that match these calls whatever their arguments.
pub(super) fn always(calls: &[i64]) -> Rules {
    calls.iter().map(|&call| (call, Vec::new())).collect()
}

/// Adds a rule; all its conditions must hold.
pub(super) fn when(rules: &mut Rules, call: i64, conditions: Vec<SeccompCondition>) -> Built<()> {
    rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
    Ok(())
}

/// A condition on an argument that the kernel takes as 32 bits.
pub(super) fn int(argument: u8, operator: SeccompCmpOp, value: u32) -> Built<SeccompCondition> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, u64::from(value))?)
}

/// A condition on an argument that the kernel takes as 64 bits: an address, a length, flags of `clone`.
pub(super) fn long(argument: u8, operator: SeccompCmpOp, value: u64) -> Built<SeccompCondition> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value)?)
}
