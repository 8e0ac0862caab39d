//! Limits concurrent compilers by processors and by available memory: more of them than processors only slow each other
//! down, and without usable control groups, too many could exhaust the machine.
//!
//! Each running compiler locks (flock(2)) a file in the cache folder, so that it counts for all processes that use the
//! cache; the lock ends with the process. One compiler may always run. Another one starts when the available memory
//! covers its own limit and the limits of those that run. Memory already in use is counted twice, which leaves
//! room for growth. Within a process, the holder with the fewest running compilers goes first; other processes poll.
//! If another one has more than half of the processors, it need not even wait for one of them: the two share the time.
//!
//! Compilers in the background are slow while others use the processors, so those that a snippet waits for do not wait
//! for them: the limit by processors counts each kind by itself.

use std::fs::{File, TryLockError};
use std::num::NonZero;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::holder::Holder;
use crate::journal::Sink;
use crate::turns::{Place, Turns};

/// Maximum number of compilers, whatever the memory.
const MAX_COMPILERS: usize = 64;

/// Interval at which the first in the queue checks the memory. Each check costs about 0.1 ms.
const POLL: Duration = Duration::from_millis(100);

/// The pause while another process is counting.
const PAUSE: Duration = Duration::from_millis(5);

/// Admits compilers.
#[derive(Debug)]
pub(crate) struct Admission {
    /// The folder of the files that running compilers lock.
    folder: PathBuf,
    foreground: Turns,
    background: Turns,
    /// Maximum number of compilers of one kind because of the processors.
    processors: usize,
}

/// A compiler that may run. Dropping it admits the next one.
pub(crate) struct Admitted<'a> {
    /// The locked file, until the compiler ends.
    slot: Option<File>,
    /// Its place among the compilers of this process.
    place: Option<Place<'a>>,
    admission: &'a Admission,
}

/// The kind of work that waits for a compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// A snippet.
    Foreground,
    /// Nothing yet.
    Background,
}

impl Priority {
    fn other(self) -> Self {
        match self {
            Priority::Foreground => Priority::Background,
            Priority::Background => Priority::Foreground,
        }
    }

    /// The name of a file that such a compiler locks.
    fn file(self, number: usize) -> String {
        match self {
            Priority::Foreground => number.to_string(),
            Priority::Background => format!("background-{number}"),
        }
    }
}

/// The result of one attempt.
enum Verdict {
    /// It may run while it locks this file.
    Admitted(File),
    NoMemory,
    /// As many run as the processors can use.
    NoProcessor,
    /// Another process is counting.
    Busy,
}

/// For whom a compiler is, who to notify about the wait, and whose clock to stop.
#[derive(Clone, Copy)]
pub(crate) struct AdmissionWait<'a> {
    /// Whose turn it takes.
    pub(crate) holder: &'a Holder,
    pub(crate) sink: &'a dyn Sink,
    /// The clock of the execution, stopped during the wait.
    pub(crate) clock: Option<&'a Clock>,
}

/// Returns the number of compilers that the processors of this process can run at once.
fn by_processors() -> usize {
    std::thread::available_parallelism().map_or(MAX_COMPILERS, NonZero::get)
}

/// Whether a compiler that may use `needed` bytes may start while `running` others may use as much each.
fn admits(running: usize, available: Option<u64>, needed: u64) -> bool {
    let all = needed.saturating_mul(u64::try_from(running).unwrap_or(u64::MAX).saturating_add(1));
    // If the available memory is unknown, it is no reason to refuse.
    running == 0 || (running < MAX_COMPILERS && available.is_none_or(|available| available >= all))
}

impl Admission {
    /// Uses the files in `folder`.
    pub(crate) fn new(folder: PathBuf) -> Self {
        let (foreground, background) = (Turns::default(), Turns::default());
        Admission { folder, foreground, background, processors: by_processors() }
    }

    fn turns(&self, priority: Priority) -> &Turns {
        match priority {
            Priority::Foreground => &self.foreground,
            Priority::Background => &self.background,
        }
    }

