//! Starts processes in their own sessions, which the kernel kills when this process dies.
//!
//! The kernel sends the parent-death signal (PR_SET_PDEATHSIG(2const)) when the thread that started the child ends. So
//! all are started on one thread, which lives as long as the process.

use std::{
    io,
    os::unix::process::CommandExt,
    process::{Child, Command},
    sync::{OnceLock, mpsc},
    thread,
};

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};

use super::reaper;

/// A process to start, and the channel for the result.
type Order = (Command, mpsc::SyncSender<io::Result<Child>>);

/// Starts the process; blocks until the kernel has loaded the program. It leads its own session and process group. The
/// kernel kills only this process; `reaper` handles its descendants.
///
/// # Errors
/// Those of [`Command::spawn`], and a failure to create the thread.
pub(super) fn start(mut command: Command) -> io::Result<Child> {
    let parent = getpid();
    let prepare = move || {
        // The process has just been forked, so it does not lead a group yet.
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may already have died.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from(rustix::io::Errno::SRCH)) }
    };
    // SAFETY: between fork and exec only system calls are made, which neither allocate nor take locks.
    unsafe { command.pre_exec(prepare) };
    let gone = || io::Error::other("the thread that starts processes has ended");
    let (started, child) = mpsc::sync_channel(1);
    orders()?.send((command, started)).map_err(|_| gone())?;
    child.recv().map_err(|_| gone())?
}

/// The channel to the thread, which is started on the first call.
fn orders() -> io::Result<mpsc::Sender<Order>> {
    static ORDERS: OnceLock<mpsc::Sender<Order>> = OnceLock::new();
    if let Some(orders) = ORDERS.get() {
        return Ok(orders.clone());
    }
    let (orders, received) = mpsc::channel::<Order>();
    thread::Builder::new().name("starter".to_owned()).spawn(move || {
        for (mut command, started) in received {
            let spawned = command.spawn();
            if let Ok(child) = &spawned {
                // The child leads its own group.
                reaper::watch(child.id().cast_signed());
            }
            // If the caller has given up, this drops the child's pipes.
            let _ = started.send(spawned);
        }
    })?;
    // If two threads start at once, one of them ends at once because its channel is dropped here.
    Ok(ORDERS.get_or_init(|| orders).clone())
}
