//! System call filters: compiled in the helper, stacked, the deciding one last.
//!
//! One filter has one action, so there are several: what kills, what is answered with ENOSYS, and the
//! profile's own list. The kernel takes the strictest answer. Leaves paths to `filesystem`.

mod compiler;
mod dangerous;
mod program;

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::exec::Executable;
use super::probe::ABI_SCOPES;
use crate::{Failure, Profile, Step};

/// System calls and the conditions on their arguments: any rule of a list matches, an empty list matches always.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// A result while building; the error is the seccompiler's own.
type Built<T> = Result<T, seccompiler::Error>;

/// The filters of one child, in the order in which they are applied.
pub(super) struct Filters(Vec<BpfProgram>);

/// What the filters depend on beside the profile.
struct Context {
    process: u32,
    exec_descriptor: i32,
    exec_path: u64,
    /// Whether Landlock keeps signals inside.
    signals_scoped: bool,
}

impl Filters {
    pub(super) fn new(profile: Profile, executable: &Executable, landlock_abi: u32) -> Result<Self, Failure> {
        let (exec_descriptor, exec_path) = executable.exec_arguments();
        let context = Context {
            process: std::process::id(),
            exec_descriptor,
            exec_path,
            signals_scoped: landlock_abi >= ABI_SCOPES,
        };
        let built = match profile {
            Profile::Program => program::filters(&context),
            Profile::Compiler => compiler::filters(&context, true),
            Profile::Build => compiler::filters(&context, false),
        };
        built
            .map(Self)
            .map_err(|error| Failure::new(Step::Seccomp, format!("compiling a filter: {error}"), 0))
    }

    /// Applies all of them to this thread, which is the only one.
    pub(super) fn apply(&self) -> Result<(), Failure> {
        self.0.iter().try_for_each(|filter| apply_filter(filter)).map_err(|error| {
            let errno = match &error {
                seccompiler::Error::Prctl(cause) | seccompiler::Error::Seccomp(cause) => {
                    cause.raw_os_error().unwrap_or(0)
                }
                _ => 0,
            };
            Failure::new(Step::Seccomp, "applying a filter", errno)
        })
    }
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
pub(super) fn canary(profile: Profile) -> Result<(), Failure> {
    // SAFETY: both calls take no pointer that they could write through.
    let (what, answer) = unsafe {
        match profile {
            Profile::Program => (
                "opening / under seccomp",
                libc::open(c"/".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC),
            ),
            _ => (
                "a TCP socket under seccomp",
                libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0),
            ),
        }
    };
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    if answer == -1 && errno == libc::EPERM {
        return Ok(());
    }
    Err(Failure::new(Step::Canary, what, if answer == -1 { errno } else { 0 }))
}
