//! Calls of programs.

#[cfg(target_arch = "x86_64")]
use libc::SYS_open;
use libc::{EPERM, SYS_clone, SYS_fcntl, SYS_ioctl, SYS_mmap, SYS_mremap, SYS_openat};

use super::super::compiler::NAMESPACE_FLAGS;
use super::super::dangerous::{calls, is_dangerous};
use super::super::program::{filters, silent};
use super::Verdict::{Allowed, Killed, Notified, Refused};
use super::{
    CHANNEL, Call, DESCRIPTOR, Deciding, Filters, HIGH, NATIVE, PATH, PROCESS, SET_GID, SET_UID, assert_all,
    context, flags, number, verdict, verdict_of,
};
use crate::LOWEST_PROGRAM_ADDRESS;

const READ: u64 = flags(libc::PROT_READ);
const EXEC: u64 = flags(libc::PROT_READ | libc::PROT_EXEC);
const OWN: u64 = flags(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
const GROWS: u64 = OWN | flags(libc::MAP_GROWSDOWN);

fn program(signals_scoped: bool, has_paths: bool) -> Filters {
    filters(context(signals_scoped, has_paths)).unwrap()
}

#[test]
fn a_program_maps_no_executable_memory_and_none_at_low_addresses() {
    let filters = program(false, false);
    let moved = flags(libc::MREMAP_MAYMOVE);
    let fixed = flags(libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED);
    let kept = flags(libc::MREMAP_MAYMOVE | libc::MREMAP_DONTUNMAP);
    let lowest = LOWEST_PROGRAM_ADDRESS;
    assert_all(
        &filters,
        Allowed,
        &[
            (SYS_mmap, &[0, 4096, READ, OWN]),
            (SYS_mmap, &[lowest, 4096, READ, OWN]),
            (SYS_mmap, &[HIGH, 4096, READ, OWN]),
            (libc::SYS_mprotect, &[0, 4096, READ]),
            (SYS_mmap, &[lowest, 4096, 0, OWN | flags(libc::MAP_FIXED)]),
            (SYS_mmap, &[0, 4096, READ, OWN | flags(libc::MAP_NORESERVE | libc::MAP_STACK)]),
            (SYS_mremap, &[0, 1, 1, moved, 0]),
        ],
    );
    assert_all(
        &filters,
        Notified,
        &[
            (SYS_mmap, &[0, 4096, EXEC, OWN]),
            (SYS_mmap, &[lowest, 4096, EXEC, OWN]),
            (SYS_mmap, &[0, 4096, READ, GROWS]),
            (SYS_mmap, &[lowest, 4096, READ, GROWS]),
            (SYS_mmap, &[1, 4096, READ, OWN]),
            (SYS_mmap, &[lowest - 1, 4096, READ, OWN]),
            (libc::SYS_mprotect, &[0, 4096, EXEC]),
            (SYS_mremap, &[0, 1, 1, fixed, lowest]),
            (SYS_mremap, &[0, 1, 1, kept, lowest]),
        ],
    );
}

#[test]
fn a_program_starts_threads_and_signals_only_itself() {
    // As musl starts one (pthread_create.c).
    let thread = 0x7d_0f00;
    for signals_scoped in [false, true] {
        let filters = program(signals_scoped, false);
        assert_all(
            &filters,
            Allowed,
            &[
                (SYS_clone, &[thread]),
                (libc::SYS_tgkill, &[PROCESS, 1]),
                (libc::SYS_tkill, &[PROCESS]),
                #[cfg(target_arch = "x86_64")]
                (libc::SYS_arch_prctl, &[0x1002]),
                (libc::SYS_prctl, &[flags(libc::PR_SET_NAME)]),
                (libc::SYS_prctl, &[flags(libc::PR_GET_NAME)]),
                (libc::SYS_prlimit64, &[0, 1, 0]),
            ],
        );
        assert_all(
            &filters,
            Notified,
            &[
                (SYS_clone, &[flags(libc::SIGCHLD)]),
                (SYS_clone, &[thread & !flags(libc::CLONE_FILES)]),
                (SYS_clone, &[thread | flags(libc::CLONE_PTRACE)]),
                (SYS_clone, &[thread | HIGH]),
                #[cfg(target_arch = "x86_64")]
                (libc::SYS_fork, &[]),
                (libc::SYS_tgkill, &[PROCESS + 1, 1]),
                (libc::SYS_kill, &[PROCESS]),
                #[cfg(target_arch = "x86_64")]
                (libc::SYS_arch_prctl, &[0x1001]),
                (libc::SYS_prctl, &[flags(libc::PR_SET_DUMPABLE)]),
                (libc::SYS_prlimit64, &[PROCESS, 1, 0]),
                (libc::SYS_prlimit64, &[0, 1, PATH]),
                (libc::SYS_prlimit64, &[0, 1, HIGH]),
            ],
        );
        for flag in NAMESPACE_FLAGS {
            assert_eq!(verdict(&filters, (SYS_clone, &[thread | flag])), Notified, "{flag:#x}");
        }
        let of_another = verdict(&filters, (libc::SYS_tkill, &[PROCESS + 1]));
        assert_eq!(of_another, if signals_scoped { Allowed } else { Notified });
    }
}

#[test]
fn a_program_uses_only_its_descriptors() {
    let filters = program(false, false);
    let set = flags(libc::F_SETFL);
    assert_all(
        &filters,
        Allowed,
        &[
            (libc::SYS_read, &[]),
            (libc::SYS_sendto, &[3, PATH, 1, 0, 0]),
            (libc::SYS_recvfrom, &[3, PATH, 1, 0, 0]),
            (SYS_fcntl, &[3, flags(libc::F_GETFD)]),
            (SYS_fcntl, &[3, flags(libc::F_SETFD)]),
            (SYS_fcntl, &[3, flags(libc::F_GETFL)]),
            (SYS_fcntl, &[3, flags(libc::F_DUPFD_CLOEXEC)]),
            (SYS_fcntl, &[3, set, flags(libc::O_NONBLOCK)]),
            (SYS_ioctl, &[3, number(libc::FIONBIO)]),
            (SYS_ioctl, &[3, number(libc::TCGETS)]),
        ],
    );
    assert_all(
        &filters,
        Notified,
        &[
            (libc::SYS_sendto, &[3, PATH, 1, 0, PATH]),
            (libc::SYS_sendto, &[3, PATH, 1, 0, HIGH]),
            (libc::SYS_recvfrom, &[3, PATH, 1, 0, HIGH]),
            (SYS_fcntl, &[3, flags(libc::F_SETOWN)]),
            (SYS_fcntl, &[3, flags(libc::F_DUPFD)]),
            (SYS_fcntl, &[3, set, flags(libc::O_NONBLOCK | libc::O_ASYNC)]),
            (SYS_ioctl, &[3, number(libc::TIOCSTI)]),
            (libc::SYS_socket, &[]),
            #[cfg(target_arch = "x86_64")]
            (SYS_open, &[]),
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_stat, &[]),
            (SYS_openat, &[]),
            (libc::SYS_newfstatat, &[]),
        ],
    );
}

