//! The failure of a command, with its exit code.

use report::{Kind, Report};
use runner::{CallFailure, FailureKind};

use crate::exit_code;

/// The failure of a command.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{report}")]
pub struct Failure {
    /// The process's exit code.
    pub code: u8,
    /// The failure, for the user.
    pub report: Report,
}

impl Failure {
    /// A failure with the exit code of its kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Failure::from(Report::new(kind, message))
    }

    /// An error in the command line, or in a file that it names.
    pub fn command_line(message: impl Into<String>) -> Self {
        Failure::new(Kind::CommandLine, message)
    }

    /// The output could not be written.
    pub fn output(error: std::io::Error) -> Self {
        let message = format!("the output can't be written: {error}");
        Failure::from(Report::new(Kind::Output, message).caused_by(error))
    }

    /// The operating system refused something that the command needs.
    pub fn system(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Failure::from(Report::new(Kind::System, error.to_string()).caused_by(error))
    }

    /// A call that the user requested has failed.
    pub fn call(failure: CallFailure) -> Self {
        let kind = match failure.kind {
            FailureKind::Denied | FailureKind::Flow => Kind::Denied,
            FailureKind::InvalidParams => Kind::CommandLine,
            _ => Kind::Server,
        };
        Failure::new(kind, failure.message)
    }

    /// Sets another exit code than that of its kind.
    #[must_use]
    pub fn with_code(self, code: u8) -> Self {
        Failure { code, ..self }
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Failure { report: self.report.hint(hint), ..self }
    }

    /// Adds the error below this one.
    #[must_use]
    pub fn caused_by(self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Failure { report: self.report.caused_by(source), ..self }
    }
}

impl<E> From<E> for Failure
where
    Report: From<E>,
{
    fn from(error: E) -> Self {
        let report = Report::from(error);
        Failure { code: code(report.kind), report }
    }
}

fn code(kind: Kind) -> u8 {
    match kind {
        Kind::CommandLine
        | Kind::Configuration
        | Kind::Trust
        | Kind::Lock
        | Kind::Export
        | Kind::Model
        | Kind::Telemetry
        | Kind::Audit => exit_code::CONFIGURATION,
        Kind::Denied => exit_code::DENIED,
        Kind::Cancelled => exit_code::CANCELLED,
        Kind::Server
        | Kind::Login
        | Kind::Toolchain
        | Kind::Layer
        | Kind::Bundle
        | Kind::Bindings
        | Kind::Cache
        | Kind::Sandbox
        | Kind::Conversation
        | Kind::Statistics
        | Kind::History
        | Kind::Update
        | Kind::Network
        | Kind::Output
        | Kind::Terminal
        | Kind::System => exit_code::HOST,
    }
}
