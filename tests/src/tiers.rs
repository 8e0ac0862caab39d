//! The sandbox's tiers: whether this machine has the full one, and runs without it.

#![allow(clippy::unwrap_used, missing_docs, reason = "only tests use it")]

use std::process::Command;
use std::sync::OnceLock;

use crate::cache::shared;
use crate::harness::{Run, binary};

/// Whether this machine has the tier `full`, which grants and scratch space need.
pub fn has_namespaces() -> bool {
    static FULL: OnceLock<bool> = OnceLock::new();
    let is_full = *FULL.get_or_init(|| {
        Run::new(shared()).arguments(&["doctor", "--json"]).done().exits(0).outcome()["tier"] == "full"
    });
    // With this variable, no test may be skipped.
    assert!(
        is_full || std::env::var_os("SANDBOX_REQUIRE_ALL").is_none(),
        "this machine has not the tier full"
    );
    is_full
}

/// `toolsmith` without user namespaces: in a namespace that forbids nested ones, or on a machine that has none.
pub fn without_namespaces() -> Run {
    if !has_namespaces() {
        return Run::new(shared());
    }
    let mut command = Command::new("unshare");
    let forbid = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
    command.args(["--user", "--map-root-user", "sh", "-c", forbid]).arg(binary());
    Run::of(command, shared())
}

/// A configuration with the demo server and these lines in `codeMode.sandbox`.
pub fn sandbox_config(lines: &str) -> String {
    format!(
        "mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server] }}\ncodeMode:\n  sandbox:\n    {lines}\n"
    )
}
