//! A helper of its own, so that the crate can be used and tested without a product around it.
//!
//! Leaves everything to [`sandbox::entry`]; started by hand it says what it is for and ends.

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::entry();
    eprintln!("sandbox-helper is started by sandbox::Sandbox, not by hand");
    ExitCode::from(2)
}
