//! System call filters: compiled in the helper, stacked, the deciding one last.
//!
//! One filter has one action, so there are several, and the kernel takes the strictest answer. What a program is not
//! allowed is brought before its supervisor (`listener`), which refuses it and knows of it; where the kernel takes no
//! listener, because one stands already above this process, the filters themselves refuse. Leaves paths to `filesystem`.

mod compiler;
mod dangerous;
mod install;
mod program;

use std::collections::BTreeMap;
use std::fs::File;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::exec::Executable;
use super::helper::failed;
use crate::{Failure, Policy, Profile, Step};

pub(super) use dangerous::is_dangerous;

/// System calls and the conditions on their arguments: any rule of a list matches, an empty list matches always.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// A result while building; the error is the seccompiler's own.
type Built<T> = Result<T, seccompiler::Error>;

/// The filters of one child.
pub(super) struct Filters {
    /// Applied first, in this order.
    common: Vec<BpfProgram>,
    deciding: Deciding,
}

/// The filters that have the last word.
enum Deciding {
    /// They answer what they refuse.
    Silent(Vec<BpfProgram>),
    /// A filter that tells its listener what it refuses, the one that takes away what setting it up needed, and what
    /// silent ones are made from, where there can be no listener.
    Telling { filter: BpfProgram, after: BpfProgram, context: Context },
}

/// What the filters depend on beside the policy.
pub(super) struct Surroundings<'a> {
    pub(super) executable: &'a Executable,
    /// The descriptor of the supervisor's socket.
    pub(super) channel: i32,
    /// Whether something else keeps signals inside.
    pub(super) signals_scoped: bool,
}

struct Context {
    process: u32,
    exec_descriptor: i32,
    exec_path: u64,
    channel: i32,
    signals_scoped: bool,
    /// Whether the program may work on paths.
    has_paths: bool,
}

impl Filters {
    pub(super) fn new(policy: &Policy, surroundings: &Surroundings<'_>) -> Result<Self, Failure> {
        let (exec_descriptor, exec_path) = surroundings.executable.exec_arguments();
        let context = Context {
            process: std::process::id(),
            exec_descriptor,
            exec_path,
            channel: surroundings.channel,
            signals_scoped: surroundings.signals_scoped,
            has_paths: policy.has_paths(),
        };
        let built = match policy.profile {
            Profile::Program => program::filters(context),
            Profile::Compiler => compiler::filters(&context, true),
            Profile::Build => compiler::filters(&context, false),
        };
        built.map_err(|error| not_compiled(&error))
    }

    /// Applies all of them to this thread, which is the only one. Whether refusals are told to the supervisor, to whom
    /// `channel` leads.
    pub(super) fn apply(&self, channel: &File) -> Result<bool, Failure> {
        let failed = |subject: &'static str| failed(Step::Seccomp, subject);
        self.common.iter().try_for_each(install::silent).map_err(failed("applying a filter"))?;
        let silently = |filters: &[BpfProgram]| {
            filters.iter().try_for_each(install::silent).map_err(failed("applying a filter")).map(|()| false)
        };
        let (filter, after, context) = match &self.deciding {
            Deciding::Silent(filters) => return silently(filters),
            Deciding::Telling { filter, after, context } => (filter, after, context),
        };
        match install::telling(filter) {
            Ok(listener) => {
                install::hand_over(&listener, channel).map_err(failed("handing over the listener"))?;
                drop(listener);
                install::silent(after).map_err(failed("closing the filter"))?;
                Ok(true)
            }
            // EBUSY: a process above has a listener already (seccomp(2)); EINVAL: Linux before 5.0.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EINVAL)) => {
                silently(&program::silent(context).map_err(|error| not_compiled(&error))?)
            }
            Err(error) => Err(failed("applying a filter with a listener")(error)),
        }
    }
}

fn not_compiled(error: &seccompiler::Error) -> Failure {
    Failure::new(Step::Seccomp, format!("compiling a filter: {error}"), 0)
}

/// A filter that answers `action` to what the rules match and passes the rest on.
fn answering(rules: Rules, action: SeccompAction) -> Built<BpfProgram> {
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, action, TargetArch::x86_64)?.try_into()?)
}

/// A filter that allows what the rules match and answers EPERM to the rest.
fn allowing(rules: Rules) -> Built<BpfProgram> {
    let otherwise = SeccompAction::Errno(libc::EPERM as u32);
    Ok(SeccompFilter::new(rules, otherwise, SeccompAction::Allow, TargetArch::x86_64)?.try_into()?)
}

/// A filter that allows what the rules match and brings the rest before the listener.
fn telling(rules: Rules) -> Built<BpfProgram> {
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
fn without_unknown() -> BpfProgram {
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
fn without_clone3() -> Built<BpfProgram> {
    answering(always(&[libc::SYS_clone3]), SeccompAction::Errno(libc::ENOSYS as u32))
}

/// Rules that match these calls whatever their arguments.
fn always(calls: &[i64]) -> Rules {
    calls.iter().map(|&call| (call, Vec::new())).collect()
}

/// Adds a rule; all its conditions must hold.
fn when(rules: &mut Rules, call: i64, conditions: Vec<SeccompCondition>) -> Built<()> {
    rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
    Ok(())
}

/// A condition on an argument that the kernel takes as 32 bits.
fn int(argument: u8, operator: SeccompCmpOp, value: u32) -> Built<SeccompCondition> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, u64::from(value))?)
}

/// A condition on an argument that the kernel takes as 64 bits: an address, a length, flags of `clone`.
fn long(argument: u8, operator: SeccompCmpOp, value: u64) -> Built<SeccompCondition> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value)?)
}

/// What must fail under the filters, tried once before anything runs.
pub(super) fn canary(policy: &Policy) -> Result<(), Failure> {
    // SAFETY: both calls take no pointer that they could write through.
    let (what, answer) = unsafe {
        if policy.profile.is_tree() || policy.has_paths() {
            (
                "a TCP socket under seccomp",
                libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0),
            )
        } else {
            let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
            ("opening / under seccomp", libc::open(c"/".as_ptr(), flags))
        }
    };
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    if answer == -1 && errno == libc::EPERM {
        return Ok(());
    }
    Err(Failure::new(Step::Canary, what, if answer == -1 { errno } else { 0 }))
}