    /// Waits until a compiler that may use `needed` bytes of memory may start, and calls `release` if there is not enough
    /// memory, to free some. Dropping the future leaves the queue.
    ///
    /// # Errors
    /// If the cache can't be written to, or the holder would wait too long ([`ErrorKind::Busy`]).
    pub(crate) async fn admit(
        &self,
        priority: Priority,
        needed: u64,
        admission: AdmissionWait<'_>,
        release: impl Fn(),
    ) -> Result<Admitted<'_>> {
        let lacks_memory = AtomicBool::new(false);
        let turns = self.turns(priority);
        let mut waiting = pin!(async {
            let (turn, mut changes) = (turns.join(&admission.holder.key), turns.changes());
            loop {
                changes.mark_unchanged();
                if !turn.is_first() {
                    // The sender lives as long as `self`.
                    let _ = changes.changed().await;
                    continue;
                }
                let share = self.processors / 2;
                let extra = if turn.is_crowded_out(share) { share.max(1) } else { 0 };
                let pause = match self.try_admit(priority, needed, extra)? {
                    Verdict::Admitted(slot) => {
                        return Ok(Admitted { slot: Some(slot), place: Some(turn.take()), admission: self });
                    }
                    Verdict::NoMemory => {
                        lacks_memory.store(true, Ordering::Relaxed);
                        release();
                        POLL
                    }
                    Verdict::NoProcessor => POLL,
                    Verdict::Busy => PAUSE,
                };
                tokio::select! {
                    _ = changes.changed() => {}
                    // Other processes send no notification when they end.
                    () = tokio::time::sleep(pause) => {}
                }
            }
        });
        if let Poll::Ready(admitted) = futures::poll!(waiting.as_mut()) {
            return admitted;
        }
        if lacks_memory.load(Ordering::Relaxed) {
            admission.sink.progress(&format!(
                "waiting for memory: a compiler may take {} MiB, and others are running",
                needed >> 20
            ));
        } else {
            admission.sink.progress("waiting for other compilers, which use all processors");
        }
        let waiting = no_longer_than(admission.holder.longest_wait, waiting);
        match admission.clock {
            Some(clock) => clock.while_waiting(waiting).await,
            None => waiting.await,
        }
    }

    /// Tries to start a compiler, with `extra` more of them than there are processors.
    fn try_admit(&self, priority: Priority, needed: u64, extra: usize) -> Result<Verdict> {
        let failed = |error: std::io::Error| Error::cache(&self.folder)(error);
        system::private::create_inside(&self.folder).map_err(failed)?;
        let open = |name: &str| system::private::open(&self.folder.join(name)).map_err(failed);
        // One process at a time counts and starts.
        let door = open("door")?;
        if !is_free(&door).map_err(failed)? {
            return Ok(Verdict::Busy);
        }
        let (alike, free) = self.count(priority)?;
        if alike >= self.processors + extra {
            return Ok(Verdict::NoProcessor);
        }
        let (others, _) = self.count(priority.other())?;
        let Some(number) = free.filter(|_| admits(alike + others, sandbox::available_memory(), needed))
        else {
            return Ok(Verdict::NoMemory);
        };
        let slot = open(&priority.file(number))?;
        if !is_free(&slot).map_err(failed)? {
            return Ok(Verdict::Busy);
        }
        Ok(Verdict::Admitted(slot))
    }

    /// Returns the number of running compilers of this priority, and the number of a free slot.
    fn count(&self, priority: Priority) -> Result<(usize, Option<usize>)> {
        let (mut running, mut free) = (0, None);
        for number in 0..MAX_COMPILERS {
            let slot = File::options().write(true).open(self.folder.join(priority.file(number)));
            let Ok(slot) = slot else {
                // Files are created in order: there are no others.
                free = free.or(Some(number));
                break;
            };
            if is_free(&slot).map_err(Error::cache(&self.folder))? {
                free = free.or(Some(number));
            } else {
                running += 1;
            }
        }
        Ok((running, free))
    }
}

/// Waits for a compiler, but only so long.
async fn no_longer_than<T>(longest: Option<Duration>, waiting: impl Future<Output = Result<T>>) -> Result<T> {
    let Some(longest) = longest else { return waiting.await };
    tokio::time::timeout(longest, waiting).await.unwrap_or_else(|_| {
        let seconds = longest.as_secs_f64();
        let message =
            format!("it waited {seconds} s for a compiler, the limit (serve.queueTimeout); try again later");
        Err(Error::new(ErrorKind::Busy, message))
    })
}

/// Locks a file, unless another process holds it.
fn is_free(file: &File) -> std::io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        drop(self.slot.take());
        drop(self.place.take());
        // The memory of both kinds counts.
        self.admission.foreground.changed();
        self.admission.background.changed();
    }
}

#[cfg(test)]
mod tests;
