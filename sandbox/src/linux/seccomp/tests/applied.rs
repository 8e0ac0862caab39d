//! The filters of each profile, applied to a thread. They end with it.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use libc::EPERM;
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpOp};

use super::super::{Executable, Surroundings, canary, compiler, install, program, rules, search};
use super::Verdict::{Allowed, Notified, Refused};
use super::{Deciding, Filters, context, verdict};
use crate::{Policy, Step};

/// Runs `work` on a thread that gains no privileges, as filters require.
fn confined<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let thread = || {
        // SAFETY: it takes no pointer and affects this thread.
        assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
        work()
    };
    std::thread::scope(|scope| scope.spawn(thread).join().unwrap())
}

/// Both ends of a supervisor's socket.
fn channel() -> (File, UnixStream) {
    let (own, other) = UnixStream::pair().unwrap();
    (File::from(OwnedFd::from(own)), other)
}

/// The filters of a program that reports to `channel`.
fn of_program(channel: &File) -> Filters {
    let mut context = context(false, false);
    context.channel = channel.as_raw_fd();
    program::filters(context).unwrap()
}

#[test]
fn each_profile_has_its_filters() {
    let executable = Executable::open(vec!["/bin/sh".into()], None, &Policy::compiler()).unwrap();
    let filters = |policy: &Policy, signals_scoped| {
        let surroundings =
            Surroundings { executable: &executable, channel: 9, namespaces: false, scopes: signals_scoped };
        Filters::new(policy, &surroundings).unwrap()
    };
    let (chmod, open) = ((libc::SYS_fchmodat, &[0, 0, 0o755][..]), (libc::SYS_openat, &[][..]));
    for (policy, expected) in [
        (Policy::program(), [Notified, Notified]),
        (Policy::compiler(), [Refused(EPERM), Allowed]),
        (Policy::build(), [Allowed, Allowed]),
    ] {
        let filters = filters(&policy, true);
        assert_eq!([verdict(&filters, chmod), verdict(&filters, open)], expected);
    }
    let own = u64::from(std::process::id());
    let (descriptor, path) = executable.exec_arguments();
    let exec = [descriptor as u64, path, 0, 0, libc::AT_EMPTY_PATH as u64];
    for (signals_scoped, of_another) in [(true, Allowed), (false, Notified)] {
        let filters = filters(&Policy::program(), signals_scoped);
        assert_eq!(verdict(&filters, (libc::SYS_tgkill, &[own])), Allowed);
        assert_eq!(verdict(&filters, (libc::SYS_tkill, &[own + 1])), of_another);
        assert_eq!(verdict(&filters, (libc::SYS_execveat, &exec)), Allowed);
    }
    let with_paths = Policy::program().scratch(1 << 20);
    assert_eq!(verdict(&filters(&with_paths, true), open), Allowed);
}

#[test]
fn what_must_fail_under_the_filters_is_noticed_without_them() {
    for policy in [Policy::program(), Policy::program().scratch(1 << 20), Policy::compiler(), Policy::build()]
    {
        // SAFETY: the variable belongs to this thread.
        unsafe { *libc::__errno_location() = EPERM };
        let failure = canary(&policy).unwrap_err();
        assert_eq!((failure.step, failure.errno), (Step::Canary, 0));
    }
}

/// A filter that returns `error` for calls of `call` whose second argument is `argument`.
fn answering(call: i64, argument: u32, error: i32) -> BpfProgram {
    let mut answered = search::Rules::new();
    let is_argument = rules::int(1, SeccompCmpOp::Eq, argument).unwrap();
    rules::when(&mut answered, call, vec![is_argument]).unwrap();
    rules::answering(answered, &SeccompAction::Errno(error as u32)).unwrap()
}

#[test]
fn what_fails_under_the_filters_for_another_reason_is_reported_with_it() {
    let socket = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC) as u32;
    let failure = confined(|| {
        install::silent(&answering(libc::SYS_socket, socket, libc::EACCES)).unwrap();
        canary(&Policy::compiler()).unwrap_err()
    });
    assert_eq!((failure.step, failure.errno), (Step::Canary, libc::EACCES));
}

#[test]
fn a_listener_that_the_kernel_denies_is_a_failure() {
    let (channel, _other) = channel();
    let filters = of_program(&channel);
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as u32;
    let failure = confined(|| {
        install::silent(&answering(libc::SYS_seccomp, flags, libc::EACCES)).unwrap();
        filters.apply(&channel).unwrap_err()
    });
    assert_eq!((failure.step, failure.errno), (Step::Seccomp, libc::EACCES));
}

#[test]
fn a_compiler_is_refused_by_its_filters() {
    let (channel, _other) = channel();
    let filters = compiler::filters(&context(true, false), true).unwrap();
    let applied = confined(|| (filters.apply(&channel), canary(&Policy::compiler())));
    assert!(matches!(applied, (Ok(false), Ok(()))));
}

#[test]
fn a_program_sends_its_listener_and_nothing_more() {
    let (channel, other) = channel();
    let filters = of_program(&channel);
    let (notifies, again) = confined(|| (filters.apply(&channel), install::silent(&filters.common)));
    assert!(matches!(notifies, Ok(true)));
    assert_eq!(again.unwrap_err().raw_os_error(), Some(EPERM));
    let received =
        crate::platform::control::receive_with::<_, crate::platform::control::Status>(&other, &other);
    assert!(matches!(received, Ok(Some((_, descriptors))) if descriptors.len() == 1));
}

#[test]
fn below_another_listener_a_program_is_refused_by_its_filters() {
    let (channel, _other) = channel();
    let filters = of_program(&channel);
    let applied = confined(|| {
        let Deciding::Notifying { filter, .. } = &filters.deciding else {
            panic!("a program has a listener")
        };
        let _first = install::notifying(filter).unwrap();
        (filters.apply(&channel), canary(&Policy::program()))
    });
    assert!(matches!(applied, (Ok(false), Ok(()))));
}
