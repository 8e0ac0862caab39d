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
use crate::platform::exec::LOWEST_PROGRAM_ADDRESS;

const READ: u64 = flags(libc::PROT_READ);
const EXEC: u64 = flags(libc::PROT_READ | libc::PROT_EXEC);
const GROWS: u64 = flags(libc::MAP_PRIVATE | libc::MAP_GROWSDOWN);

fn program(signals_scoped: bool, has_paths: bool) -> Filters {
    filters(context(signals_scoped, has_paths)).unwrap()
}

#[test]
fn a_program_maps_no_executable_memory_and_none_at_low_addresses() {
    let filters = program(false, false);
    let private = flags(libc::MAP_PRIVATE);
    let moved = flags(libc::MREMAP_MAYMOVE);
    let fixed = flags(libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED);
    let kept = flags(libc::MREMAP_MAYMOVE | libc::MREMAP_DONTUNMAP);
    let lowest = LOWEST_PROGRAM_ADDRESS;
    assert_all(
        &filters,
        Allowed,
        &[
            (SYS_mmap, &[0, 4096, READ, private]),
            (SYS_mmap, &[lowest, 4096, READ, private]),
            (SYS_mmap, &[HIGH, 4096, READ, private]),
            (libc::SYS_mprotect, &[0, 4096, READ]),
            (SYS_mremap, &[0, 1, 1, moved, 0]),
            (SYS_mremap, &[0, 1, 1, fixed, lowest]),
            (SYS_mremap, &[0, 1, 1, kept, lowest]),
        ],
    );
    assert_all(
        &filters,
        Notified,
        &[
            (SYS_mmap, &[0, 4096, EXEC, private]),
            (SYS_mmap, &[lowest, 4096, EXEC, private]),
            (SYS_mmap, &[0, 4096, READ, GROWS]),
            (SYS_mmap, &[lowest, 4096, READ, GROWS]),
            (SYS_mmap, &[1, 4096, READ, private]),
            (SYS_mmap, &[lowest - 1, 4096, READ, private]),
            (libc::SYS_mprotect, &[0, 4096, EXEC]),
            (SYS_mremap, &[0, 1, 1, fixed, lowest - 1]),
            (SYS_mremap, &[0, 1, 1, kept, PATH]),
        ],
    );
}

#[test]
fn a_program_starts_threads_and_signals_only_itself() {
    let thread = flags(libc::CLONE_THREAD | libc::CLONE_VM);
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
