//! The allow-list of a program: compute, use its open descriptors, start threads, exit.
//!
//! Based on the observed calls of a static musl program with tokio (current thread; time and io drivers), std
//! threads, panics and the stack overflow handler. Every other call returns EPERM.

use seccompiler::SeccompCmpOp::{Eq, Ge, MaskedEq};
use seccompiler::{BpfProgram, SeccompAction};

use super::filters::{Context, Deciding, Filters};
use super::rules::{allowing, always, answering, int, long, notifying, unavailable, when};
use super::search::{Built, Rules};
use super::{dangerous, old};
use crate::platform::exec::LOWEST_PROGRAM_ADDRESS;

pub(super) fn filters(context: Context) -> Built<Filters> {
    let refused = &SeccompAction::Errno(libc::EPERM as u32);
    let filter = notifying(allowed(&context, true)?)?;
    let after = answering(always([libc::SYS_sendmsg, libc::SYS_seccomp]), refused)?;
    Ok(Filters {
        common: vec![unavailable(&[libc::SYS_clone3])],
        deciding: Deciding::Notifying { filter, after, context },
    })
}

/// The same without a listener: dangerous calls kill, other refused calls return EPERM.
pub(super) fn silent(context: &Context) -> Built<Vec<BpfProgram>> {
    Ok(vec![
        answering(always(dangerous::calls()), &SeccompAction::KillProcess)?,
        allowing(allowed(context, false)?)?,
    ])
}

/// Allowed with any arguments. They affect only this process and its descriptors.
pub(super) const PLAIN: &[i64] = &[
    // Open descriptors.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_shutdown,
    libc::SYS_ppoll,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    // Memory. `mmap`, `mprotect` and `mremap` have conditions.
    libc::SYS_munmap,
    libc::SYS_brk,
    libc::SYS_madvise,
    // Threads.
    libc::SYS_futex,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    // Signals to itself.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    // Time and random numbers.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_restart_syscall,
    libc::SYS_getrandom,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // The previous filter returns ENOSYS for it, so this one must allow it.
    libc::SYS_clone3,
];

/// Terminal and descriptor queries of the standard library. None injects input or sets an owner.
const CONTROLS: &[libc::Ioctl] =
    &[libc::FIONBIO, libc::FIOCLEX, libc::FIONREAD, libc::TCGETS, libc::TIOCGWINSZ];

/// asm/prctl.h.
#[cfg(target_arch = "x86_64")]
const ARCH_SET_FS: u32 = 0x1002;

/// `setting_up` adds the calls that send the listener. The next filter denies them again.
fn allowed(context: &Context, setting_up: bool) -> Built<Rules> {
    let mut rules = always(PLAIN.iter().chain(old::PLAIN).copied());
    if setting_up {
        when(&mut rules, libc::SYS_sendmsg, vec![int(0, Eq, context.channel as u32)?])?;
        when(&mut rules, libc::SYS_seccomp, vec![int(0, Eq, libc::SECCOMP_SET_MODE_FILTER)?])?;
    }
    if context.has_paths {
        paths(&mut rules)?;
    }
    memory(&mut rules)?;
    threads_and_signals(&mut rules, context)?;
    descriptors(&mut rules)?;
    let (descriptor, path) = (context.exec_descriptor as u32, context.exec_path);
    let empty_path = int(4, Eq, libc::AT_EMPTY_PATH as u32)?;
    when(&mut rules, libc::SYS_execveat, vec![int(0, Eq, descriptor)?, long(1, Eq, path)?, empty_path])?;
    Ok(rules)
}

/// Work on granted paths. Not included: creating links, devices or sockets, changing owners or times, and
/// locks, because a lock on a read-only file would block its writers.
pub(super) const PATHS: &[i64] = &[
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_umask,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
];

/// The mode bits that let a file run with the rights of its owner.
const SET_ID: u64 = (libc::S_ISUID | libc::S_ISGID) as u64;

