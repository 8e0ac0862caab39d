//! The allow-list of a program: compute, use its open descriptors, start threads, exit.
//!
//! Based on the observed calls of a static musl program with tokio (current thread; time and io drivers), std
//! threads, panics and the stack overflow handler. Every other call returns EPERM. A call with flags, operations or
//! commands is allowed only with those that such a program uses: the others are further interfaces of the kernel.

use seccompiler::SeccompCmpOp::{Eq, Ge, Le, MaskedEq};
use seccompiler::{BpfProgram, SeccompAction};

use super::filters::{Context, Deciding, Filters};
use super::rules::{allowing, always, answering, int, long, notifying, only, unavailable, when, with};
use super::search::{Built, Rules};
use super::{dangerous, old};
use crate::LOWEST_PROGRAM_ADDRESS;

pub(super) fn filters(context: Context) -> Built<Filters> {
    let refused = &SeccompAction::Errno(libc::EPERM as u32);
    let filter = notifying(allowed(&context, true)?)?;
    let after = answering(always([libc::SYS_sendmsg, libc::SYS_seccomp]), refused)?;
    Ok(Filters { common: unavailable(REPLACEABLE), deciding: Deciding::Notifying { filter, after, context } })
}

/// The same without a listener: dangerous calls kill, other refused calls return EPERM.
pub(super) fn silent(context: &Context) -> Built<Vec<BpfProgram>> {
    Ok(vec![
        answering(always(dangerous::calls()), &SeccompAction::KillProcess)?,
        allowing(allowed(context, false)?)?,
    ])
}

/// Answered with ENOSYS, so that the C library and std use other calls: `clone`, and `read` with `write`. A filter
/// cannot read the flags of `clone3`. The others pass pages of files to pipes and sockets without copying them, and
/// holes of the kernel have made such pages writable.
const REPLACEABLE: &[i64] = &[libc::SYS_clone3, libc::SYS_splice, libc::SYS_sendfile];

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
    // Memory. `mmap`, `mprotect`, `mremap` and `madvise` have conditions.
    libc::SYS_munmap,
    libc::SYS_brk,
    // Threads. `clone`, `futex` and `sched_getaffinity` have conditions.
    libc::SYS_set_tid_address,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_sched_yield,
    // Signals to itself.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    // Time and random numbers. Calls with a clock have conditions.
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_restart_syscall,
    libc::SYS_getrandom,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Flags for sending and receiving. Not included: urgent data (`MSG_OOB`), queues of errors, and pages without copies.
const SENDING: i32 = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
const RECEIVING: i32 = libc::MSG_DONTWAIT;

/// Waiting and waking, as std and musl do it. Not included: locks with inheritance of priorities.
const FUTEX_OPERATIONS: &[i32] =
    &[libc::FUTEX_WAIT, libc::FUTEX_WAKE, libc::FUTEX_REQUEUE, libc::FUTEX_WAIT_BITSET];
const FUTEX_FLAGS: i32 = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;

/// Returning memory, as allocators do it.
const ADVICE: &[i32] = &[libc::MADV_DONTNEED, libc::MADV_FREE];

/// Memory of its own, without a file.
const MAPPING: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
const MAPPING_FLAGS: i32 = libc::MAP_FIXED | libc::MAP_NORESERVE | libc::MAP_STACK;

/// A thread, as musl starts it.
const THREAD: i32 =
    libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
const THREAD_FLAGS: i32 = libc::CLONE_SYSVSEM
    | libc::CLONE_SETTLS
    | libc::CLONE_PARENT_SETTID
    | libc::CLONE_CHILD_CLEARTID
    | libc::CLONE_DETACHED;

/// Flags that fcntl(2) can set and no program needs: signals, packets in pipes, reading without the time of access.
const STATUS_FLAGS: i32 = libc::O_ASYNC | libc::O_DIRECT | libc::O_NOATIME;

