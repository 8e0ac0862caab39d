//! The parts of the system that every confined server sees: programs, libraries, and the files by which they find hosts,
//! users, certificates and fonts. Nothing here is private to a user or a machine: no `/etc/shadow`, no host keys, no sockets.

use std::path::Path;

/// Folders of programs and libraries. Everything in them is readable and executable.
pub(crate) const FOLDERS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/etc/alternatives",
    "/nix/store",
    "/run/current-system/sw",
];

/// Files and folders that programs read. Links are followed, so `/etc/resolv.conf` is what it leads to.
pub(crate) const READ: &[&str] = &[
    // The loader.
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld-musl-aarch64.path",
    // Hosts and services.
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    // Users by number, and times.
    "/etc/passwd",
    "/etc/group",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/locale.alias",
    "/etc/locale.conf",
    // Certificates, without the folders of private keys.
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    // Languages and fonts.
    "/etc/fonts",
    "/etc/java",
    "/etc/mime.types",
    "/etc/nodejs",
    "/etc/os-release",
    "/etc/python3",
    "/etc/terminfo",
    // Processors, by which runtimes choose their number of threads.
    "/sys/devices/system/cpu",
];

/// Devices without a state.
pub(crate) const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The parts that a server reads of `/proc` without one of its own: its own entry, and facts about the machine.
pub(crate) const PROCESSES: &[&str] = &[
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
];

/// Folders of the system that are never granted because a server happens to start there.
const APART: &[&str] = &["/boot", "/dev", "/etc", "/proc", "/run", "/sys"];

/// Whether a path is visible to every server as it is.
pub(crate) fn are_visible(path: &Path) -> bool {
    FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// Whether a path is in a folder of the system's own state.
pub(crate) fn are_apart(path: &Path) -> bool {
    APART.iter().any(|folder| path.starts_with(folder))
}
