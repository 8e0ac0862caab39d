//! The binary `toolsmith`. Where nothing can be confined it is built without its parts, and says what is missing.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    cli::main()
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::print_stderr, reason = "there is no terminal module without the parts")]
fn main() -> ExitCode {
    /// The host failed, as on Linux.
    const HOST: u8 = 7;
    if let Err(refusal) = sandbox::probe().choose(sandbox::Layers::LANDLOCK_SECCOMP) {
        eprintln!("toolsmith: {refusal}");
    }
    ExitCode::from(HOST)
}