/// Terminal and descriptor queries of the standard library. None injects input or sets an owner.
const CONTROLS: &[libc::Ioctl] =
    &[libc::FIONBIO, libc::FIOCLEX, libc::FIONREAD, libc::TCGETS, libc::TIOCGWINSZ];

/// asm/prctl.h.
#[cfg(target_arch = "x86_64")]
const ARCH_SET_FS: u32 = 0x1002;

/// `setting_up` adds the calls that send the listener. The next filter denies them again.
fn allowed(context: &Context, setting_up: bool) -> Built<Rules> {
    // The first filter has answered the replaceable calls, so this one must allow them.
    let mut rules = always([PLAIN, old::PLAIN, REPLACEABLE].concat());
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
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_copy_file_range,
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
    let renaming = libc::RENAME_NOREPLACE | libc::RENAME_EXCHANGE;
    when(rules, libc::SYS_renameat2, vec![only(4, renaming as i32)?])?;
    // Keeping the size would allocate more than the limit of a file's size.
    when(rules, libc::SYS_fallocate, vec![int(1, Eq, 0)?])?;
    // Copying a file ends with this call.
    when(rules, libc::SYS_fchmod, vec![int(1, MaskedEq(SET_ID), 0)?])
}

/// No executable or shared memory, and no mapping at the address for which `execveat` is allowed.
fn memory(rules: &mut Rules) -> Built<()> {
    let data = || only(2, libc::PROT_READ | libc::PROT_WRITE);
    let own = || with(3, MAPPING, MAPPING_FLAGS);
    when(rules, libc::SYS_mprotect, vec![data()?])?;
    when(rules, libc::SYS_mmap, vec![data()?, own()?, long(0, Eq, 0)?])?;
    when(rules, libc::SYS_mmap, vec![data()?, own()?, long(0, Ge, LOWEST_PROGRAM_ADDRESS)?])?;
    when(rules, libc::SYS_mremap, vec![only(3, libc::MREMAP_MAYMOVE)?])?;
    ADVICE.iter().try_for_each(|&advice| when(rules, libc::SYS_madvise, vec![int(2, Eq, advice as u32)?]))
}

fn threads_and_signals(rules: &mut Rules, context: &Context) -> Built<()> {
    let other_flags = !(THREAD_FLAGS as u64);
    when(rules, libc::SYS_clone, vec![long(0, MaskedEq(other_flags), THREAD as u64)?])?;
    for &operation in FUTEX_OPERATIONS {
        when(rules, libc::SYS_futex, vec![with(1, operation, FUTEX_FLAGS)?])?;
    }
    when(rules, libc::SYS_sched_getaffinity, vec![int(0, Eq, 0)?])?;
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
    when(rules, libc::SYS_prlimit64, vec![int(0, Eq, 0)?, long(2, Eq, 0)?])?;
    // Higher numbers are clocks of devices, alarms that wake the machine, and the processor times of other processes.
    for call in [libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_clock_nanosleep] {
        when(rules, call, vec![int(0, Le, libc::CLOCK_BOOTTIME as u32)?])?;
    }
    Ok(())
}

/// Reading and writing connected sockets, without addresses, control data or an owner that would receive
/// signals.
fn descriptors(rules: &mut Rules) -> Built<()> {
    when(rules, libc::SYS_sendto, vec![only(3, SENDING)?, long(4, Eq, 0)?])?;
    when(rules, libc::SYS_recvfrom, vec![only(3, RECEIVING)?, long(4, Eq, 0)?])?;
    for command in [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_DUPFD_CLOEXEC] {
        when(rules, libc::SYS_fcntl, vec![int(1, Eq, command as u32)?])?;
    }
    when(rules, libc::SYS_fcntl, vec![int(1, Eq, libc::F_SETFL as u32)?, only(2, !STATUS_FLAGS)?])?;
    for &control in CONTROLS {
        when(rules, libc::SYS_ioctl, vec![int(1, Eq, control as u32)?])?;
    }
    Ok(())
}
