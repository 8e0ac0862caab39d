//! Exit codes: part of the command line's stable interface.

use runner::Status;

/// The snippet ran, and its status is `ok`.
pub const OK: u8 = 0;
/// The snippet failed while it ran: `runtime_error`, `panic`.
pub const RUNTIME: u8 = 1;
/// The command line or the configuration has an error.
pub const CONFIGURATION: u8 = 2;
/// The snippet does not compile: `compile_error`.
pub const COMPILE: u8 = 3;
/// The snippet ran out of time: `timeout`.
pub(crate) const TIMEOUT: u8 = 4;
/// The snippet reached a limit: `memory_limit`, `output_limit`.
pub(crate) const LIMIT: u8 = 5;
/// The snippet was denied something: `denied`, `sandbox_violation`.
pub const DENIED: u8 = 6;
/// The host failed: no toolchain, no sandbox, no cache, no server.
pub const HOST: u8 = 7;
/// Ended by a signal: `cancelled` (128 + SIGINT, as in shells).
pub const CANCELLED: u8 = 130;

/// The exit code of an outcome.
pub fn of(status: Status) -> u8 {
    match status {
        Status::Ok => OK,
        Status::CompileError => COMPILE,
        Status::RuntimeError | Status::Panic => RUNTIME,
        Status::Timeout => TIMEOUT,
        Status::MemoryLimit | Status::OutputLimit => LIMIT,
        Status::Denied | Status::SandboxViolation => DENIED,
        Status::Cancelled => CANCELLED,
        Status::Busy => HOST,
    }
}
