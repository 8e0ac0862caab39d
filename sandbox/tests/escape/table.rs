//! The attempts as data: what is tried, on what, how its success shows, and which layers stop it alone.
//!
//! `suite` runs and judges them.

use sandbox::Layers;

/// The layers that stop an attempt, each alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) seccomp: bool,
    /// Landlock, from this ABI on. 0 means never.
    pub(crate) landlock: u32,
    pub(crate) namespaces: bool,
    /// Measures that apply with any layers: capabilities, `no_new_privs`, descriptors, resource limits.
    pub(crate) always: bool,
}

impl Held {
    /// Whether these layers stop it, with this ABI of Landlock.
    pub(crate) fn by(self, layers: Layers, abi: u32) -> bool {
        self.always
            || layers.seccomp && self.seccomp
            || layers.landlock && self.landlock > 0 && abi >= self.landlock
            || layers.namespaces && self.namespaces
    }
}

const fn held(seccomp: bool, landlock: u32, namespaces: bool) -> Held {
    Held { seccomp, landlock, namespaces, always: false }
}

/// Stopped by the filter alone.
const S: Held = held(true, 0, false);
/// Stopped by the filter and by namespaces, not by Landlock.
const SN: Held = held(true, 0, true);
/// Stopped by each of the three alone.
const SLN: Held = held(true, 1, true);
/// Stopped by Landlock and by namespaces, not by a compiler's filter.
const LN: Held = held(false, 1, true);
/// For a compiler, stopped by its root alone.
const N: Held = held(false, 0, true);
/// Stopped by measures that always apply.
const ALWAYS: Held = Held { seccomp: false, landlock: 0, namespaces: false, always: true };

/// Stopped by each of the three alone, Landlock from this ABI on.
const fn from_abi(landlock: u32) -> Held {
    held(true, landlock, true)
}

/// The difference of a compiler's or a build's policy.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tree {
    /// Like a program.
    Same,
    /// Stopped by other layers.
    Differs(Held),
    /// Not tried: it is part of its work, or has its own test.
    Apart,
}

/// The target of an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument {
    Text(&'static str),
    /// The planted home, and the private key in it.
    Home,
    Key,
    /// An existing file, a missing one, and a folder.
    File,
    New,
    Folder,
    /// The victim: its process id, the address and the descriptor of its secret, and the secret's length.
    Victim,
    Address,
    Descriptor,
    Length,
    /// The number of a message queue of the victim.
    Queue,
    /// Listeners of the test.
    Tcp,
    Udp,
    Unix,
    Abstract,
    /// A terminal that was passed on, or a socket that has received a text and urgent data.
    Terminal,
    Socket,
    /// The name of the machine.
    HostName,
    /// A descriptor with a secret that the host left open.
    Leaked,
    /// A program that runs as another user.
    SetUser,
    /// The mark of this run's processes.
    Token,
}

/// The proof of an attempt's success, besides its own report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Only by its report.
    Reported,
    /// It prints the secret.
    Secret,
    /// The test's folder has changed.
    Changed,
    /// A listener was reached.
    Reached,
    /// The victim has ended. The attempt's report does not count.
    Ended,
    /// The victim was signalled. The attempt's report does not count.
    Signalled,
    /// One of its processes remains.
    Left,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The number of the attempt, with a letter if it has several forms.
    pub(crate) number: &'static str,
    pub(crate) attempt: &'static str,
    pub(crate) on: &'static [Argument],
    pub(crate) proof: Proof,
    pub(crate) program: Held,
    pub(crate) tree: Tree,
    /// Error numbers of its refusal besides those common to the layers.
    pub(crate) also: &'static [i32],
}

impl Row {
    const fn also(self, also: &'static [i32]) -> Self {
        Self { also, ..self }
    }

    const fn tree(self, tree: Tree) -> Self {
        Self { tree, ..self }
    }
}

const fn row(
    number: &'static str,
    attempt: &'static str,
    on: &'static [Argument],
    proof: Proof,
    program: Held,
) -> Row {
    Row { number, attempt, on, proof, program, tree: Tree::Same, also: &[] }
}

use Argument as A;
use Proof as P;

const FILES: Tree = Tree::Differs(LN);

const EBADF: i32 = 9;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
/// In an IPC namespace, no queue has the number.
const EINVAL: i32 = 22;
const EMFILE: i32 = 24;
const ENOSYS: i32 = 38;

