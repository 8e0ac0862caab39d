//! Numbers of system calls for the programs of the tests, on x86_64 and arm64 (asm/unistd_64.h and
//! asm-generic/unistd.h). The test `calls` compares them with the kernel's lists.
#![allow(dead_code, reason = "each program uses a part")]

macro_rules! numbers {
    ($($name:ident $x86_64:literal $arm64:literal)*) => {
        $(pub(crate) const $name: i64 = if cfg!(target_arch = "aarch64") { $arm64 } else { $x86_64 };)*
        pub(crate) const ALL: &[(&str, i64)] = &[$((stringify!($name), $name)),*];
    };
}

numbers! {
    READ 0 63
    WRITE 1 64
    MMAP 9 222
    MPROTECT 10 226
    RT_SIGPROCMASK 14 135
    IOCTL 16 29
    PREAD64 17 67
    MREMAP 25 216
    SENDFILE 40 71
    SOCKET 41 198
    SENDTO 44 206
    RECVFROM 45 207
    SENDMSG 46 211
    BIND 49 200
    CLONE 56 220
    EXECVE 59 221
    WAIT4 61 260
    KILL 62 129
    UNAME 63 160
    MSGGET 68 186
    MSGSND 69 189
    MSGRCV 70 188
    MSGCTL 71 187
    FCNTL 72 25
    FLOCK 73 32
    TRUNCATE 76 45
    FCHMOD 91 52
    PTRACE 101 117
    GETUID 102 174
    SETUID 105 146
    SETGID 106 144
    GETEUID 107 175
    SETPGID 109 154
    GETPPID 110 173
    SETSID 112 157
    RT_SIGPENDING 127 136
    RT_SIGQUEUEINFO 129 138
    PERSONALITY 135 92
    PRCTL 157 167
    CHROOT 161 51
    MOUNT 165 40
    SETXATTR 188 5
    TKILL 200 130
    FUTEX 202 98
    TIMER_CREATE 222 107
    CLOCK_GETTIME 228 113
    EXIT_GROUP 231 94
    TGKILL 234 131
    ADD_KEY 248 217
    KEYCTL 250 219
    OPENAT 257 56
    MKNODAT 259 33
    FCHMODAT 268 53
    PPOLL 271 73
    UNSHARE 272 97
    SPLICE 275 76
    TEE 276 77
    VMSPLICE 278 75
    UTIMENSAT 280 88
    PIPE2 293 59
    RT_TGSIGQUEUEINFO 297 240
    PERF_EVENT_OPEN 298 241
    PRLIMIT64 302 261
    PROCESS_VM_READV 310 270
    RENAMEAT2 316 276
    MEMFD_CREATE 319 279
    BPF 321 280
    EXECVEAT 322 281
    USERFAULTFD 323 282
    IO_URING_SETUP 425 425
    PIDFD_OPEN 434 434
    CLONE3 435 435
    CLOSE_RANGE 436 436
    OPENAT2 437 437
    PIDFD_GETFD 438 438
    MEMFD_SECRET 447 447
    FCHMODAT2 452 452
}

/// A call that arm64 has only in a general form: its number, and the arguments before those of the old form.
pub(crate) struct Form {
    pub(crate) number: i64,
    before: &'static [i64],
}

impl Form {
    /// All six arguments. Missing ones are 0.
    pub(crate) fn arguments(&self, own: &[i64]) -> [i64; 6] {
        let mut all = [0; 6];
        let given = self.before.iter().chain(own);
        all.iter_mut().zip(given).for_each(|(place, argument)| *place = *argument);
        all
    }
}

/// The current folder, from which a path starts.
pub(crate) const AT_FDCWD: i64 = -100;
const SIGCHLD: i64 = 17;

macro_rules! forms {
    ($($name:ident $x86_64:literal, $arm64:literal after $before:expr;)*) => {
        $(pub(crate) const $name: Form = if cfg!(target_arch = "aarch64") {
            Form { number: $arm64, before: &$before }
        } else {
            Form { number: $x86_64, before: &[] }
        };)*
    };
}

forms! {
    OPEN 2, 56 after [AT_FDCWD];
    FORK 57, 220 after [SIGCHLD];
    MKDIR 83, 34 after [AT_FDCWD];
    CHMOD 90, 53 after [AT_FDCWD];
    CHOWN 92, 54 after [AT_FDCWD];
    MKNOD 133, 33 after [AT_FDCWD];
}

/// Flags of `open` for a file without a name (O_TMPFILE, which contains O_DIRECTORY), to be read and written.
pub(crate) const UNNAMED: i64 = if cfg!(target_arch = "aarch64") { 0o20_040_002 } else { 0o20_200_002 };
