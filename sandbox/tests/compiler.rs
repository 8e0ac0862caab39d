//! A compiler and a build under their policies: they do their work and reach nothing else.
//!
//! Programs and the ends of processes have their own tests.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod common;

use std::net::{TcpListener, UdpSocket};
use std::path::Path;

use common::{
    EACCES, ENOENT, EPERM, EROFS, ESRCH, Output, attempt, attempts, compiled, compiler_policy, confined,
    copy_program, exactly, finish, plain, rustc, sandbox, sysroot, target_arguments, tiers,
};
use sandbox::{Access, Command, Layers, Policy, Profile, SpawnError, Step};

fn compile(folder: &Path, source: &str) -> Output {
    std::fs::write(folder.join("main.rs"), source).unwrap();
    confined(compiler_policy(folder), Command::new(rustc()).args(target_arguments()).arg("main.rs"))
}

/// The layer that denies an attempt: the filter in every tier, or the file system, with a different error in
/// each.
#[derive(Clone, Copy)]
enum By {
    Filter,
    Files,
    /// The filter, except in tiers whose process namespace or Landlock keeps signals inside.
    Scope,
}

impl By {
    fn errors(self, tier: Layers) -> &'static [i32] {
        match self {
            Self::Filter => &[EPERM],
            // In its own root, the path does not exist; under Landlock it cannot be opened.
            Self::Files if tier.namespaces => &[ENOENT, EROFS],
            Self::Files => &[EACCES],
            Self::Scope => &[EPERM, ESRCH],
        }
    }
}

/// Tries it plain, which must work, and under the compiler's policy in each tier, which must fail with the
/// expected error.
fn is_denied(name: &str, argument: &str, by: By) {
    let control = plain(name, argument);
    assert!(control.is_done(), "the control of {name} must work: {control:?}");
    is_refused(name, argument, by);
}

fn is_refused(name: &str, argument: &str, by: By) {
    for tier in tiers() {
        let confined = attempt(exactly(Policy::compiler(), tier), name, argument);
        let expected = confined.errno().is_some_and(|error| by.errors(tier).contains(&error));
        assert!(expected, "{tier}: {name} {argument}: {confined:?}");
    }
}

#[test]
fn compiles_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let output = compile(folder.path(), "fn main() { println!(\"made here\"); }");
    assert!(output.status.success(), "{output:?}");
    let made = std::process::Command::new(folder.path().join("main")).output().unwrap();
    assert_eq!(made.stdout, b"made here\n");
}

#[test]
fn compiles_no_file_of_the_host() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["/etc/passwd", "/proc/self/environ", "/proc/self/status"] {
        let output = compile(
            folder.path(),
            &format!("fn main() {{ println!(\"{{}}\", include_bytes!({path:?}).len()); }}"),
        );
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let refused = ["Permission denied", "No such file or directory"];
        assert!(refused.iter().any(|text| output.stderr.contains(text)), "{output:?}");
    }
    let assembly = "std::arch::global_asm!(\".incbin \\\"/etc/passwd\\\"\"); fn main() {}";
    assert!(!compile(folder.path(), assembly).status.success());
    let environment = "fn main() { println!(\"{}\", env!(\"PATH\")); }";
    assert!(compile(folder.path(), environment).stderr.contains("not defined at compile time"));
}

#[test]
fn reaches_neither_network_nor_host() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let file = file.to_str().unwrap();
    let host = std::process::id().to_string();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    is_denied("tcp", &tcp.local_addr().unwrap().to_string(), By::Filter);
    is_denied("udp", &udp.local_addr().unwrap().to_string(), By::Filter);
    is_denied("datagram-pair", "", By::Filter);
    is_denied("socketpair", "", By::Filter);
    for name in ["read", "list"] {
        let path = if name == "read" { "/etc/passwd" } else { "/etc" };
        is_denied(name, path, By::Files);
    }
    is_denied("read", &format!("/proc/{host}/environ"), By::Files);
    is_denied("create", file, By::Files); // The control has created it.
    for name in ["chmod", "touch", "truncate"] {
        is_denied(name, file, By::Filter);
    }
    is_refused("remove", file, By::Files);
    assert!(plain("remove", file).is_done());
    is_denied("execute", "/bin/sh", By::Files);
    is_denied("kill", &host, By::Scope);
    for name in ["prlimit", "set-owner"] {
        is_denied(name, &host, By::Filter);
    }
    for name in ["ptrace", "read-memory", "unshare", "personality", "keyring", "memfd", "setpgid", "daemon"] {
        is_denied(name, "", By::Filter);
    }
    #[cfg(target_arch = "x86_64")]
    assert_eq!(attempt(Policy::compiler(), "x32-interface", "").signal(), Some(common::SIGSYS));
    assert_eq!(attempt(Policy::compiler(), "fork", "").detail(), "");
}

