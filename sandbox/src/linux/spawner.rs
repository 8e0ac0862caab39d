//! Starts helpers from one thread that lives as long as this process.
//!
//! `PR_SET_PDEATHSIG` fires when the *thread* that started a child ends, not its process (prctl(2)), so a
//! child started from a short-lived thread would die with it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

use super::control::{AHEAD_NAME, HELPER_NAME, PROBE_NAME, SCRATCH_NAME};
use crate::SpawnError;

struct Request {
    command: Command,
    reply: SyncSender<io::Result<Child>>,
}

static SPAWNER: Mutex<Option<Sender<Request>>> = Mutex::new(None);

/// A helper that continued into its own `main` must not start further helpers endlessly.
pub(super) fn check_entry_called() -> Result<(), SpawnError> {
    let own_name = std::env::args_os().next();
    let names = [HELPER_NAME, AHEAD_NAME, PROBE_NAME, SCRATCH_NAME];
    if names.into_iter().any(|name| own_name.as_deref() == Some(OsStr::new(name))) {
        return Err(SpawnError::EntryNotCalled);
    }
    Ok(())
}

/// Starts a helper under this name, with its end of the socket as standard input. It avoids `pre_exec`, which
/// makes the standard library fork, at a cost that grows with this process.
pub(super) fn start<'a>(
    helper: &Path,
    name: &str,
    arguments: impl IntoIterator<Item = &'a OsStr>,
    theirs: UnixStream,
) -> io::Result<Child> {
    let mut command = Command::new(helper);
    command.arg0(name).args(arguments).env_clear();
    command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::piped()).stderr(Stdio::piped());
    spawn(command)
}

/// Starts a process from the permanent thread.
fn spawn(command: Command) -> io::Result<Child> {
    let (reply, answer) = sync_channel(1);
    sender()?.send(Request { command, reply }).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts processes has ended")
}

fn sender() -> io::Result<Sender<Request>> {
    let mut spawner = SPAWNER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sender) = &*spawner {
        return Ok(sender.clone());
    }
    let (sender, requests) = channel();
    std::thread::Builder::new().name("sandbox-spawner".to_owned()).spawn(move || serve(&requests))?;
    *spawner = Some(sender.clone());
    Ok(sender)
}

fn serve(requests: &Receiver<Request>) {
    while let Ok(Request { mut command, reply }) = requests.recv() {
        let child = command.spawn();
        // The command holds the helper's ends of the pipes and of the socket.
        drop(command);
        if let Err(unclaimed) = reply.send(child)
            && let Ok(mut child) = unclaimed.0
        {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
