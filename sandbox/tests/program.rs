//! A program under its policy: every attempt works without the sandbox and fails with it.
//!
//! Compilers and the ends of processes have their own tests.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use common::{
    EPERM, ESRCH, SIGABRT, SIGSEGV, SIGSYS, SIGXCPU, attempt, attempts, compiled, exactly, finish, helper,
    in_memory, plain, sandbox, tiers,
};
use sandbox::{Command, Confinement, Layers, Policy, PolicyError, Sandbox, SpawnError, Step};

/// Tries it plain, which must work, and confined, which must return EPERM. `tkill` may return ESRCH, because
/// the other process does not exist in a process namespace.
fn is_denied(name: &str, argument: &str) {
    let control = plain(name, argument);
    assert!(control.is_done(), "the control of {name} must work: {control:?}");
    let confined = attempt(Policy::program(), name, argument);
    let errors = if name == "tkill" { &[EPERM, ESRCH][..] } else { &[EPERM] };
    assert!(confined.errno().is_some_and(|error| errors.contains(&error)), "{name} {argument}: {confined:?}");
}

/// Tries it plain, which must work, and confined, which must end with SIGSYS.
fn is_killed(name: &str) {
    let control = plain(name, "");
    assert!(control.is_done(), "the control of {name} must work: {control:?}");
    let confined = attempt(Policy::program(), name, "");
    assert_eq!(confined.signal(), Some(SIGSYS), "{name}: {confined:?}");
}

#[test]
fn works_and_reports_its_layers() {
    for tier in tiers() {
        let command = Command::new(attempts()).args(["arguments", "a b\u{e4}"]);
        let child = sandbox(exactly(Policy::program(), tier)).spawn(command).unwrap();
        let report = child.report().clone();
        assert_eq!(report.tier, tier.name());
        let all =
            ["namespaces", "capabilities", "no_new_privs", "landlock", "descriptors", "rlimits", "seccomp"];
        let expected = all.into_iter().filter(|layer| match *layer {
            "namespaces" => tier.namespaces,
            "landlock" => tier.landlock,
            _ => true,
        });
        // A listener only if no process above has one; a control group only if groups are delegated.
        let reported =
            report.layers.iter().filter(|layer| !["seccomp-notify", "cgroup"].contains(&layer.as_str()));
        assert!(expected.eq(reported), "{report:?}");
        let abi = sandbox(Policy::program()).support().landlock_abi;
        assert_eq!(report.landlock_abi, if tier.landlock { abi } else { 0 });
        assert_eq!(finish(child).detail(), "a b\u{e4} 0");
    }
    let best = sandbox(Policy::program()).spawn(Command::new(attempts()).arg("nothing")).unwrap();
    assert_eq!(best.report().tier, tiers()[0].name(), "the best tier is chosen");
}

#[test]
fn an_executable_in_memory_is_confined_like_a_file() {
    for tier in tiers() {
        let command = |name: &str| Command::new("/image").image(in_memory(attempts())).args([name, "a b"]);
        let child = sandbox(exactly(Policy::program(), tier)).spawn(command("arguments")).unwrap();
        assert_eq!(finish(child).detail(), "a b 0", "{tier}");
        let child = sandbox(exactly(Policy::program(), tier)).spawn(command("fork")).unwrap();
        assert_eq!(
            finish(child).errno(),
            attempt(exactly(Policy::program(), tier), "fork", "").errno(),
            "{tier}"
        );
    }
    // The processes of a compiler execute each other by path.
    let refused = sandbox(Policy::compiler()).spawn(Command::new("/image").image(in_memory(attempts())));
    let error = refused.unwrap_err();
    assert!(matches!(&error, SpawnError::Refused(failure) if failure.step == Step::Executable), "{error}");
}