#[test]
fn writes_only_to_granted_paths() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let text = file.to_str().unwrap();
    let writing = || Policy::build().grant(folder.path(), Access::Write);
    for name in ["create", "chmod", "touch", "read", "remove"] {
        assert!(attempt(writing(), name, text).is_done(), "{name}");
    }
    assert!(!file.exists());
    for tier in tiers() {
        let reading = exactly(Policy::build().grant(folder.path(), Access::Read), tier);
        let errno = if tier.namespaces { EROFS } else { EACCES };
        assert_eq!(attempt(reading, "create", text).errno(), Some(errno), "{tier}");
    }
    // A written file cannot be executed without an execute grant.
    copy_program(attempts(), &file);
    assert_eq!(attempt(writing(), "execute", text).errno(), Some(EACCES));
    let executed = attempt(writing().grant(folder.path(), Access::ReadExecute), "execute", text);
    // First the output of the executed program, which takes `-c` for an attempt's name, then the result of
    // executing it.
    assert_eq!(executed.stdout, "errno 0 unsupported\ndone exit status: 1\n");
}

/// A device can be written to but not changed, because its file system belongs to the machine.
#[test]
fn changes_no_device() {
    if !rustix::process::getuid().is_root() {
        // Only root can create a device.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let device = folder.path().join("null");
    let null = rustix::fs::makedev(1, 3);
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    rustix::fs::mknodat(rustix::fs::CWD, &device, rustix::fs::FileType::CharacterDevice, mode, null).unwrap();
    for tier in tiers().into_iter().filter(|tier| tier.namespaces) {
        let policy = || exactly(Policy::build().grant(&device, Access::Write), tier);
        let path = device.to_str().unwrap();
        assert!(attempt(policy(), "create", path).is_done(), "{tier}: it can be written to");
        for name in ["chmod", "touch"] {
            assert_eq!(attempt(policy(), name, path).errno(), Some(EROFS), "{tier}: {name}");
        }
    }
}

#[test]
fn builds_a_package_with_a_build_script_and_a_macro() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let package =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    write(
        "Cargo.toml",
        &format!("{}[dependencies]\nmacros = {{ path = \"macros\" }}\n[workspace]\n", package("made")),
    );
    write("build.rs", "fn main() { println!(\"cargo::rustc-env=FROM_SCRIPT=script\"); }");
    write("src/main.rs", "fn main() { println!(\"{} {}\", env!(\"FROM_SCRIPT\"), macros::word!()); }");
    write("macros/Cargo.toml", &format!("{}[lib]\nproc-macro = true\n", package("macros")));
    let source = "#[proc_macro] pub fn word(_: proc_macro::TokenStream) -> proc_macro::TokenStream { \"\\\"macro\\\"\".parse().unwrap() }";
    write("macros/src/lib.rs", source);
    let policy = ["/usr", "/lib", "/lib64", "/bin"]
        .into_iter()
        .fold(Policy::build(), |policy, path| policy.grant_if_exists(path, Access::ReadExecute))
        // Some distributions keep the links from `cc` to a compiler here.
        .grant_if_exists("/etc/alternatives", Access::Read)
        .grant(sysroot(), Access::ReadExecute)
        .grant("/dev/null", Access::Write)
        .grant(folder.path(), Access::Write)
        .grant(folder.path(), Access::ReadExecute)
        .variable("PATH", format!("{}:/usr/bin:/bin", sysroot().join("bin").display()))
        // Without /proc, the loader does not know a program's folder, and so cannot find the libraries next
        // to it.
        .variable("LD_LIBRARY_PATH", sysroot().join("lib").to_str().unwrap())
        .variable("CARGO_HOME", folder.path().join("home").to_str().unwrap())
        .variable("TMPDIR", folder.path().to_str().unwrap())
        .working_folder(folder.path());
    let output = confined(policy, Command::new(sysroot().join("bin/cargo")).args(["build", "--offline"]));
    assert!(output.status.success(), "{output:?}");
    let made = std::process::Command::new(folder.path().join("target/debug/made")).output().unwrap();
    assert_eq!(made.stdout, b"script macro\n");
}

