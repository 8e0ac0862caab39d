//! Calls of compilers and builds.

#[cfg(target_arch = "x86_64")]
use libc::SYS_open;
use libc::{EPERM, SYS_clone, SYS_fcntl, SYS_ioctl, SYS_openat};

use super::super::compiler::{NAMESPACE_FLAGS, filters};
use super::super::dangerous;
use super::Verdict::{Allowed, Refused};
use super::{PATH, PROCESS, SET_GID, SET_UID, assert_all, context, flags, number, verdict};

#[test]
fn a_compiler_has_no_network_and_no_dangerous_calls() {
    for keep_metadata in [true, false] {
        let filters = filters(&context(true, false), keep_metadata).unwrap();
        for call in dangerous::calls() {
            assert_eq!(verdict(&filters, (call, &[])), Refused(EPERM), "{call}");
        }
        assert_all(
            &filters,
            Allowed,
            &[(libc::SYS_read, &[]), (libc::SYS_execve, &[]), (libc::SYS_pipe2, &[])],
        );
        let packets = flags(libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC);
        let pair = (libc::SYS_socketpair, &[flags(libc::AF_UNIX), packets][..]);
        assert_all(&filters, Allowed, &[pair, (libc::SYS_recvfrom, &[3, PATH, 1, 0, 0])]);
        let (unix, alg) = (flags(libc::AF_UNIX), flags(libc::AF_ALG));
        assert_all(
            &filters,
            Refused(EPERM),
            &[
                (libc::SYS_socket, &[unix, flags(libc::SOCK_STREAM)]),
                (libc::SYS_socket, &[alg, flags(libc::SOCK_SEQPACKET)]),
                (libc::SYS_socketpair, &[unix, flags(libc::SOCK_STREAM)]),
                (libc::SYS_socketpair, &[unix, flags(libc::SOCK_DGRAM | libc::SOCK_CLOEXEC)]),
                (libc::SYS_socketpair, &[unix, flags(libc::SOCK_RAW)]),
                (libc::SYS_socketpair, &[alg, packets]),
                (libc::SYS_setsockopt, &[]),
                (libc::SYS_sendto, &[3, PATH, 1, 0, 0]),
                (libc::SYS_sendto, &[3, PATH, 1, flags(libc::MSG_OOB), 0]),
                (libc::SYS_sendmsg, &[]),
                (libc::SYS_sendmmsg, &[]),
                (libc::SYS_recvfrom, &[3, PATH, 1, flags(libc::MSG_OOB | libc::MSG_DONTWAIT), 0]),
                (libc::SYS_recvmsg, &[]),
                (libc::SYS_recvmmsg, &[]),
                (libc::SYS_splice, &[]),
                (libc::SYS_vmsplice, &[]),
                (libc::SYS_tee, &[]),
                (libc::SYS_sendfile, &[]),
                (libc::SYS_timer_create, &[]),
            ],
        );
        assert_eq!(verdict(&filters, (libc::SYS_openat2, &[])), Refused(libc::ENOSYS));
    }
}

#[test]
fn a_compiler_reaches_no_processes_outside_its_group() {
    for signals_scoped in [true, false] {
        let filters = filters(&context(signals_scoped, false), true).unwrap();
        for flag in NAMESPACE_FLAGS {
            let call = (SYS_clone, &[flag | flags(libc::SIGCHLD)][..]);
            assert_eq!(verdict(&filters, call), Refused(EPERM), "{flag:#x}");
        }
        assert_all(
            &filters,
            Allowed,
            &[
                (SYS_clone, &[flags(libc::SIGCHLD)]),
                (libc::SYS_prlimit64, &[0]),
                (libc::SYS_sched_setaffinity, &[0]),
                (libc::SYS_setpriority, &[number(libc::PRIO_PROCESS), 0]),
                (libc::SYS_kill, &[0]),
                (libc::SYS_tgkill, &[PROCESS]),
                (SYS_fcntl, &[3, flags(libc::F_SETFL)]),
                (SYS_ioctl, &[3, number(libc::TCGETS)]),
            ],
        );
        assert_all(
            &filters,
            Refused(EPERM),
            &[
                (libc::SYS_setsid, &[]),
                (libc::SYS_prlimit64, &[PROCESS]),
                (libc::SYS_sched_setaffinity, &[PROCESS]),
                (libc::SYS_sched_setscheduler, &[PROCESS]),
                (libc::SYS_setpriority, &[number(libc::PRIO_USER), 0]),
                (libc::SYS_setpriority, &[number(libc::PRIO_PROCESS), PROCESS]),
                (SYS_fcntl, &[3, flags(libc::F_SETOWN)]),
                (SYS_ioctl, &[3, number(libc::TIOCSTI)]),
                (SYS_ioctl, &[3, number(libc::TIOCSCTTY)]),
            ],
        );
        let signals = if signals_scoped { Allowed } else { Refused(EPERM) };
        assert_all(&filters, signals, &[(libc::SYS_kill, &[PROCESS]), (libc::SYS_tkill, &[PROCESS])]);
    }
}

