//! Makes one filter of the rules on many system calls: it finds the rules on a call by binary search.
//!
//! seccompiler compares a call's number with each number of the rules, one after the other. The kernel tries out every
//! number when it installs a filter (`seccomp_cache_prepare` in kernel/seccomp.c), which then takes 0.3 ms for a program's
//! 110 numbers.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch, sock_filter};

/// System calls and the conditions on their arguments. Any rule of a list may match; an empty list always
/// matches.
pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// A result of building filters.
pub(super) type Built<T> = Result<T, seccompiler::Error>;

/// The architecture of this process. A filter kills at a call of any other, for example through the 32-bit entry.
const ARCHITECTURE: TargetArch =
    if cfg!(target_arch = "aarch64") { TargetArch::aarch64 } else { TargetArch::x86_64 };

/// The instructions at the beginning of seccompiler's filters that check the architecture, and the one after them, which
/// loads the call's number.
const CHECK: usize = 3;
const LOAD: usize = 1;

/// A filter that returns `matching` for calls that match the rules, and `otherwise` for the others.
pub(super) fn filter(rules: Rules, otherwise: &SeccompAction, matching: &SeccompAction) -> Built<BpfProgram> {
    let with = |rules| -> Built<BpfProgram> {
        Ok(SeccompFilter::new(rules, otherwise.clone(), matching.clone(), ARCHITECTURE)?.try_into()?)
    };
    let mut program = with(Rules::new())?;
    program.truncate(CHECK);
    program.push(instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, (0, 0), 0));
    let answer = |action: &SeccompAction| {
        vec![instruction(libc::BPF_RET | libc::BPF_K, (0, 0), u32::from(action.clone()))]
    };
    let mut parts = vec![Part { first: 0, code: answer(otherwise) }];
    for (number, conditions) in rules {
        let first = u32::try_from(number).unwrap_or(u32::MAX);
        let code = if conditions.is_empty() {
            answer(matching)
        } else {
            with(Rules::from([(number, conditions)]))?.split_off(CHECK + LOAD)
        };
        add(&mut parts, Part { first, code });
        add(&mut parts, Part { first: first.saturating_add(1), code: answer(otherwise) });
    }
    program.extend(search(&parts));
    Ok(program)
}

/// The decision on the calls from a number up to the next part's.
struct Part {
    first: u32,
    /// It returns in any case. The accumulator holds the call's number.
    code: BpfProgram,
}

/// Adds a part after those with lower numbers.
fn add(parts: &mut Vec<Part>, part: Part) {
    // The part of the calls without rules, if there are none.
    parts.pop_if(|last| last.first == part.first);
    if parts.last().is_none_or(|last| last.code != part.code) {
        parts.push(part);
    }
}

/// The code that selects a part.
fn search(parts: &[Part]) -> BpfProgram {
    let (lower, upper) = parts.split_at(parts.len() / 2);
    let ([_, ..], [first, ..]) = (lower, upper) else {
        return parts.iter().flat_map(|part| part.code.clone()).collect();
    };
    let middle = first.first;
    let (lower, upper) = (search(lower), search(upper));
    let from = |jumps| instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, jumps, middle);
    let mut code = match u8::try_from(lower.len()) {
        Ok(length) => vec![from((length, 0))],
        // Longer jumps are unconditional.
        Err(_) => {
            let length = u32::try_from(lower.len()).unwrap_or(u32::MAX);
            vec![from((0, 1)), instruction(libc::BPF_JMP | libc::BPF_JA, (0, 0), length)]
        }
    };
    code.extend(lower);
    code.extend(upper);
    code
}

/// An instruction, with the numbers of instructions to skip if its condition holds, and if not.
pub(super) fn instruction(code: u32, (jt, jf): (u8, u8), k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}
