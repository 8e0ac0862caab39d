//! The deny-list of a compiler or a build: no network, no access to other processes, no way out of the
//! process group, and no operations that Landlock does not check.
//!
//! It is a deny-list because linkers and build tools make far more calls than a program. Landlock restricts
//! the file system with an allow-list. Every denied call returns EPERM.

use seccompiler::SeccompAction;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};

use super::filters::{Context, Deciding, Filters};
use super::rules::{always, answering, int, long, unavailable, when};
use super::search::{Built, Rules};
use super::{dangerous, old};

/// Flags of `clone` that create namespaces (sched.h).
pub(super) const NAMESPACE_FLAGS: &[u64] = &[
    0x0000_0080, // CLONE_NEWTIME
    libc::CLONE_NEWNS as u64,
    libc::CLONE_NEWCGROUP as u64,
    libc::CLONE_NEWUTS as u64,
    libc::CLONE_NEWIPC as u64,
    libc::CLONE_NEWUSER as u64,
    libc::CLONE_NEWPID as u64,
    libc::CLONE_NEWNET as u64,
];

/// `keep_metadata` also denies changing modes and times, which Landlock does not check and a build needs.
pub(super) fn filters(context: &Context, keep_metadata: bool) -> Built<Filters> {
    let mut rules = denied(keep_metadata);
    network(&mut rules)?;
    conditions(&mut rules, context, keep_metadata)?;
    refusing(rules, &[libc::SYS_clone3, libc::SYS_openat2])
}

/// The calls that are denied with any arguments.
pub(super) fn denied(keep_metadata: bool) -> Rules {
    let metadata = METADATA.iter().chain(old::METADATA).filter(|_| keep_metadata);
    let listed = [DENIED, CONTAINED, old::DENIED].concat();
    always(dangerous::calls().chain(listed).chain(metadata.copied()))
}

/// Adds what is denied with certain arguments, but for sockets.
pub(super) fn conditions(rules: &mut Rules, context: &Context, keep_metadata: bool) -> Built<()> {
    processes(rules, context)?;
    files(rules)?;
    set_id(rules, keep_metadata)
}

/// Filters that refuse what the rules deny, and do not know the `replaceable` calls.
pub(super) fn refusing(rules: Rules, replaceable: &[i64]) -> Built<Filters> {
    let deciding = Deciding::Silent(vec![answering(rules, &SeccompAction::Errno(libc::EPERM as u32))?]);
    Ok(Filters { common: unavailable(replaceable), deciding })
}

pub(super) const DENIED: &[i64] = &[
    // Sockets of every family, also the kernel's ciphers (AF_ALG), and control data. `socketpair` and `recvfrom` have
    // conditions.
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_setsockopt,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    // Pages of files in pipes and sockets, without copies: holes of the kernel have made them writable. Copying works
    // without these calls.
    libc::SYS_splice,
    libc::SYS_vmsplice,
    libc::SYS_tee,
    libc::SYS_sendfile,
    // Timers on processor time.
    libc::SYS_timer_create,
    // Signals with a forged sender or by descriptor. `kill` has conditions.
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    libc::SYS_ioprio_set,
    // Files without a path, which Landlock would allow to execute.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    // Observing mounts elsewhere, and which parts of files were read lately.
    SYS_STATMOUNT,
    SYS_LISTMOUNT,
    SYS_CACHESTAT,
    // Attributes of other security modules, which it could change for the programs it executes.
    SYS_LSM_GET_SELF_ATTR,
    SYS_LSM_SET_SELF_ATTR,
    SYS_LSM_LIST_MODULES,
];

