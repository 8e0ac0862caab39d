//! The attempts as data: what is tried, what it is tried on, how it shows that it worked, and which layers stop it alone.
//!
//! Leaves running and judging to the suite.

use sandbox::Layers;

/// What alone stops an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) seccomp: bool,
    /// Landlock, from this ABI on; 0 for never.
    pub(crate) landlock: u32,
    pub(crate) namespaces: bool,
    /// What every child has, whatever its layers: capabilities, `no_new_privs`, descriptors, resource limits.
    pub(crate) always: bool,
}

impl Held {
    /// Whether these layers stop it, by this ABI of Landlock.
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

/// By the filter alone.
const S: Held = held(true, 0, false);
/// By the filter and by namespaces, not by Landlock.
const SN: Held = held(true, 0, true);
/// By all three, each alone.
const SLN: Held = held(true, 1, true);
/// Not by a compiler's filter.
const LN: Held = held(false, 1, true);
/// For a compiler, by its root alone.
const N: Held = held(false, 0, true);
/// By what always holds.
const ALWAYS: Held = Held { seccomp: false, landlock: 0, namespaces: false, always: true };

/// By all three, Landlock from this ABI on.
const fn from_abi(landlock: u32) -> Held {
    held(true, landlock, true)
}

/// A compiler's or a build's policy, where it differs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tree {
    /// As a program.
    Same,
    /// Held by others.
    Differs(Held),
    /// Not tried: it is its work, or is tried elsewhere.
    Apart,
}

/// What an attempt is made on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Argument {
    Text(&'static str),
    /// The planted home, and the private key in it.
    Home,
    Key,
    /// A file that exists, one that does not, and a folder.
    File,
    New,
    Folder,
    /// The victim: its process id, the address and the descriptor of its secret, the length of that.
    Victim,
    Address,
    Descriptor,
    Length,
    /// The number of a queue of messages of the victim's.
    Queue,
    /// Listeners of the test.
    Tcp,
    Udp,
    Unix,
    Abstract,
    /// A terminal that was passed on.
    Terminal,
    /// A descriptor with a secret that the host forgot to close.
    Leaked,
    /// A program that runs as another user.
    SetUser,
    /// What marks the processes of this run.
    Token,
}

/// How an attempt shows that it worked, beside saying so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// By what it says alone.
    Said,
    /// It says the secret.
    Secret,
    /// What lies in the test's folder has changed.
    Changed,
    /// A listener was reached.
    Reached,
    /// The victim was ended; what the attempt says does not count.
    Ended,
    /// The victim was signalled; what the attempt says does not count.
    Signalled,
    /// A process of it is left.
    Left,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The number of the attempt and a letter where one has several forms.
    pub(crate) number: &'static str,
    pub(crate) attempt: &'static str,
    pub(crate) on: &'static [Argument],
    pub(crate) proof: Proof,
    pub(crate) program: Held,
    pub(crate) tree: Tree,
    /// Error numbers of its refusal beside those that the layers commonly give.
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
/// No queue has the number, in an IPC namespace.
const EINVAL: i32 = 22;
const EMFILE: i32 = 24;
const ENOSYS: i32 = 38;