#[test]
fn a_compiler_truncates_no_file_that_it_may_only_read() {
    let filters = filters(&context(true, false), true).unwrap();
    let [read, write, both] =
        [libc::O_RDONLY, libc::O_WRONLY, libc::O_RDWR].map(|access| flags(access | libc::O_TRUNC));
    for truncating in [write, both] {
        assert_all(
            &filters,
            Allowed,
            &[
                #[cfg(target_arch = "x86_64")]
                (SYS_open, &[PATH, truncating]),
                (SYS_openat, &[0, PATH, truncating]),
            ],
        );
    }
    assert_all(
        &filters,
        Refused(EPERM),
        &[
            #[cfg(target_arch = "x86_64")]
            (SYS_open, &[PATH, read]),
            (SYS_openat, &[0, PATH, read]),
        ],
    );
    assert_eq!(verdict(&filters, (libc::SYS_truncate, &[])), Refused(EPERM));
}

#[test]
fn only_a_build_changes_modes_and_times_and_sets_no_id() {
    let created = flags(libc::O_CREAT | libc::O_WRONLY);
    let unnamed = flags(libc::O_TMPFILE | libc::O_RDWR);
    for keep_metadata in [true, false] {
        let filters = filters(&context(true, false), keep_metadata).unwrap();
        let metadata = if keep_metadata { Refused(EPERM) } else { Allowed };
        assert_all(
            &filters,
            metadata,
            &[
                #[cfg(target_arch = "x86_64")]
                (libc::SYS_chmod, &[PATH, 0o755]),
                (libc::SYS_fchmod, &[3, 0o755]),
                (libc::SYS_fchmodat, &[0, PATH, 0o755]),
                (libc::SYS_utimensat, &[]),
            ],
        );
        assert_all(
            &filters,
            Allowed,
            &[
                #[cfg(target_arch = "x86_64")]
                (SYS_open, &[PATH, created, 0o755]),
                #[cfg(target_arch = "x86_64")]
                (SYS_open, &[PATH, flags(libc::O_WRONLY), SET_UID]),
                (SYS_openat, &[0, PATH, flags(libc::O_DIRECTORY), SET_GID]),
                #[cfg(target_arch = "x86_64")]
                (libc::SYS_creat, &[PATH, 0o755]),
                (libc::SYS_mknodat, &[0, PATH, 0o755]),
            ],
        );
        for mode in [SET_UID, SET_GID] {
            assert_all(
                &filters,
                Refused(EPERM),
                &[
                    #[cfg(target_arch = "x86_64")]
                    (SYS_open, &[PATH, created, mode]),
                    #[cfg(target_arch = "x86_64")]
                    (SYS_open, &[PATH, unnamed, mode]),
                    (SYS_openat, &[0, PATH, created, mode]),
                    (SYS_openat, &[0, PATH, unnamed, mode]),
                    #[cfg(target_arch = "x86_64")]
                    (libc::SYS_creat, &[PATH, mode]),
                    #[cfg(target_arch = "x86_64")]
                    (libc::SYS_mknod, &[PATH, mode]),
                    (libc::SYS_mknodat, &[0, PATH, mode]),
                    #[cfg(target_arch = "x86_64")]
                    (libc::SYS_chmod, &[PATH, mode]),
                    (libc::SYS_fchmod, &[3, mode]),
                    (libc::SYS_fchmodat, &[0, PATH, mode]),
                    (452, &[0, PATH, mode]),
                ],
            );
        }
    }
}
