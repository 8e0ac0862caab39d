//! A helper that is started before its policy is known. A large part of a helper's start depends on nothing: the work of
//! the dynamic linker on this executable, and the namespaces in which every program is alone.
//!
//! A waiting helper is a fresh process like any other. It has received nothing, and waits at its socket for its policy
//! and its command, which it handles like a helper that is started on demand. It ends when its socket closes, which also
//! happens when this process dies.

use std::ffi::OsStr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::control::HANDOVER_TIMEOUT;
use super::spawner;
use crate::SpawnError;

/// The helper that waits, if any: a second one would save nothing, because starts are made one after another.
static WAITING: Mutex<Option<Helper>> = Mutex::new(None);

/// A started helper and its socket.
#[derive(Debug)]
pub(super) struct Helper {
    /// Its executable.
    path: PathBuf,
    /// Its `argv[0]`, which says what it does before it waits.
    name: &'static str,
    pub(super) process: Child,
    pub(super) socket: UnixStream,
}

impl Helper {
    /// Starts a helper with `name` as its `argv[0]`.
    pub(super) fn start<'a>(
        path: &Path,
        name: &'static str,
        arguments: impl IntoIterator<Item = &'a OsStr>,
    ) -> Result<Self, SpawnError> {
        let (socket, theirs) = UnixStream::pair().map_err(SpawnError::Control)?;
        socket.set_read_timeout(Some(HANDOVER_TIMEOUT)).map_err(SpawnError::Control)?;
        socket.set_write_timeout(Some(HANDOVER_TIMEOUT)).map_err(SpawnError::Control)?;
        let process = spawner::start(path, name, arguments, theirs)
            .map_err(|source| SpawnError::Start { helper: path.to_owned(), source })?;
        Ok(Helper { path: path.to_owned(), name, process, socket })
    }

    fn is_waiting(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Ends a helper that has no command.
    pub(super) fn end(mut self) {
        drop(self.socket);
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn waiting() -> MutexGuard<'static, Option<Helper>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The waiting helper, unless it has another executable or name, or was killed.
pub(super) fn take(path: &Path, name: &str) -> Option<Helper> {
    let mut helper = waiting().take_if(|helper| helper.path == path && helper.name == name)?;
    helper.is_waiting().then_some(helper)
}

/// Keeps a helper for the next command. It replaces one of another executable or name.
pub(super) fn keep(helper: Helper) {
    let other = waiting().replace(helper);
    if let Some(other) = other {
        other.end();
    }
}

/// Ends the helper that [`Sandbox::start_helper_ahead`](crate::Sandbox::start_helper_ahead) has started, if no command
/// has used it.
pub fn end_waiting_helper() {
    let helper = waiting().take();
    if let Some(helper) = helper {
        helper.end();
    }
}
