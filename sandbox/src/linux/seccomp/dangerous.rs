//! Interfaces that no confined process needs, and that reach other processes or the kernel.
//!
//! A program that calls one is killed (SIGSYS). A compiler gets EPERM, because a build tool may only check
//! whether they exist.

use super::old;

/// Whether a program is killed for this call.
pub(in crate::platform) fn is_dangerous(number: u32) -> bool {
    calls().any(|call| call == i64::from(number))
}

/// All of them.
pub(super) fn calls() -> impl Iterator<Item = i64> {
    CALLS.iter().chain(old::DANGEROUS).copied()
}

/// The calls of all architectures, grouped by what they reach.
pub(super) const CALLS: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_acct,
    // Large parts of the kernel behind one call, some of which bypass this filter (io_uring).
    libc::SYS_bpf,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_fanotify_init,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    SYS_KEXEC_FILE_LOAD,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    // Turns off protections of later mappings and address randomisation.
    libc::SYS_personality,
];

/// The libc crate has it for some C libraries only (asm-generic/unistd.h and the table of x86_64).
const SYS_KEXEC_FILE_LOAD: i64 = if cfg!(target_arch = "aarch64") { 294 } else { 320 };
