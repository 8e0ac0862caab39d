//! The target that snippets are compiled for.

/// The target of snippets, for the processor of this machine: static programs that need no loader and open no files.
pub const TARGET: &str =
    if cfg!(target_arch = "aarch64") { "aarch64-unknown-linux-musl" } else { "x86_64-unknown-linux-musl" };