/// Files that a program creates never run with the user's rights.
fn paths(rules: &mut Rules) -> Built<()> {
    rules.extend(always(PATHS.iter().chain(old::PATHS).copied()));
    let creating = (libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY) as u64;
    for &(call, flags) in old::OPENING {
        when(rules, call, vec![int(flags, MaskedEq(creating), 0)?])?;
        when(rules, call, vec![int(flags + 1, MaskedEq(SET_ID), 0)?])?;
    }
    // A whiteout is a device.
    when(rules, libc::SYS_renameat2, vec![int(4, MaskedEq(u64::from(libc::RENAME_WHITEOUT)), 0)?])?;
    // Copying a file ends with this call.
    when(rules, libc::SYS_fchmod, vec![int(1, MaskedEq(SET_ID), 0)?])
}

/// No executable memory, and no mapping at or growing towards the address for which `execveat` is allowed.
fn memory(rules: &mut Rules) -> Built<()> {
    let no_exec = || int(2, MaskedEq(libc::PROT_EXEC as u64), 0);
    let no_grow = || int(3, MaskedEq(libc::MAP_GROWSDOWN as u64), 0);
    when(rules, libc::SYS_mprotect, vec![no_exec()?])?;
    when(rules, libc::SYS_mmap, vec![no_exec()?, no_grow()?, long(0, Eq, 0)?])?;
    when(rules, libc::SYS_mmap, vec![no_exec()?, no_grow()?, long(0, Ge, LOWEST_PROGRAM_ADDRESS)?])?;
    // With MREMAP_DONTUNMAP, the new address is used as a hint.
    let addressed = (libc::MREMAP_FIXED | libc::MREMAP_DONTUNMAP) as u64;
    when(rules, libc::SYS_mremap, vec![int(3, MaskedEq(addressed), 0)?])?;
    when(rules, libc::SYS_mremap, vec![long(4, Ge, LOWEST_PROGRAM_ADDRESS)?])
}

fn threads_and_signals(rules: &mut Rules, context: &Context) -> Built<()> {
    let thread = libc::CLONE_THREAD as u64;
    let namespaces = super::compiler::NAMESPACE_FLAGS.iter().fold(0, |all, flag| all | flag);
    when(rules, libc::SYS_clone, vec![long(0, MaskedEq(thread | namespaces), thread)?])?;
    when(rules, libc::SYS_tgkill, vec![int(0, Eq, context.process)?])?;
    if context.signals_scoped {
        // musl aborts with tkill, and a thread's number is not known here. Landlock keeps the signal inside.
        rules.insert(libc::SYS_tkill, Vec::new());
    } else {
        when(rules, libc::SYS_tkill, vec![int(0, Eq, context.process)?])?;
    }
    // Setting the thread pointer, which is a register on arm64. Other operations map code or change what the processor
    // traps.
    #[cfg(target_arch = "x86_64")]
    when(rules, libc::SYS_arch_prctl, vec![int(0, Eq, ARCH_SET_FS)?])?;
    when(rules, libc::SYS_prctl, vec![int(0, Eq, libc::PR_SET_NAME as u32)?])?;
    when(rules, libc::SYS_prctl, vec![int(0, Eq, libc::PR_GET_NAME as u32)?])?;
    // Reading its own limits, without a new value.
    when(rules, libc::SYS_prlimit64, vec![int(0, Eq, 0)?, long(2, Eq, 0)?])
}

/// Reading and writing connected sockets, without addresses, control data or an owner that would receive
/// signals.
fn descriptors(rules: &mut Rules) -> Built<()> {
    when(rules, libc::SYS_sendto, vec![long(4, Eq, 0)?])?;
    when(rules, libc::SYS_recvfrom, vec![long(4, Eq, 0)?])?;
    for command in [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_DUPFD_CLOEXEC] {
        when(rules, libc::SYS_fcntl, vec![int(1, Eq, command as u32)?])?;
    }
    let without_signals = int(2, MaskedEq(libc::O_ASYNC as u64), 0)?;
    when(rules, libc::SYS_fcntl, vec![int(1, Eq, libc::F_SETFL as u32)?, without_signals])?;
    for &control in CONTROLS {
        when(rules, libc::SYS_ioctl, vec![int(1, Eq, control as u32)?])?;
    }
    Ok(())
}
