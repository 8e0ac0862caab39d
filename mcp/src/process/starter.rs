//! Starts processes in sessions of their own that the kernel kills when this one dies, by whatever.
//!
//! What the kernel sends a child when its parent dies (PR_SET_PDEATHSIG(2const)), it sends when the thread ends that
//! has started it. So all are started in one thread, which lives as long as the process.

use std::{
    io,
    os::unix::process::CommandExt,
    process::{Child, Command},
    sync::{OnceLock, mpsc},
    thread,
};

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};

use super::reaper;

/// A process to be started, and where it is waited for.
type Order = (Command, mpsc::SyncSender<io::Result<Child>>);

/// Starts the process; blocks until the kernel has loaded the program. It leads a session and a
/// process group of its own. It alone is killed by the kernel; what it starts is left to `reaper`.
///
/// # Errors
/// Those of [`Command::spawn`], and where there can be no further thread.
pub(super) fn start(mut command: Command) -> io::Result<Child> {
    let parent = getpid();
    let prepare = move || {
        // The kernel has just made the process, so it leads no group yet.
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have died before.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from(rustix::io::Errno::SRCH)) }
    };
    // SAFETY: between fork and exec only system calls are made, which neither allocate nor take locks.
    unsafe { command.pre_exec(prepare) };
    let gone = || io::Error::other("the thread that starts processes is gone");
    let (started, child) = mpsc::sync_channel(1);
    orders()?.send((command, started)).map_err(|_| gone())?;
    child.recv().map_err(|_| gone())?
}

/// Where orders go.
fn orders() -> io::Result<mpsc::Sender<Order>> {
    static ORDERS: OnceLock<mpsc::Sender<Order>> = OnceLock::new();
    if let Some(orders) = ORDERS.get() {
        return Ok(orders.clone());
    }
    let (orders, taken) = mpsc::channel::<Order>();
    thread::Builder::new().name("starter".to_owned()).spawn(move || {
        for (mut command, started) in taken {
            let spawned = command.spawn();
            if let Ok(child) = &spawned {
                // It leads a group of its own.
                reaper::watch(child.id().cast_signed());
            }
            // Whoever has given up has dropped the child's pipes with this.
            let _ = started.send(spawned);
        }
    })?;
    // Of two threads that begin at once, one ends here again without having started anything.
    Ok(ORDERS.get_or_init(|| orders).clone())
}
