//! Calls that x86_64 has and arm64 lacks: forms that newer calls replaced before arm64 existed, and calls for
//! x86 hardware. The lists of `program`, `compiler` and `dangerous` contain the calls of all architectures.
//!
//! One table for both: on arm64, each list is empty. The tests compare it with the kernel's lists.

macro_rules! only_on_x86_64 {
    ($($(#[$doc:meta])* $list:ident { $($call:ident)* })*) => {
        $(
            $(#[$doc])*
            #[cfg(target_arch = "x86_64")]
            pub(super) const $list: &[i64] = &[$(libc::$call),*];
            $(#[$doc])*
            #[cfg(not(target_arch = "x86_64"))]
            pub(super) const $list: &[i64] = &[];
        )*
        /// The names of all, also on architectures without them.
        #[cfg(test)]
        pub(super) const NAMES: &[&str] = &[$($(stringify!($call)),*),*];
    };
}

only_on_x86_64! {
    /// Allowed for a program: its descriptors, time.
    PLAIN {
        SYS_poll
        SYS_epoll_wait
        SYS_time
    }
    /// Allowed for a program with paths. `open` has conditions.
    PATHS {
        SYS_stat
        SYS_lstat
        SYS_access
        SYS_readlink
        SYS_mkdir
        SYS_rmdir
        SYS_unlink
        SYS_rename
    }
    /// Refused to compilers and builds, because Landlock does not check them.
    DENIED {
        SYS_chown
        SYS_lchown
    }
    /// Change modes and times, which only a build may.
    METADATA {
        SYS_chmod
        SYS_utime
        SYS_utimes
        SYS_futimesat
    }
    /// No confined process needs them: input and output ports, segments of memory.
    DANGEROUS {
        SYS_iopl
        SYS_ioperm
        SYS_modify_ldt
    }
}

/// Calls that open a file, with the index of their flags. The mode is the next argument.
pub(super) const OPENING: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
    (libc::SYS_openat, 2),
];

/// Calls that create a file, always, with the index of its mode.
pub(super) const CREATING: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];

/// Calls that change a file's mode, with the index of the new one.
pub(super) const CHANGING_MODE: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (SYS_FCHMODAT2, 2),
];

/// Linux 6.6. Not in every version of the libc crate.
pub(super) const SYS_FCHMODAT2: i64 = 452;