/// A call with flags, operations or commands.
struct Uses<'a> {
    call: i64,
    /// Its arguments before them.
    before: &'a [u64],
    allowed: &'a [i32],
    /// Others that the kernel knows.
    refused: &'a [i32],
}

/// Before the flags of a descriptor.
const SETTING: [u64; 2] = [3, flags(libc::F_SETFL)];

fn uses<'a>(call: i64, before: &'a [u64], allowed: &'a [i32], refused: &'a [i32]) -> Uses<'a> {
    Uses { call, before, allowed, refused }
}

#[test]
fn a_program_uses_each_call_only_as_it_needs() {
    let filters = program(true, true);
    let table = [
        uses(
            libc::SYS_sendto,
            &[3, PATH, 1],
            &[0, libc::MSG_NOSIGNAL, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL],
            &[
                libc::MSG_OOB,
                libc::MSG_OOB | libc::MSG_NOSIGNAL,
                libc::MSG_MORE,
                MSG_ZEROCOPY,
                MSG_SPLICE_PAGES,
            ],
        ),
        uses(
            libc::SYS_recvfrom,
            &[3, PATH, 1],
            &[0, libc::MSG_DONTWAIT],
            &[libc::MSG_OOB, libc::MSG_PEEK, libc::MSG_ERRQUEUE, libc::MSG_TRUNC, libc::MSG_WAITALL],
        ),
        uses(libc::SYS_sendmmsg, &[3, PATH, 1], &[], &[0, libc::MSG_NOSIGNAL]),
        uses(libc::SYS_recvmsg, &[3, PATH], &[], &[0, libc::MSG_CMSG_CLOEXEC]),
        uses(
            libc::SYS_futex,
            &[PATH],
            &[
                libc::FUTEX_WAIT,
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                libc::FUTEX_REQUEUE | libc::FUTEX_PRIVATE_FLAG,
                libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME,
            ],
            &[
                libc::FUTEX_CMP_REQUEUE,
                libc::FUTEX_WAKE_OP,
                libc::FUTEX_LOCK_PI,
                libc::FUTEX_WAIT_REQUEUE_PI | libc::FUTEX_PRIVATE_FLAG,
                libc::FUTEX_CMP_REQUEUE_PI | libc::FUTEX_PRIVATE_FLAG,
            ],
        ),
        uses(
            libc::SYS_madvise,
            &[PATH, 4096],
            &[libc::MADV_DONTNEED, libc::MADV_FREE],
            &[libc::MADV_REMOVE, libc::MADV_MERGEABLE, libc::MADV_HUGEPAGE, libc::MADV_HWPOISON],
        ),
        uses(
            SYS_mmap,
            &[0, 4096, READ],
            &[libc::MAP_PRIVATE | libc::MAP_ANONYMOUS],
            &[
                libc::MAP_PRIVATE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_LOCKED,
            ],
        ),
        uses(
            SYS_fcntl,
            &[3],
            &[libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_DUPFD_CLOEXEC],
            &[
                libc::F_DUPFD,
                libc::F_SETLK,
                libc::F_SETLEASE,
                libc::F_NOTIFY,
                libc::F_SETPIPE_SZ,
                libc::F_ADD_SEALS,
            ],
        ),
        uses(
            SYS_fcntl,
            &SETTING,
            &[0, libc::O_NONBLOCK | libc::O_RDWR, libc::O_NONBLOCK | libc::O_APPEND],
            &[libc::O_ASYNC, libc::O_DIRECT | libc::O_NONBLOCK, libc::O_NOATIME],
        ),
        uses(
            libc::SYS_clock_gettime,
            &[],
            &[
                libc::CLOCK_REALTIME,
                libc::CLOCK_MONOTONIC,
                libc::CLOCK_PROCESS_CPUTIME_ID,
                libc::CLOCK_BOOTTIME,
            ],
            // The processor time of process 1, and the clock of descriptor 3 (clock_getres(2)).
            &[libc::CLOCK_REALTIME_ALARM, (!1 << 3) | 2, (!3 << 3) | 3],
        ),
        uses(libc::SYS_sched_getaffinity, &[], &[0], &[1, PROCESS as i32]),
        uses(libc::SYS_fallocate, &[3], &[0], &[libc::FALLOC_FL_KEEP_SIZE, libc::FALLOC_FL_PUNCH_HOLE]),
        uses(
            libc::SYS_renameat2,
            &[0, PATH, 0, PATH],
            &[0, libc::RENAME_NOREPLACE as i32, libc::RENAME_EXCHANGE as i32],
            &[libc::RENAME_WHITEOUT as i32, 8],
        ),
    ];
    for Uses { call, before, allowed, refused } in table {
        for (choices, expected) in [(allowed, Allowed), (refused, Notified)] {
            for choice in choices {
                let arguments = [before, &[flags(*choice)]].concat();
                assert_eq!(verdict(&filters, (call, &arguments)), expected, "{call} {arguments:x?}");
            }
        }
    }
}

