//! Why a command has no result, with the exit code that says so.

use std::fmt::Display;

use runner::{CallFailure, FailureKind};

use crate::exit_code;

/// Why a command has no result.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The process's exit code.
    pub code: u8,
    /// What to tell.
    pub message: String,
}

impl Failure {
    /// The command line, the configuration or another file that the user named is wrong.
    pub fn configuration(message: impl Display) -> Self {
        Failure { code: exit_code::CONFIGURATION, message: format!("{message}") }
    }

    /// A call has failed that a person has asked for.
    pub fn call(failure: CallFailure) -> Self {
        let code = match failure.kind {
            FailureKind::Denied => exit_code::DENIED,
            FailureKind::InvalidParams => exit_code::CONFIGURATION,
            _ => exit_code::HOST,
        };
        Failure { code, message: failure.message }
    }

    /// The host failed: toolchain, sandbox, cache, servers.
    pub fn host(message: impl Display) -> Self {
        Failure { code: exit_code::HOST, message: format!("{message}") }
    }
}
