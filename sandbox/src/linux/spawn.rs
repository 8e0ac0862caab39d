//! The parent's side: starts a helper, and has it execute a command under a policy.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use super::child::{Child, Conversation};
use super::control::{self, AHEAD_NAME, HELPER_NAME, Handover};
use super::spawner::check_entry_called;
use super::waiting::{self, Helper};
use super::{executable, probe};
use crate::{Command, Confinement, Layers, Policy, PolicyError, Profile, Scratch, SpawnError, Support};

/// A policy, ready to confine commands.
#[derive(Debug, Clone)]
pub struct Sandbox {
    policy: Policy,
    helper: PathBuf,
}

impl Sandbox {
    /// A sandbox whose helper is the program of [`use_helper`](crate::use_helper), or else this executable,
    /// which must call [`entry`](crate::entry) first in `main`.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { policy, helper: executable::path().to_owned() }
    }

    /// Uses another executable as the helper. It must call [`entry`](crate::entry) first in `main`.
    #[must_use]
    pub fn helper(mut self, path: impl Into<PathBuf>) -> Self {
        self.helper = path.into();
        self
    }

    /// Starts a helper that waits for the next program, unless one waits already. That program then starts sooner;
    /// nothing else changes. Blocks for about a millisecond.
    ///
    /// # Errors
    ///
    /// Returns [`SpawnError`]. The next [`Sandbox::spawn`] then starts its own helper.
    pub fn start_helper_ahead(&self) -> Result<(), SpawnError> {
        check_entry_called()?;
        let name = if self.layers()?.namespaces { AHEAD_NAME } else { HELPER_NAME };
        let waiting = waiting::take(&self.helper, name);
        waiting::keep(waiting.map_or_else(|| Helper::start(&self.helper, name, []), Ok)?);
        Ok(())
    }

    /// The machine's support. Determined once per process.
    #[must_use]
    pub fn support(&self) -> Support {
        probe::probe_with(&self.helper)
    }

    /// Starts the command under the policy. Blocks until the command has been executed (a few milliseconds).
    /// Standard input is empty unless the command has one; standard output and error are pipes.
    ///
    /// The process must not ignore SIGCHLD, and nothing else in it may reap unknown children.
    ///
    /// # Errors
    ///
    /// Returns [`SpawnError`]. No process is left behind.
    pub fn spawn(&self, command: Command) -> Result<Child, SpawnError> {
        check_entry_called()?;
        self.policy.check().map_err(SpawnError::Policy)?;
        check_command(&command).map_err(SpawnError::Policy)?;
        let layers = self.layers()?;
        let handover = self.handover(&command, layers)?;
        let broker = command.broker.as_ref().map(AsFd::as_fd);
        let shared = self.policy.shared_scratch.as_ref().map(Scratch::namespace);
        let image = command.image.as_ref().map(AsFd::as_fd);
        let input = command.input.as_ref().map(AsFd::as_fd);
        let descriptors: Vec<BorrowedFd<'_>> = [broker, shared, image, input].into_iter().flatten().collect();
        let begin = |helper| self.begin(helper, &handover, &descriptors);
        let child = match self.waiting(&command, layers).map(begin) {
            Some(Ok(child)) => Ok(child),
            Some(Err(NotStarted::Failed(error))) => Err(error),
            // Something else has killed the waiting helper: a new one executes the command.
            None | Some(Err(NotStarted::Unread(_))) => {
                let helper = Helper::start(&self.helper, HELPER_NAME, command.words())?;
                begin(helper).map_err(SpawnError::from)
            }
        };
        // From here on, only the child holds its end of the broker, so that the other end sees it close.
        drop(command);
        child
    }

    /// Has a helper execute the command. If that fails, no process is left behind.
    fn begin(
        &self,
        helper: Helper,
        handover: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<Child, NotStarted> {
        let mut child = Child::new(helper);
        child.limit(&self.policy)?;
        match child.converse(handover, descriptors) {
            Ok(()) => Ok(child),
            Err(Conversation::Failed(error)) => Err(error.into()),
            Err(Conversation::Ended) => {
                let status = child.end().map_err(SpawnError::Control)?;
                Err(SpawnError::HelperEnded(status).into())
            }
            Err(Conversation::Unread) => {
                Err(NotStarted::Unread(child.abandon().map_err(SpawnError::Control)?))
            }
        }
    }

    /// Whether a helper that was started ahead may be used. Compilers have their own, whose command line names the
    /// compiler.
    fn may_wait(&self) -> bool {
        self.policy.profile == Profile::Program
    }

    /// A waiting helper that can execute the command with these layers.
    fn waiting(&self, command: &Command, layers: Layers) -> Option<Helper> {
        if !self.may_wait() {
            return None;
        }
        if !layers.namespaces {
            return waiting::take(&self.helper, HELPER_NAME);
        }
        // Such a helper may lack the rights to open the executable, and to enter the namespaces of other children.
        let needs_rights = command.image.is_none() || self.policy.shared_scratch.is_some();
        if needs_rights { None } else { waiting::take(&self.helper, AHEAD_NAME) }
    }

    fn handover(&self, command: &Command, layers: Layers) -> Result<Vec<u8>, SpawnError> {
        self.policy.check_with(layers).map_err(SpawnError::Policy)?;
        let handover = Handover {
            parent: std::process::id(),
            broker: command.broker.is_some(),
            scratch: self.policy.shared_scratch.is_some(),
            image: command.image.is_some(),
            input: command.input.is_some(),
            layers,
            command: self.may_wait().then(|| command.words().map(OsStr::to_owned).collect()),
            policy: self.policy.clone(),
        };
        control::frame(&handover).map_err(|error| PolicyError::Unsendable(error.to_string()).into())
    }

    fn layers(&self) -> Result<Layers, SpawnError> {
        match self.policy.confinement {
            Confinement::Exactly(layers) => Ok(layers),
            Confinement::AtLeast(minimum) => Ok(self.support().choose(minimum)?),
        }
    }
}

fn check_command(command: &Command) -> Result<(), PolicyError> {
    if !command.program.is_absolute() {
        return Err(PolicyError::NotAbsolute { what: "program", path: command.program.clone() });
    }
    let has_nul = |text: &OsStr| text.as_encoded_bytes().contains(&0);
    if has_nul(Path::as_os_str(&command.program))
        || command.arguments.iter().any(|argument| has_nul(argument))
    {
        return Err(PolicyError::Nul);
    }
    Ok(())
}

/// The reason why a helper has not started the command.
enum NotStarted {
    Failed(SpawnError),
    /// It ended before it had read its whole policy, so it has executed nothing.
    Unread(ExitStatus),
}

impl From<SpawnError> for NotStarted {
    fn from(error: SpawnError) -> Self {
        NotStarted::Failed(error)
    }
}

impl From<NotStarted> for SpawnError {
    fn from(not_started: NotStarted) -> Self {
        match not_started {
            NotStarted::Failed(error) => error,
            NotStarted::Unread(status) => SpawnError::HelperEnded(status),
        }
    }
}
