//! Errors of starting a child: the step, its subject, the error number and what to do.
//!
//! The exit status of a started child gives its end.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy_error::PolicyError;
use crate::report::Unsupported;

/// The reason why [`Sandbox::spawn`](crate::Sandbox::spawn) returned no child. No process is left behind.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The kernel or the platform lacks a required layer.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// This process is itself a helper whose `main` did not call [`entry`](crate::entry).
    #[error(
        "the executable was started as a sandbox helper but continued into its own main; call sandbox::entry() first in main"
    )]
    EntryNotCalled,
    /// The policy or the command is invalid.
    #[error("the sandbox policy is invalid: {0}")]
    Policy(#[from] PolicyError),
    /// The helper could not be started.
    #[error("could not start the sandbox helper {}: {source}", helper.display())]
    Start {
        /// The helper's path.
        helper: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The child's control group could not be created, although groups are delegated.
    #[error(
        "could not create a control group for the child: {0}; check the limits and permissions of the groups of this user"
    )]
    Group(#[source] io::Error),
    /// The helper did not answer within its time limit.
    #[error(
        "the sandbox helper did not answer within {} s; the machine may have too much to do: try again when it has less",
        .0.as_secs()
    )]
    Unresponsive(Duration),
    /// Communication with the helper failed.
    #[error("lost contact with the sandbox helper while it was applying the policy: {0}")]
    Control(#[source] io::Error),
    /// The helper ended without a report.
    #[error(
        "the sandbox helper ended before the program started ({0}); check that its main calls sandbox::entry() first, that memory is free and that the policy's memory limits are not below 64 MiB"
    )]
    HelperEnded(ExitStatus),
    /// The helper could not apply a step.
    #[error(transparent)]
    Refused(#[from] Failure),
}

/// A step of the helper that failed. Nothing was executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("sandbox step {step:?} failed for {subject}: {}; {}", describe(*errno), step.advice())]
pub struct Failure {
    /// The step.
    pub step: Step,
    /// The path, resource or layer.
    pub subject: String,
    /// The operating system's error number, or 0 if there is none.
    pub errno: i32,
}

impl Failure {
    /// A failure with its subject and the operating system's error number.
    pub(crate) fn new(step: Step, subject: impl Into<String>, errno: i32) -> Self {
        Self { step, subject: subject.into(), errno }
    }

    /// The subject with the operating system's message.
    pub(crate) fn explanation(&self) -> String {
        format!("{}: {}", self.subject, self.reason())
    }

    /// The operating system's message.
    pub(crate) fn reason(&self) -> String {
        describe(self.errno)
    }
}

/// Converts an operating system error into a failure of this step.
pub(crate) fn failed<E: Into<io::Error>>(
    step: Step,
    subject: impl Into<String>,
) -> impl FnOnce(E) -> Failure {
    move |error| Failure::new(step, subject, error.into().raw_os_error().unwrap_or(0))
}

fn describe(errno: i32) -> String {
    if errno == 0 { "unexpected state".to_owned() } else { io::Error::from_raw_os_error(errno).to_string() }
}

/// The steps of the helper, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Step {
    /// Receiving the policy.
    Handover,
    /// Tying the child's life to the parent's.
    ParentDeath,
    /// Starting a new session and process group.
    Session,
    /// Standard input and the broker descriptor.
    Descriptors,
    /// Entering the working folder.
    WorkingFolder,
    /// Finding the program.
    Executable,
    /// Dropping capabilities.
    Capabilities,
    /// Starting the supervised process.
    Fork,
    /// Leaving the host's namespaces.
    Namespaces,
    /// Changing the root.
    Root,
    /// `PR_SET_NO_NEW_PRIVS`.
    NoNewPrivileges,
    /// A path that the policy grants.
    Grant,
    /// Restricting the file system.
    Landlock,
    /// Resource limits.
    Limits,
    /// System call filters.
    Seccomp,
    /// The attempts that must fail before anything runs.
    Canary,
    /// Executing the program.
    Execute,
}

impl Step {
    fn advice(self) -> &'static str {
        match self {
            Self::Handover => "start helpers through Sandbox::spawn only",
            Self::ParentDeath => "the parent process has ended or is in another pid namespace",
            Self::Session | Self::Fork => "check the process limit of this user",
            Self::Descriptors => "check that the limit of open files is above 100",
            Self::WorkingFolder => "create the folder or choose another in the policy",
            Self::Executable => "give the absolute path of an existing executable file",
            Self::Capabilities | Self::NoNewPrivileges => {
                "the container does not allow it; run outside the container"
            }
            Self::Namespaces | Self::Root => {
                "the machine or the container does not allow it; a tier without namespaces may work"
            }
            Self::Grant => "create the path, correct it, or mark the grant optional",
            Self::Landlock => {
                "check that Landlock is in the kernel's list of security modules (/sys/kernel/security/lsm)"
            }
            Self::Limits => "choose a limit within the hard limits of this user (ulimit -H -a)",
            Self::Seccomp => {
                "check that the kernel has CONFIG_SECCOMP_FILTER and that the container permits seccomp"
            }
            Self::Canary => {
                "a layer was applied but has no effect; do not run untrusted code on this machine"
            }
            Self::Execute => "for a dynamically linked program, grant its loader and libraries in the policy",
        }
    }
}
