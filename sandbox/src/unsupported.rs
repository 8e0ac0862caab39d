//! The same interface for platforms without a sandbox: every attempt fails with an error that names the
//! platform.
//!
//! No child can exist here.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use crate::{
    Attempt, Command, Confinement, Evidence, Layers, Mechanism, Policy, Report, SpawnError, Support,
    Unsupported,
};

/// The machine's support: none.
#[must_use]
pub fn probe() -> Support {
    let answer = format!(
        "requires Linux on x86_64 or arm64, but this is {} on {}",
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let advice = "run inside a machine, virtual machine or container with Linux on x86_64 or arm64";
    let missing =
        |name| Mechanism { name, available: false, answer: answer.clone(), advice: Some(advice.to_owned()) };
    let mechanisms = ["landlock", "seccomp", "user namespace"].map(missing).to_vec();
    Support { mechanisms, layers: Layers::OFF, landlock_abi: 0 }
}

/// Has no effect, because there are no children.
///
/// # Errors
/// Never fails.
pub fn hide_from_others() -> io::Result<()> {
    Ok(())
}

/// Not known on this platform. Nothing here needs it.
#[must_use]
pub fn available_memory() -> Option<u64> {
    None
}

/// Not known on this platform. Nothing here needs it.
#[must_use]
pub fn tasks_on_machine() -> u64 {
    0
}

/// Returns at once, because no helper is started here.
pub fn entry() {}

/// Has no effect, because no helper is started here.
pub fn use_helper(_file: impl Into<std::path::PathBuf>) {}

/// Never, because no helper is started here.
#[must_use]
pub fn has_helper() -> bool {
    false
}

/// No program, because no helper is started here.
#[must_use]
pub fn helper_beside() -> Option<&'static Path> {
    None
}

/// Has no effect, because no helper is started here.
pub fn end_waiting_helper() {}

/// A sandbox that starts nothing.
#[derive(Debug, Clone)]
pub struct Sandbox {
    policy: Policy,
}

impl Sandbox {
    /// A sandbox that starts nothing.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { policy }
    }

    /// Has no effect.
    #[must_use]
    pub fn helper(self, _path: impl Into<PathBuf>) -> Self {
        self
    }

    /// Starts nothing.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn start_helper_ahead(&self) -> Result<(), SpawnError> {
        Ok(())
    }

    /// The machine's support: none.
    #[must_use]
    pub fn support(&self) -> Support {
        probe()
    }

    /// Fails.
    ///
    /// # Errors
    ///
    /// Always [`SpawnError::Unsupported`].
    pub fn spawn(&self, _command: Command) -> Result<Child, SpawnError> {
        // Fails for [`Layers::OFF`] too: the environment, the descriptors and the child's end are also the
        // sandbox's work.
        let required = match self.policy.confinement {
            Confinement::AtLeast(layers) | Confinement::Exactly(layers) => layers,
        };
        Err(probe().choose(required).map_or_else(SpawnError::from, |_| unsupported().into()))
    }
}

/// Scratch space that cannot exist on this platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scratch(Infallible);

impl Scratch {
    /// Fails.
    ///
    /// # Errors
    ///
    /// Always [`SpawnError::Unsupported`].
    pub fn new(_bytes: u64) -> Result<Self, SpawnError> {
        Err(unsupported().into())
    }

    /// Fails.
    ///
    /// # Errors
    ///
    /// Always [`SpawnError::Unsupported`].
    pub fn with_helper(_bytes: u64, _helper: impl AsRef<Path>) -> Result<Self, SpawnError> {
        Err(unsupported().into())
    }

    /// The size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self.0 {}
    }
}

fn unsupported() -> Unsupported {
    Unsupported {
        missing: "the sandbox requires Linux on x86_64 or arm64".to_owned(),
        advice: "run inside a machine, virtual machine or container with Linux on x86_64 or arm64".to_owned(),
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

    /// The enforced layers.
    #[must_use]
    pub fn report(&self) -> &Report {
        match self.0 {}
    }

    /// The child's evidence.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
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
    /// Never fails.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match self.0 {}
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Never fails.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        match self.0 {}
    }

    /// Kills it.
    ///
    /// # Errors
    /// Never fails.
    pub fn kill(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

/// A server that cannot exist on this platform.
#[derive(Debug)]
pub struct Server {
    /// The process.
    pub id: u32,
    /// The reading end of standard output.
    pub stdout: OwnedFd,
    /// The reading end of standard error.
    pub stderr: OwnedFd,
    /// The enforced layers.
    pub report: Report,
    /// Ends the server.
    pub lifeline: Lifeline,
}

/// Of a server that cannot exist on this platform.
#[derive(Debug)]
pub struct Lifeline(Infallible);

impl Lifeline {
    /// Ends the server.
    pub fn cut(&self) {
        match self.0 {}
    }

    /// What the server tries.
    ///
    /// # Errors
    /// Never fails.
    pub fn attempts(&self) -> io::Result<impl Iterator<Item = Attempt> + use<>> {
        Ok(std::iter::empty())
    }
}

impl Child {
    /// Gives up the ownership of a server's process.
    #[must_use]
    pub fn into_server(self) -> Option<Server> {
        match self.0 {}
    }
}

impl AsFd for Child {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.0 {}
    }
}