pub(crate) const ROWS: &[Row] = &[
    row("1", "read", &[A::Key], P::Secret, SLN).tree(FILES),
    row("2", "read", &[A::Text("/etc/passwd")], P::Said, SLN).tree(FILES),
    row("3", "list", &[A::Home], P::Said, SLN).tree(FILES),
    // Landlock does not see `stat`; under `landlock+seccomp` a compiler can ask whether a path exists.
    row("4", "stat", &[A::Key], P::Said, SN).tree(Tree::Differs(N)),
    row("5", "tcp", &[A::Tcp], P::Reached, from_abi(4)),
    row("6", "udp", &[A::Udp], P::Reached, SN),
    // Landlock from ABI 9 on, which is newer than what this was written with: not claimed.
    row("7", "unix", &[A::Unix], P::Reached, SN),
    row("8", "abstract", &[A::Abstract], P::Reached, from_abi(6)),
    row("9", "vsock", &[], P::Said, S),
    row("10", "netlink", &[], P::Said, S),
    row("11", "ptrace", &[A::Victim], P::Said, SLN),
    row("12", "read-memory", &[A::Victim, A::Address, A::Length], P::Secret, SLN),
    row("13", "take-descriptor", &[A::Victim, A::Descriptor, A::Length], P::Secret, SLN),
    row("14", "kill", &[A::Victim], P::Ended, from_abi(6)),
    row("15", "kill-all", &[], P::Signalled, from_abi(6)),
    // `abort` needs `tgkill`, so a compiler's filter lets it pass: before Linux 6.12 another process of the user is reached.
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
    row("26", "symbolic-link", &[A::Key, A::New], P::Secret, SLN).tree(FILES),
    row("27", "hard-link", &[A::Key, A::New], P::Secret, SLN).tree(FILES),
    row("28", "limit", &[A::Victim], P::Said, SN),
    // Objects that no path names: Landlock does not see them.
    row("28b", "take-message", &[A::Queue], P::Secret, SN).also(&[EINVAL]),
    row("29", "shell", &[A::Text("/bin/sh")], P::Said, SLN).tree(FILES),
    // `no_new_privs` takes from it what it is for, whatever else holds.
    row("30", "set-user", &[A::SetUser], P::Said, Held { always: true, ..SLN }),
    row("31", "drop-and-execute", &[A::New], P::Changed, SLN).tree(FILES),
    // Neither Landlock nor a root of its own sees a file without a path: the filter alone.
    row("32", "memory-file", &[], P::Said, S),
    // A compiler starts its linker.
    row("33a", "fork", &[], P::Said, S).tree(Tree::Apart),
    row("33b", "clone3", &[], P::Said, S).also(&[ENOSYS]),
    row("33c", "daemon", &[A::Token], P::Left, SN),
    row("34", "io-uring", &[], P::Said, S),
    row("35", "page-faults", &[], P::Said, S),
    row("36", "bpf", &[], P::Said, S),
    row("37", "add-key", &[], P::Said, S),
    row("38", "measure", &[], P::Said, S),
    row("39a", "unshare", &[], P::Said, S),
    row("39b", "mount", &[A::Folder], P::Said, S),
    row("39c", "change-root", &[A::Text("/")], P::Said, S),
    row("40", "type-ahead", &[A::Terminal], P::Said, S),
    row("41a", "old-interface", &[], P::Said, S),
    row("41b", "x32-interface", &[], P::Said, S),
    row("42a", "descriptor", &[A::Leaked], P::Secret, ALWAYS).also(&[EBADF]),
    // A compiler may execute what it was granted, itself included.
    row("42b", "second-exec", &[A::Text("0")], P::Said, S).tree(Tree::Apart),
    row("43a", "address-space", &[A::Text("8589934592")], P::Said, ALWAYS).also(&[ENOMEM]),
    row("43b", "descriptors", &[A::Text("1000")], P::Said, ALWAYS).also(&[EMFILE]),
    // By RLIMIT_NPROC, from which root is exempt: for root where there is a control group.
    row("43c", "threads", &[A::Text("3000")], P::Said, ALWAYS).also(&[EAGAIN]),
    // A tree's limit is tried with what becomes of its supervisor's status (`lifetime`).
    // Three times the limit: in an emulated machine the kernel counts late.
    row("44", "compute", &[A::Text("3000")], P::Said, ALWAYS).tree(Tree::Apart),
];

/// Attempts of which a control is not wanted even where everything must be tried; whom it concerns, and why.
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
    ("39a", "ordinary user", "user namespaces may be for root alone (AppArmor, or a setting of the kernel)"),
    ("39b", "ordinary user", "as 39a"),
    ("39c", "ordinary user", "as 39a"),
    ("40", "ordinary user", "typing ahead may be for root alone (dev.tty.legacy_tiocsti)"),
];