#[test]
fn starts_only_if_the_machine_supports_the_minimum() {
    let supported = sandbox(Policy::program()).support().layers;
    for minimum in Layers::TIERS {
        // Not with `sandbox`, which would replace the default minimum.
        let policy = Policy::program().confinement(Confinement::AtLeast(minimum));
        let started = Sandbox::new(policy).helper(helper()).spawn(Command::new(attempts()).arg("nothing"));
        match started {
            Ok(child) => {
                assert!(supported.include(minimum), "{minimum}");
                assert_eq!(finish(child).status.code(), Some(0), "{minimum}");
            }
            Err(error) => {
                assert!(matches!(error, SpawnError::Unsupported(_)), "{minimum}: {error}");
                assert!(!supported.include(minimum), "{minimum}: {error}");
            }
        }
    }
}

/// A child could lock a foreign file, or change its mode if started by root: `/dev/null` belongs to the
/// machine.
#[test]
fn holds_only_its_own_descriptors() {
    for policy in [Policy::program(), Policy::compiler(), Policy::build()] {
        let held = |command: Command| finish(sandbox(policy.clone()).spawn(command.arg("held")).unwrap());
        assert_eq!(held(Command::new(compiled("files"))).detail(), "0 pipe, 1 pipe, 2 pipe");
        let (_ours, theirs) = UnixStream::pair().unwrap();
        let with_broker = held(Command::new(compiled("files")).broker(theirs));
        assert_eq!(with_broker.detail(), "0 pipe, 1 pipe, 2 pipe, 3 socket");
    }
}

#[test]
fn sees_only_the_environment_of_the_policy() {
    assert!(plain("environment", "").detail().contains("PATH="));
    let policy = Policy::program().variable("NAME", "value");
    assert_eq!(attempt(policy, "environment", "").detail(), "NAME=value;");
}

#[test]
fn reaches_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, "secret").unwrap();
    let file = file.to_str().unwrap();
    let home = std::env::var("HOME").unwrap();
    for (name, argument) in [
        ("read", "/etc/passwd"),
        ("read", file),
        ("read-openat2", file),
        ("list", &home),
        ("stat", file),
        ("chmod", file),
        ("touch", file),
    ] {
        is_denied(name, argument);
    }
    is_denied("truncate", file);
    std::fs::write(file, "secret").unwrap();
    let created = folder.path().join("created");
    for name in ["create", "symlink"] {
        is_denied(name, created.to_str().unwrap());
        std::fs::remove_file(&created).unwrap();
    }
    assert_eq!(attempt(Policy::program(), "create", created.to_str().unwrap()).errno(), Some(EPERM));
    assert!(!created.exists());
    // The program's own file is readable under Landlock, but the filter still denies opening it.
    is_denied("read", attempts().to_str().unwrap());
}

#[test]
fn reaches_no_socket() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _unix = UnixListener::bind(&path).unwrap();
    let name = format!("sandbox-test-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    is_denied("tcp", &tcp.local_addr().unwrap().to_string());
    is_denied("udp", &udp.local_addr().unwrap().to_string());
    is_denied("unix", path.to_str().unwrap());
    is_denied("abstract", &name);
    is_denied("socketpair", "");
}