/// `linux/socket.h`.
const MSG_ZEROCOPY: i32 = 0x400_0000;
const MSG_SPLICE_PAGES: i32 = 0x800_0000;

#[test]
fn pages_of_files_are_passed_to_no_pipe_or_socket() {
    for has_paths in [false, true] {
        let filters = program(true, has_paths);
        let unavailable = Refused(libc::ENOSYS);
        assert_all(&filters, unavailable, &[(libc::SYS_splice, &[]), (libc::SYS_sendfile, &[])]);
        assert_all(&filters, Notified, &[(libc::SYS_vmsplice, &[]), (libc::SYS_tee, &[])]);
        let silent = silent(&context(true, has_paths)).unwrap();
        let all: Vec<_> = std::iter::once(&filters.common).chain(&silent).collect();
        assert_eq!(verdict_of(&all, NATIVE, (libc::SYS_splice, &[])), unavailable);
    }
}

#[test]
fn a_program_starts_with_one_exec() {
    let empty = flags(libc::AT_EMPTY_PATH);
    let filters = program(false, true);
    assert_eq!(verdict(&filters, (libc::SYS_execveat, &[DESCRIPTOR, PATH, 0, 0, empty])), Allowed);
    assert_all(
        &filters,
        Notified,
        &[
            (libc::SYS_execveat, &[DESCRIPTOR + 1, PATH, 0, 0, empty]),
            (libc::SYS_execveat, &[DESCRIPTOR, PATH + 1, 0, 0, empty]),
            (libc::SYS_execveat, &[DESCRIPTOR, PATH | HIGH, 0, 0, empty]),
            (libc::SYS_execveat, &[DESCRIPTOR, PATH, 0, 0, 0]),
            (libc::SYS_execve, &[]),
        ],
    );
}

