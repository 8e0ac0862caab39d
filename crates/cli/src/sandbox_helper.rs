//! The binary `toolsmith-sandbox`, which `toolsmith` starts to confine compilers and programs.

use std::process::ExitCode;

#[allow(clippy::print_stderr, reason = "the terminal module would make this program larger")]
fn main() -> ExitCode {
    /// Exit code for wrong usage, the same as of `toolsmith`.
    const USAGE: u8 = 2;
    sandbox::entry();
    eprintln!("toolsmith-sandbox is started by toolsmith; do not start it by hand");
    ExitCode::from(USAGE)
}
