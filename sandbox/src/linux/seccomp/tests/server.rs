//! Calls of servers, with each network and with and without namespaces.

use libc::{AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, EPERM, SOCK_DGRAM, SOCK_STREAM};

use super::super::dangerous;
use super::super::server::{Reach, filters};
use super::Verdict::{Allowed, Notified, Refused};
use super::{PATH, PROCESS, SET_UID, assert_all, context, flags, number, verdict};

pub(super) const FULL: Reach = Reach { namespaces: true, internet: true, unix: true };
const ALONE: Reach = Reach { namespaces: true, internet: false, unix: true };
const LOWEST: Reach = Reach { namespaces: false, internet: false, unix: false };

const NEEDED: &[(i64, &[u64])] = &[
    (libc::SYS_connect, &[]),
    (libc::SYS_sendmsg, &[3, PATH, 0]),
    (libc::SYS_recvmsg, &[3, PATH, 0]),
    (libc::SYS_socketpair, &[flags(AF_UNIX), flags(SOCK_STREAM)]),
    (libc::SYS_execve, &[]),
    (libc::SYS_memfd_create, &[]),
    (libc::SYS_mmap, &[0, 4096, flags(libc::PROT_EXEC | libc::PROT_WRITE)]),
];

/// What namespaces contain.
const CONTAINED: &[(i64, &[u64])] = &[
    (libc::SYS_setsid, &[]),
    (libc::SYS_inotify_add_watch, &[]),
    (libc::SYS_msgget, &[]),
    (libc::SYS_fchmod, &[3, 0o644]),
    (libc::SYS_utimensat, &[]),
    (libc::SYS_setxattr, &[]),
];

#[test]
fn a_server_has_sockets_and_no_dangerous_calls() {
    for reach in [FULL, ALONE, LOWEST] {
        let filters = filters(&context(true, false), reach, false).unwrap();
        for call in dangerous::calls() {
            assert_eq!(verdict(&filters, (call, &[])), Refused(EPERM), "{call}");
        }
        assert_all(&filters, Allowed, NEEDED);
        assert_all(&filters, if reach.namespaces { Allowed } else { Refused(EPERM) }, CONTAINED);
        assert_all(
            &filters,
            Refused(EPERM),
            &[
                (libc::SYS_fchmod, &[3, SET_UID]),
                (libc::SYS_prlimit64, &[PROCESS]),
                (libc::SYS_ioctl, &[0, number(libc::TIOCSTI)]),
                (libc::SYS_pidfd_send_signal, &[]),
                (libc::SYS_recvmsg, &[3, PATH, flags(libc::MSG_OOB)]),
                (libc::SYS_socketpair, &[flags(libc::AF_ALG), flags(SOCK_STREAM)]),
            ],
        );
        assert_eq!(verdict(&filters, (libc::SYS_splice, &[])), Refused(libc::ENOSYS));
    }
}

#[test]
fn a_servers_network_decides_on_families_and_protocols() {
    const SCTP: u64 = 132;
    const DIAGNOSIS: u64 = 4;
    let stream = flags(SOCK_STREAM);
    for reach in [FULL, ALONE, LOWEST] {
        let filters = filters(&context(true, false), reach, false).unwrap();
        let verdict = |family: i32, kind: u64, protocol| {
            verdict(&filters, (libc::SYS_socket, &[flags(family), kind, protocol]))
        };
        let allowed = |is_allowed| if is_allowed { Allowed } else { Refused(EPERM) };
        for family in [AF_INET, AF_INET6] {
            assert_eq!(verdict(family, stream, 0), allowed(reach.internet));
            assert_eq!(verdict(family, flags(SOCK_DGRAM), flags(libc::IPPROTO_UDP)), allowed(reach.internet));
            assert_eq!(verdict(family, stream, SCTP), Refused(EPERM));
        }
        assert_eq!(verdict(AF_UNIX, stream, 0), allowed(reach.unix));
        assert_eq!(verdict(AF_NETLINK, stream, 0), allowed(reach.namespaces || reach.internet));
        assert_eq!(verdict(AF_NETLINK, stream, DIAGNOSIS), Refused(EPERM));
        for family in [libc::AF_VSOCK, libc::AF_ALG, libc::AF_PACKET, libc::AF_BLUETOOTH] {
            assert_eq!(verdict(family, stream, 0), Refused(EPERM), "{family}");
        }
    }
}

/// In a trial, the supervisor lets calls with paths continue, so what is refused of them is refused before.
#[test]
fn a_trial_reports_paths_and_refused_calls() {
    let filters = filters(&context(true, false), ALONE, true).unwrap();
    let creating = flags(libc::O_CREAT | libc::O_WRONLY);
    assert_all(
        &filters,
        Notified,
        &[
            (libc::SYS_openat, &[0, PATH, creating, 0o644]),
            (libc::SYS_execve, &[PATH]),
            (libc::SYS_connect, &[3, PATH, 16]),
            (libc::SYS_socket, &[flags(AF_INET), flags(SOCK_STREAM)]),
            (libc::SYS_ptrace, &[]),
        ],
    );
    assert_eq!(verdict(&filters, (libc::SYS_openat, &[0, PATH, creating, SET_UID])), Refused(EPERM));
    assert_all(&filters, Allowed, &[(libc::SYS_socket, &[flags(AF_UNIX), flags(SOCK_STREAM)])]);
}