pub(crate) const ROWS: &[Row] = &[
    row("1", "read", &[A::Key], P::Secret, SLN).tree(FILES),
    row("2", "read", &[A::Text("/etc/passwd")], P::Reported, SLN).tree(FILES),
    row("2b", "read", &[A::Text("/proc/cpuinfo")], P::Reported, SLN).tree(FILES),
    row("2c", "read", &[A::Text("/proc/meminfo")], P::Reported, SLN).tree(FILES),
    row("2d", "list", &[A::Text("/sys/devices")], P::Reported, SLN).tree(FILES),
    row("2e", "climb", &[A::Text("/etc/passwd")], P::Reported, SLN).tree(FILES),
    row("2f", "renamed", &[A::Key], P::Secret, SLN).tree(FILES),
    row("3", "list", &[A::Home], P::Reported, SLN).tree(FILES),
    // Landlock does not cover `stat`. Under `landlock+seccomp`, a compiler can find out whether a path
    // exists.
    row("4", "stat", &[A::Key], P::Reported, SN).tree(Tree::Differs(N)),
    row("5", "tcp", &[A::Tcp], P::Reached, from_abi(4)),
    row("6", "udp", &[A::Udp], P::Reached, SN),
    // Landlock covers this from ABI 9 on, which is newer than this table, so it is not claimed.
    row("7", "unix", &[A::Unix], P::Reached, SN),
    row("8", "abstract", &[A::Abstract], P::Reached, from_abi(6)),
    row("9", "vsock", &[], P::Reported, S),
    row("10", "netlink", &[], P::Reported, S),
    row("10b", "kernel-cipher", &[], P::Reported, S),
    row("10c", "tunnel-keys", &[], P::Reported, S),
    row("10d", "tunnel-routes", &[], P::Reported, S),
    row("10e", "remote-calls", &[], P::Reported, S),
    row("10f", "send-urgent", &[A::Socket], P::Reported, S),
    row("10g", "receive-urgent", &[A::Socket], P::Reported, S),
    row("10h", "send-descriptor", &[A::Socket], P::Reported, S),
    row("11", "ptrace", &[A::Victim], P::Reported, SLN),
    row("12", "read-memory", &[A::Victim, A::Address, A::Length], P::Secret, SLN),
    row("13", "take-descriptor", &[A::Victim, A::Descriptor, A::Length], P::Secret, SLN),
    row("14", "kill", &[A::Victim], P::Ended, from_abi(6)),
    row("15", "kill-all", &[], P::Signalled, from_abi(6)),
    // `abort` needs `tgkill`, so a compiler's filter allows it: before Linux 6.12, it reaches other processes
    // of the user.
    row("16", "kill-thread", &[A::Victim], P::Ended, from_abi(6)).tree(Tree::Differs(held(false, 6, true))),
    row("17", "queue-signal", &[A::Victim], P::Ended, from_abi(6)),
    row("18", "own-descriptor", &[A::Victim], P::Ended, from_abi(6)),
    row("19", "read-environment", &[A::Victim], P::Secret, SLN).tree(FILES),
    row("20", "read-memory-file", &[A::Victim, A::Address, A::Length], P::Secret, SLN).tree(FILES),
    row("21", "create", &[A::New], P::Changed, SLN).tree(FILES),
    row("22", "truncate", &[A::File], P::Changed, from_abi(3)),
    row("23", "chmod", &[A::File], P::Changed, SN),
    row("24", "touch", &[A::File], P::Changed, SN),
    row("25", "attribute", &[A::File], P::Changed, SN),
    row("25b", "file-flags", &[A::File], P::Changed, SLN),
    row("26", "symbolic-link", &[A::Key, A::New], P::Secret, SLN).tree(FILES),
    row("27", "hard-link", &[A::Key, A::New], P::Secret, SLN).tree(FILES),
    row("28", "limit", &[A::Victim], P::Reported, SN),
    // Objects without a path, which Landlock does not cover.
    row("28b", "take-message", &[A::Queue], P::Secret, SN).also(&[EINVAL]),
    row("28c", "host-name", &[A::HostName], P::Reported, SN).tree(Tree::Differs(N)),
    row("29", "shell", &[A::Text("/bin/sh")], P::Reported, SLN).tree(FILES),
    // `no_new_privs` removes its effect, whatever else applies.
    row("30", "set-user", &[A::SetUser], P::Reported, Held { always: true, ..SLN }),
    // A compiler of root keeps its user, without the rights.
    row("30b", "become-root", &[], P::Reported, S).tree(Tree::Apart),
    row("31", "drop-and-execute", &[A::New], P::Changed, SLN).tree(FILES),
    // Neither Landlock nor the child's own root covers a file without a path, so only the filter stops it.
    row("32", "memory-file", &[], P::Reported, S),
    row("32b", "secret-memory", &[], P::Reported, S),
    // A compiler starts its linker.
    row("33a", "fork", &[], P::Reported, S).tree(Tree::Apart),
    row("33b", "clone3", &[], P::Reported, S).also(&[ENOSYS]),
    row("33c", "daemon", &[A::Token], P::Left, SN),
    row("34", "io-uring", &[], P::Reported, S),
    row("35", "page-faults", &[], P::Reported, S),
    row("36", "bpf", &[], P::Reported, S),
    row("37", "add-key", &[], P::Reported, S),
    row("38", "measure", &[], P::Reported, S),
    // A program gets ENOSYS, so that std copies instead.
    row("38b", "splice", &[A::Socket], P::Reported, S).also(&[ENOSYS]),
    // A server gets ENOSYS for these three.
    row("38c", "tee", &[], P::Reported, S).also(&[ENOSYS]),
    row("38d", "vmsplice", &[], P::Reported, S).also(&[ENOSYS]),
    row("38e", "send-file", &[A::File], P::Reported, SLN).also(&[ENOSYS]),
    // Build tools may use such locks.
    row("38f", "inherit-priority", &[], P::Reported, S).tree(Tree::Apart),
    row("38g", "processor-timer", &[], P::Reported, S),
    row("39a", "unshare", &[], P::Reported, S),
    row("39d", "clone-user", &[], P::Reported, S),
    row("39b", "mount", &[A::Folder], P::Reported, S),
    row("39c", "change-root", &[A::Text("/")], P::Reported, S),
    row("40", "type-ahead", &[A::Terminal], P::Reported, S),
    #[cfg(target_arch = "x86_64")]
    row("41a", "old-interface", &[], P::Reported, S),
    #[cfg(target_arch = "x86_64")]
    row("41b", "x32-interface", &[], P::Reported, S),
    row("42a", "descriptor", &[A::Leaked], P::Secret, ALWAYS).also(&[EBADF]),
    // A compiler may execute what it was granted, itself included.
    row("42b", "second-exec", &[A::Text("0")], P::Reported, S).tree(Tree::Apart),
    row("43a", "address-space", &[A::Text("8589934592")], P::Reported, ALWAYS).also(&[ENOMEM]),
    row("43b", "descriptors", &[A::Text("1000")], P::Reported, ALWAYS).also(&[EMFILE]),
    // Stopped by RLIMIT_NPROC, from which root is exempt, or by the limit of a process namespace.
    row("43c", "threads", &[A::Text("3000")], P::Reported, ALWAYS).also(&[EAGAIN]),
    // A tree's limit is tested with the status of its supervisor (`lifetime`). Three times the limit, because
    // the kernel of an emulated machine counts late.
    row("44", "compute", &[A::Text("3000")], P::Reported, ALWAYS).tree(Tree::Apart),
    row("44b", "compute-and-ignore", &[A::Text("3000")], P::Reported, ALWAYS).tree(Tree::Apart),
];