#[test]
fn a_program_with_paths_creates_nothing_that_runs_as_its_user() {
    let filters = program(false, true);
    let created = flags(libc::O_CREAT | libc::O_WRONLY);
    let unnamed = flags(libc::O_TMPFILE | libc::O_RDWR);
    assert_all(
        &filters,
        Allowed,
        &[
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_stat, &[]),
            (libc::SYS_newfstatat, &[]),
            #[cfg(target_arch = "x86_64")]
            (SYS_open, &[PATH, flags(libc::O_RDONLY), SET_UID]),
            #[cfg(target_arch = "x86_64")]
            (SYS_open, &[PATH, flags(libc::O_DIRECTORY), SET_GID]),
            #[cfg(target_arch = "x86_64")]
            (SYS_open, &[PATH, created, 0o644]),
            (SYS_openat, &[0, PATH, flags(libc::O_RDWR), SET_UID]),
            (SYS_openat, &[0, PATH, unnamed, 0o644]),
            (libc::SYS_renameat2, &[0, PATH, 0, PATH, u64::from(libc::RENAME_NOREPLACE)]),
            (libc::SYS_fchmod, &[3, 0o755]),
        ],
    );
    assert_all(
        &filters,
        Notified,
        &[
            #[cfg(target_arch = "x86_64")]
            (SYS_open, &[PATH, created, SET_UID]),
            #[cfg(target_arch = "x86_64")]
            (SYS_open, &[PATH, unnamed, SET_GID]),
            (SYS_openat, &[0, PATH, created, SET_GID]),
            (SYS_openat, &[0, PATH, unnamed, SET_UID]),
            (libc::SYS_renameat2, &[0, PATH, 0, PATH, u64::from(libc::RENAME_WHITEOUT)]),
            (libc::SYS_fchmod, &[3, SET_UID]),
            (libc::SYS_fchmod, &[3, SET_GID]),
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_symlink, &[]),
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_mknod, &[]),
            (libc::SYS_symlinkat, &[]),
            (libc::SYS_mknodat, &[]),
        ],
    );
}

#[test]
fn the_listener_is_sent_before_its_calls_are_refused() {
    let filters = program(false, false);
    let Deciding::Notifying { filter, .. } = &filters.deciding else { panic!("a program has a listener") };
    let setup: [Call<'_>; 2] = [(libc::SYS_sendmsg, &[CHANNEL]), (libc::SYS_seccomp, &[1])];
    for call in setup {
        assert_eq!(verdict_of(&[filter], NATIVE, call), Allowed, "{call:?}");
        assert_eq!(verdict(&filters, call), Refused(EPERM), "{call:?}");
    }
    let others: [Call<'_>; 2] = [(libc::SYS_sendmsg, &[CHANNEL + 1]), (libc::SYS_seccomp, &[0])];
    for call in others {
        assert_eq!(verdict_of(&[filter], NATIVE, call), Notified, "{call:?}");
    }
}

#[test]
fn without_a_listener_dangerous_calls_kill_and_others_are_refused() {
    let silent = silent(&context(false, false)).unwrap();
    let verdict = |call| verdict_of(&silent.iter().collect::<Vec<_>>(), NATIVE, call);
    for call in calls() {
        assert!(is_dangerous(call as u32));
        assert_eq!(verdict((call, &[])), Killed, "{call}");
    }
    assert!(!is_dangerous(libc::SYS_read as u32));
    assert_eq!(verdict((libc::SYS_read, &[])), Allowed);
    for call in [libc::SYS_socket, libc::SYS_sendmsg, libc::SYS_seccomp] {
        assert_eq!(verdict((call, &[CHANNEL])), Refused(EPERM), "{call}");
    }
}