#[test]
fn reaches_no_other_process() {
    let host = std::process::id().to_string();
    for name in ["kill", "tgkill", "tkill", "set-owner", "prlimit"] {
        is_denied(name, &host);
    }
    is_denied("read", &format!("/proc/{host}/environ"));
    for name in ["ptrace", "read-memory", "unshare", "personality", "keyring"] {
        is_killed(name);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn reaches_no_other_kernel_interface() {
    assert_eq!(plain("x32-interface", "").signal(), None);
    assert_eq!(attempt(Policy::program(), "x32-interface", "").signal(), Some(SIGSYS));
    is_killed("old-interface");
}

#[test]
fn starts_no_process_and_no_other_code() {
    is_denied("execute", "/bin/sh");
    for name in [
        "fork",
        "execute-self",
        "memfd",
        "raise-limit",
        "map-low",
        "move-low",
        "map-growing",
        "map-executable",
        "protect-executable",
    ] {
        is_denied(name, "");
    }
    // With the same descriptor that its own exec was allowed with.
    let again = attempt(Policy::program(), "execute-self", "64");
    assert_eq!(again.errno(), Some(EPERM), "{again:?}");
}

#[test]
fn inherits_nothing_but_the_broker() {
    let mut secret = tempfile::tempfile().unwrap();
    secret.write_all(b"secret").unwrap();
    let leaked = rustix::io::fcntl_dupfd_cloexec(&secret, 40).unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let rewind = || rustix::fs::seek(&secret, rustix::fs::SeekFrom::Start(0)).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&leaked).to_string();
    rewind();
    assert_eq!(plain("descriptor", &number).detail(), "secret");
    rewind();
    let hidden = attempt(Policy::program(), "descriptor", &number);
    assert_eq!(hidden.errno(), Some(9), "EBADF is expected: {hidden:?}");

    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let child =
        sandbox(Policy::program()).spawn(Command::new(attempts()).arg("broker").broker(theirs)).unwrap();
    let mut question = [0; 8];
    ours.read_exact(&mut question).unwrap();
    ours.write_all(b"answer").unwrap();
    assert_eq!((&question, finish(child).detail()), (b"question", "answer"));
    assert_eq!(ours.read(&mut question).unwrap(), 0, "no other process holds the child's end");
}

#[test]
fn is_bounded_in_memory() {
    let bytes = (600_u64 << 20).to_string();
    let ended = attempt(Policy::program(), "memory", &bytes);
    assert_eq!(ended.signal(), Some(SIGABRT), "{ended:?}");
    assert!(ended.stderr.contains(&format!("memory allocation of {bytes} bytes failed")), "{ended:?}");
    let larger = Policy::program().limits(|limits| {
        limits.address_space = Some(1 << 30);
        // Applies too where control groups are delegated.
        limits.total_memory = Some(1 << 30);
    });
    assert_eq!(attempt(larger, "memory", &bytes).detail(), bytes);
}

#[test]
fn is_bounded_in_processor_time() {
    let policy = Policy::program().limits(|limits| limits.cpu_seconds = Some(1));
    assert_eq!(attempt(policy, "compute", "").signal(), Some(SIGXCPU));
}

#[test]
fn is_bounded_in_descriptors() {
    let count = |output: common::Output| output.detail().parse::<u32>().unwrap();
    let policy = Policy::program().limits(|limits| limits.open_files = Some(20));
    assert_eq!(count(attempt(policy, "descriptors", "")), 17);
    assert!(count(plain("descriptors", "")) > 64);
}

#[test]
fn overflow_and_panic_end_like_outside() {
    let overflow = attempt(Policy::program(), "overflow", "");
    // If neither a process namespace nor Landlock (from ABI 6 on) keeps signals inside, a thread may not
    // signal itself, and abort ends with a trap.
    let support = sandbox(Policy::program()).support();
    let scoped = support.layers.namespaces || support.landlock_abi >= 6;
    assert_eq!(overflow.signal(), Some(if scoped { SIGABRT } else { SIGSEGV }), "{overflow:?}");
    assert!(overflow.stderr.contains("has overflowed its stack"), "{overflow:?}");
    let panic = attempt(Policy::program(), "panic", "");
    assert_eq!(panic.status.code(), Some(101));
    assert!(panic.stderr.contains("on purpose"));
}

#[test]
fn cannot_be_dynamically_linked() {
    let refused = sandbox(Policy::program()).spawn(Command::new("/bin/true")).unwrap_err();
    assert!(matches!(&refused, SpawnError::Refused(failure) if failure.step == Step::Execute), "{refused}");
    // A grant lets a program read its loader and libraries, not execute them. Without namespaces there are no
    // grants.
    let policy = ["/bin", "/usr", "/lib", "/lib64"]
        .into_iter()
        .fold(Policy::program(), |policy, path| policy.grant_if_exists(path, sandbox::Access::ReadExecute));
    let refused = sandbox(policy).spawn(Command::new("/bin/true")).unwrap_err();
    assert!(
        match &refused {
            SpawnError::Refused(failure) => failure.step == Step::Execute,
            SpawnError::Policy(PolicyError::WithoutNamespaces { .. }) => true,
            _ => false,
        },
        "{refused}"
    );
}