/// Further denied calls, whose effect ends at namespaces and a root of one's own: a server that has them may make them.
pub(super) const CONTAINED: &[i64] = &[
    // The process group is needed to find all processes again.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // Observing files elsewhere.
    libc::SYS_inotify_add_watch,
    // Shared objects of the machine without a path. Their numbers can be guessed, so calls that take a number
    // are as dangerous as those that look one up.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Calls by path that Landlock does not check (truncate: before its ABI 3), and that no build needs.
    libc::SYS_truncate,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

pub(super) const METADATA: &[i64] =
    &[libc::SYS_fchmod, libc::SYS_fchmodat, old::SYS_FCHMODAT2, libc::SYS_utimensat];

/// Linux 6.5. Not in every version of the libc crate.
const SYS_CACHESTAT: i64 = 451;

/// Linux 6.8. Not in every version of the libc crate.
const SYS_STATMOUNT: i64 = 457;
const SYS_LISTMOUNT: i64 = 458;
const SYS_LSM_GET_SELF_ATTR: i64 = 459;
const SYS_LSM_SET_SELF_ATTR: i64 = 460;
const SYS_LSM_LIST_MODULES: i64 = 461;

/// std learns through a pair of sockets for packets whether a command has been executed. Such sockets have neither
/// names nor urgent data.
fn network(rules: &mut Rules) -> Built<()> {
    when(rules, libc::SYS_socketpair, vec![int(0, Ne, libc::AF_UNIX as u32)?])?;
    for kind in 0..=SOCK_TYPE_MASK {
        if kind != libc::SOCK_SEQPACKET as u32 {
            when(rules, libc::SYS_socketpair, vec![int(1, MaskedEq(SOCK_TYPE_MASK.into()), kind)?])?;
        }
    }
    for flag in [libc::MSG_OOB, libc::MSG_ERRQUEUE] {
        when(rules, libc::SYS_recvfrom, vec![int(3, MaskedEq(flag as u64), flag as u32)?])?;
    }
    Ok(())
}

/// The bits of a socket's type without its flags (net/socket.h).
const SOCK_TYPE_MASK: u32 = 0xf;

fn processes(rules: &mut Rules, context: &Context) -> Built<()> {
    for &flag in NAMESPACE_FLAGS {
        when(rules, libc::SYS_clone, vec![long(0, MaskedEq(flag), flag)?])?;
    }
    // Limits, scheduling and priority of other processes.
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
    ] {
        when(rules, call, vec![int(0, Ne, 0)?])?;
    }
    when(rules, libc::SYS_setpriority, vec![int(0, Ne, PRIO_PROCESS)?])?;
    when(rules, libc::SYS_setpriority, vec![int(1, Ne, 0)?])?;
    if !context.signals_scoped {
        // Before Landlock's scopes: signals only to the whole own process group. `tgkill` remains, because
        // pthread_kill and abort need it, so other processes of the same user can be signalled with it.
        when(rules, libc::SYS_kill, vec![int(0, Ne, 0)?])?;
        rules.insert(libc::SYS_tkill, Vec::new());
    }
    Ok(())
}

fn files(rules: &mut Rules) -> Built<()> {
    // Signals to any process through the owner of a descriptor, and for changes in a folder.
    for command in [libc::F_SETOWN, F_SETOWN_EX, F_SETSIG, libc::F_NOTIFY] {
        when(rules, libc::SYS_fcntl, vec![int(1, Eq, command as u32)?])?;
    }
    for &control in CONTROLS {
        when(rules, libc::SYS_ioctl, vec![int(1, Eq, control as u32)?])?;
    }
    // Opening for reading with O_TRUNC truncates the file, and Landlock before ABI 3 only checks the reading.
    let truncating = (libc::O_ACCMODE | libc::O_TRUNC) as u64;
    for &(call, flags) in old::OPENING {
        when(rules, call, vec![int(flags, MaskedEq(truncating), libc::O_TRUNC as u32)?])?;
    }
    Ok(())
}

/// Denies creating files that run with the user's rights: in a granted folder, others could run them.
fn set_id(rules: &mut Rules, chmod_is_denied: bool) -> Built<()> {
    let creating = [libc::O_CREAT as u64, (libc::O_TMPFILE & !libc::O_DIRECTORY) as u64];
    for bit in [u64::from(libc::S_ISUID), u64::from(libc::S_ISGID)] {
        let sets = |argument| int(argument, MaskedEq(bit), bit as u32);
        for creating in creating {
            for &(call, flags) in old::OPENING {
                when(rules, call, vec![int(flags, MaskedEq(creating), creating as u32)?, sets(flags + 1)?])?;
            }
        }
        for &(call, mode) in old::CREATING {
            when(rules, call, vec![sets(mode)?])?;
        }
        // A call that is always denied must not get a condition.
        if !chmod_is_denied {
            for &(call, mode) in old::CHANGING_MODE {
                when(rules, call, vec![sets(mode)?])?;
            }
        }
    }
    Ok(())
}

/// sys/resource.h. The libc crate's type for it differs between C libraries.
const PRIO_PROCESS: u32 = 0;
const F_SETOWN_EX: i32 = 15;
const F_SETSIG: i32 = 10;
const TIOCLINUX: libc::Ioctl = 0x541c;
/// Requests that type into a terminal, take it or set an owner who gets signals, or that set attributes of a file.
/// Landlock does not check the latter, and they need only a descriptor for reading.
const CONTROLS: &[libc::Ioctl] = &[
    libc::TIOCSTI,
    TIOCLINUX,
    libc::TIOCSCTTY,
    FIOSETOWN,
    SIOCSPGRP,
    libc::FIOASYNC,
    FS_IOC_SETFLAGS,
    FS_IOC_FSSETXATTR,
];
const FIOSETOWN: libc::Ioctl = 0x8901;
const SIOCSPGRP: libc::Ioctl = 0x8902;

/// linux/fs.h. The libc crate has the first one for some C libraries only.
const FS_IOC_SETFLAGS: libc::Ioctl = 0x4008_6602;
const FS_IOC_FSSETXATTR: libc::Ioctl = 0x401c_5820;