/// Attempts that are a server's work: facts about the machine, its own routes, messages of its sockets, files in memory, and
/// as many descriptors as its user may have.
pub(crate) const SERVERS_MAY: &[&str] = &["2b", "2c", "10", "10h", "32", "43b"];

/// Stands for all users of a machine whose required tier is without namespaces.
pub(crate) const WITHOUT_NAMESPACES: &str = "without namespaces";

/// Attempts whose control may fail even if everything must be tried: number, user (empty for all), and
/// reason.
pub(crate) const EXCUSED: &[(&str, &str, &str)] = &[
    ("41b", "", "few kernels are built with the x32 interface"),
    ("15", "root", "it would signal every process of the machine; tried as an ordinary user"),
    ("11", "ordinary user", "Yama may leave tracing to parents (kernel.yama.ptrace_scope); tried as root"),
    ("12", "ordinary user", "as 11"),
    ("13", "ordinary user", "as 11"),
    ("20", "ordinary user", "as 11"),
    ("34", "ordinary user", "io_uring may be for root alone (kernel.io_uring_disabled)"),
    ("36", "ordinary user", "bpf is for privileged users (kernel.unprivileged_bpf_disabled)"),
    ("38", "ordinary user", "measuring may be for root alone (kernel.perf_event_paranoid)"),
    ("39a", "ordinary user", "user namespaces may be for root alone (AppArmor, or a kernel setting)"),
    ("39d", "ordinary user", "as 39a"),
    ("39d", WITHOUT_NAMESPACES, "as 39a"),
    ("30b", "ordinary user", "only root may"),
    ("10b", "", "few kernels are built with these sockets"),
    ("10c", "", "as 10b"),
    ("10d", "", "as 10b"),
    ("10e", "", "as 10b"),
    ("10f", "", "old kernels have no urgent data in these sockets (Linux 5.15, CONFIG_AF_UNIX_OOB)"),
    ("10g", "", "as 10f"),
    ("25b", "", "not every file system has flags of files"),
    ("32b", "", "secret memory may be off (secretmem.enable)"),
    ("39a", WITHOUT_NAMESPACES, "no user may create user namespaces (user.max_user_namespaces)"),
    ("39b", "ordinary user", "as 39a"),
    ("39c", "ordinary user", "as 39a"),
    ("40", "ordinary user", "typing ahead may be for root alone (dev.tty.legacy_tiocsti)"),
];
