//! The parts that depend on the processor in the tests and benchmarks that compile programs.
#![allow(dead_code, reason = "each uses a part")]

/// The target of the programs. It is static, so they need no loader.
pub(crate) const TARGET: &str = of("x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl");

/// The folder of the compiler's own tools, in its sysroot.
pub(crate) const TOOLS: &str =
    of("lib/rustlib/x86_64-unknown-linux-gnu/bin", "lib/rustlib/aarch64-unknown-linux-gnu/bin");

/// The dynamic loader of the GNU C library.
pub(crate) const LOADER: &str = of("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1");

/// Debian's folders of dynamic libraries.
pub(crate) const LIBRARIES: [&str; 2] = [
    of("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"),
    of("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"),
];

const fn of(x86_64: &'static str, arm64: &'static str) -> &'static str {
    if cfg!(target_arch = "aarch64") { arm64 } else { x86_64 }
}
