//! The binary `toolsmith`. On platforms other than Linux it is built without most crates, and only reports that no
//! sandbox is available.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    cli::main()
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::print_stderr, reason = "the terminal module is not built on this platform")]
fn main() -> ExitCode {
    /// Exit code for a failure of the host, the same as on Linux.
    const HOST: u8 = 7;
    if let Err(refusal) = sandbox::probe().choose(sandbox::Layers::LANDLOCK_SECCOMP) {
        eprintln!("toolsmith: {refusal}");
    }
    ExitCode::from(HOST)
}
