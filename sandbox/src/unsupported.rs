//! The same interface where nothing can be confined: every attempt is refused by name.
//!
//! Leaves nothing running: a child cannot exist here.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitStatus;

use crate::{Command, Policy, Report, SpawnError, Support, Unsupported};

/// What this machine offers: nothing.
///
/// # Errors
/// Always.
pub fn probe() -> Result<Support, Unsupported> {
    Err(Unsupported {
        missing: format!(
            "confinement needs Linux on x86_64 with Landlock and seccomp, this is {} on {}",
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
        advice: "run inside a Linux x86_64 machine or virtual machine".to_owned(),
    })
}

/// Returns at once: no helper is ever started here.
pub fn entry() {}

/// Refuses to start anything.
#[derive(Debug)]
pub struct Sandbox(());

impl Sandbox {
    /// A sandbox that refuses.
    #[must_use]
    pub fn new(_policy: Policy) -> Self {
        Self(())
    }

    /// Has no effect.
    #[must_use]
    pub fn helper(self, _path: impl Into<PathBuf>) -> Self {
        self
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always [`SpawnError::Unsupported`].
    pub fn spawn(&self, _command: Command) -> Result<Child, SpawnError> {
        Err(probe().map_or_else(SpawnError::from, |_| SpawnError::EntryNotCalled))
    }
}

/// A child that cannot exist on this platform.
#[derive(Debug)]
pub struct Child(Infallible);

impl Child {
    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        match self.0 {}
    }

    /// What was enforced.
    #[must_use]
    pub fn report(&self) -> &Report {
        match self.0 {}
    }

    /// The reading end of standard output, once.
    pub fn take_stdout(&mut self) -> Option<OwnedFd> {
        match self.0 {}
    }

    /// The reading end of standard error, once.
    pub fn take_stderr(&mut self) -> Option<OwnedFd> {
        match self.0 {}
    }

    /// The exit status, if it has ended.
    ///
    /// # Errors
    /// Never.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match self.0 {}
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Never.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        match self.0 {}
    }

    /// Kills it.
    ///
    /// # Errors
    /// Never.
    pub fn kill(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

impl AsFd for Child {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.0 {}
    }
}