#[test]
fn refuses_by_step_and_subject() {
    let step = |policy: Policy, program: &str| match sandbox(policy).spawn(Command::new(program)) {
        Err(SpawnError::Refused(failure)) => (failure.step, failure.subject, failure.errno),
        other => panic!("{other:?}"),
    };
    let namespaces = tiers()[0].namespaces;
    for policy in [Policy::program(), Policy::compiler()] {
        assert_eq!(
            step(policy.clone(), "/nonexistent/program"),
            (Step::Executable, "/nonexistent/program".to_owned(), 2)
        );
        assert_eq!(
            step(policy.clone().working_folder("/nonexistent/b"), "/bin/true"),
            (Step::WorkingFolder, "/nonexistent/b".to_owned(), 2)
        );
        assert_eq!(step(policy.clone(), "/etc"), (Step::Executable, "/etc".to_owned(), EACCES));
        assert_eq!(step(policy.clone(), "/etc/passwd"), (Step::Execute, "/etc/passwd".to_owned(), EACCES));
        // A program has grants only in tiers with namespaces.
        if !namespaces && policy.profile == Profile::Program {
            continue;
        }
        assert_eq!(
            step(policy.clone().grant("/nonexistent/a", Access::Read), "/bin/true"),
            (Step::Grant, "/nonexistent/a".to_owned(), 2)
        );
        let started = sandbox(policy.grant_if_exists("/nonexistent/a", Access::Read))
            .spawn(Command::new(attempts()).arg("nothing"));
        assert!(finish(started.unwrap()).is_done());
    }
    let invalid = |policy: Policy| sandbox(policy).spawn(Command::new(attempts())).unwrap_err().to_string();
    assert!(
        invalid(Policy::program().grant("a", Access::Read)).contains("the granted path a is not absolute")
    );
    assert!(invalid(Policy::program().working_folder("b")).contains("the working folder b is not absolute"));
    assert!(invalid(Policy::program().variable("A=B", "")).contains("\"A=B\""));
    assert!(
        invalid(Policy::program().limits(|limits| limits.open_files = None)).contains("limits.open_files")
    );
    let relative = sandbox(Policy::program()).spawn(Command::new("true")).unwrap_err();
    assert!(relative.to_string().contains("the program true is not absolute"), "{relative}");
    let helper = sandbox::Sandbox::new(Policy::program())
        .helper("/nonexistent/helper")
        .spawn(Command::new(attempts()))
        .unwrap_err();
    assert!(helper.to_string().contains("/nonexistent/helper"), "{helper}");
    // An executable that is not a helper ends without applying anything.
    let other = sandbox::Sandbox::new(Policy::program())
        .helper("/bin/true")
        .spawn(Command::new(attempts()))
        .unwrap_err();
    assert!(matches!(other, SpawnError::HelperEnded(_)), "{other}");
}

/// Others could later use a file that runs with the rights of the user who started the compiler.
#[test]
fn creates_no_set_user_files() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let attempts = [
        "open",
        "openat",
        "temporary",
        "creat",
        "fchmod",
        "chmod",
        "fchmodat",
        "fchmodat2",
        "openat2",
        "mknod",
        "mknodat",
    ];
    for tier in tiers() {
        for policy in [Policy::compiler(), Policy::build()] {
            for attempt in attempts {
                let policy = exactly(policy.clone().grant(folder.path(), Access::Write), tier);
                let name = format!("set-user-{attempt}");
                let refused = confined(policy, Command::new(compiled("files")).args([&name, path]));
                assert!(!refused.is_done(), "{tier}: {name}: {refused:?}");
            }
        }
    }
    for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
        assert_eq!(entry.metadata().unwrap().mode() & 0o6000, 0, "{entry:?}");
    }
}
