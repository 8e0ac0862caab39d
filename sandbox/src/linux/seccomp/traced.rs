//! The calls by which a server reaches paths and addresses. Its supervisor sees them in a trial, and lets them continue:
//! the layers decide.

/// Such a call.
#[derive(Debug, Clone, Copy)]
pub(in crate::platform) struct Traced {
    /// Its number.
    pub(in crate::platform) call: i64,
    /// The index of the argument with the folder that its path is relative to.
    pub(in crate::platform) folder: Option<usize>,
    /// The index of the argument with the path or the address.
    pub(in crate::platform) path: usize,
    pub(in crate::platform) use_of: Use,
}

/// What a call does with its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::platform) enum Use {
    Read,
    Write,
    /// Reads, or writes if the flags, the argument of this index, say so.
    Open(usize),
    Execute,
    /// It is an address, whose length is the argument of this index.
    Connect(usize),
}

/// The call of a number.
pub(in crate::platform) fn traced(number: u32) -> Option<&'static Traced> {
    ALL.iter().find(|traced| traced.call == i64::from(number))
}

const fn plain(call: i64, path: usize, use_of: Use) -> Traced {
    Traced { call, folder: None, path, use_of }
}

const fn at(call: i64, folder: usize, use_of: Use) -> Traced {
    Traced { call, folder: Some(folder), path: folder + 1, use_of }
}

pub(super) const ALL: &[Traced] = &[
    at(libc::SYS_openat, 0, Use::Open(2)),
    at(libc::SYS_statx, 0, Use::Read),
    at(libc::SYS_newfstatat, 0, Use::Read),
    at(libc::SYS_faccessat, 0, Use::Read),
    at(libc::SYS_faccessat2, 0, Use::Read),
    at(libc::SYS_readlinkat, 0, Use::Read),
    plain(libc::SYS_chdir, 0, Use::Read),
    plain(libc::SYS_execve, 0, Use::Execute),
    at(libc::SYS_execveat, 0, Use::Execute),
    at(libc::SYS_mkdirat, 0, Use::Write),
    at(libc::SYS_unlinkat, 0, Use::Write),
    at(libc::SYS_renameat, 2, Use::Write),
    at(libc::SYS_renameat2, 2, Use::Write),
    at(libc::SYS_linkat, 2, Use::Write),
    at(libc::SYS_symlinkat, 1, Use::Write),
    plain(libc::SYS_connect, 1, Use::Connect(2)),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_open, 0, Use::Open(1)),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_creat, 0, Use::Write),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_stat, 0, Use::Read),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_lstat, 0, Use::Read),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_access, 0, Use::Read),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_readlink, 0, Use::Read),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_mkdir, 0, Use::Write),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_rmdir, 0, Use::Write),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_unlink, 0, Use::Write),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_rename, 1, Use::Write),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_link, 1, Use::Write),
    #[cfg(target_arch = "x86_64")]
    plain(libc::SYS_symlink, 1, Use::Write),
];
