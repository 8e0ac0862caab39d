//! A standalone helper, so that the crate can be used and tested alone.
//!
//! [`sandbox::entry`] does everything. Started by hand, it prints its purpose and exits.

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::entry();
    eprintln!("sandbox-helper is started by sandbox::Sandbox; do not start it by hand");
    ExitCode::from(2)
}
