//! The thread that starts helpers, one for the life of this process.
//!
//! `PR_SET_PDEATHSIG` fires when the *thread* that started a child ends, not its process (prctl(2)), so a
//! child started from a short-lived thread would die with it. Leaves everything else to `spawn`.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

struct Request {
    command: Command,
    reply: SyncSender<io::Result<Child>>,
}

static SPAWNER: Mutex<Option<Sender<Request>>> = Mutex::new(None);

/// Starts a process from the permanent thread.
pub(super) fn spawn(command: Command) -> io::Result<Child> {
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
