//! The failure of a command, with its exit code.

use std::fmt::Display;

use runner::{CallFailure, FailureKind};

use crate::exit_code;

/// Why a command failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The process's exit code.
    pub code: u8,
    /// The message for the user.
    pub message: String,
}

impl Failure {
    /// An error in the command line, the configuration or another file of the user.
    pub fn configuration(message: impl Display) -> Self {
        Failure { code: exit_code::CONFIGURATION, message: format!("{message}") }
    }

    /// A call that the user requested has failed.
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
