//! Starts processes that the kernel kills when this process dies.
//!
//! The kernel sends the parent-death signal (PR_SET_PDEATHSIG(2const)) when the thread that started the child ends. So
//! all are started on one thread, which lives as long as the process.

use std::{
    io,
    sync::{OnceLock, mpsc},
    thread,
};

use super::{
    launch::{Launch, Launched},
    reaper,
};

/// A process to start, and the channel for the result.
type Order = (Launch, mpsc::SyncSender<io::Result<Launched>>);

/// Starts the process; blocks until the kernel has loaded the program. It leads its own session and process group. The
/// kernel kills only this process; `reaper` handles its descendants.
///
/// # Errors
/// Returns the errors of [`Launch::start`], and a failure to create the thread.
pub(super) fn start(launch: Launch) -> io::Result<Launched> {
    let gone = || io::Error::other("the thread that starts processes has ended");
    let (started, child) = mpsc::sync_channel(1);
    orders()?.send((launch, started)).map_err(|_| gone())?;
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
        for (launch, started) in received {
            let launched = launch.start();
            if let Ok(launched) = &launched {
                // The child leads its own group.
                reaper::watch(launched.pid.as_raw_nonzero().get());
            }
            // If the caller has given up, this drops the child's pipes.
            let _ = started.send(launched);
        }
    })?;
    // If two threads start at once, one of them ends at once because its channel is dropped here.
    Ok(ORDERS.get_or_init(|| orders).clone())
}
