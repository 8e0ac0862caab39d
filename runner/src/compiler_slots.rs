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
        (priority, needed): (Priority, u64),
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
                let pause = match self.try_admit((priority, needed), extra)? {
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
    fn try_admit(&self, (priority, needed): (Priority, u64), extra: usize) -> Result<Verdict> {
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
        let admits = |_: &usize| admits(alike + others, sandbox::available_memory(), needed);
        let Some(number) = free.filter(admits) else { return Ok(Verdict::NoMemory) };
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
mod tests {
    use super::*;
    use crate::journal::NoSink;

    const GIB: u64 = 1 << 30;

    /// A wait of the holder with this key.
    fn wait_of(key: &str, longest_wait: Option<Duration>) -> AdmissionWait<'static> {
        let holder = Holder { key: key.to_owned(), longest_wait, ..Holder::default() };
        AdmissionWait { holder: Box::leak(Box::new(holder)), sink: &NoSink, clock: None }
    }

    fn unlimited() -> AdmissionWait<'static> {
        wait_of("", None)
    }

    #[test]
    fn one_may_always_run_and_more_only_with_memory_for_all() {
        let cases = [
            (0, Some(0), true),
            (1, Some(5 * GIB), false),
            (1, Some(6 * GIB), true),
            (2, Some(8 * GIB), false),
            (15, Some(47 * GIB), false),
            (15, Some(48 * GIB), true),
            (15, None, true),
            (MAX_COMPILERS, Some(u64::MAX), false),
        ];
        for (running, available, may) in cases {
            assert_eq!(admits(running, available, 3 * GIB), may, "{running} {available:?}");
        }
    }

    /// There is no memory to release.
    fn nothing() {}

    /// More than any machine has, so that only one runs at a time.
    const TOO_MUCH: u64 = u64::MAX;

    #[tokio::test]
    async fn no_more_run_than_the_processors_can_use() {
        let folder = tempfile::tempdir().unwrap();
        let admission = Admission { processors: 2, ..Admission::new(folder.path().join("compilers")) };
        let first = admission.admit((Priority::Foreground, 0), unlimited(), nothing).await.unwrap();
        let second = admission.admit((Priority::Foreground, 0), unlimited(), nothing).await.unwrap();
        let mut third = Box::pin(admission.admit((Priority::Foreground, 0), unlimited(), nothing));
        assert!(futures::poll!(third.as_mut()).is_pending());
        drop(first);
        drop(third.await.unwrap());
        drop(second);
    }

    #[tokio::test]
    async fn those_in_the_background_keep_no_snippet_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let admission = Admission { processors: 1, ..Admission::new(folder.path().join("compilers")) };
        let background = admission.admit((Priority::Background, 0), unlimited(), nothing).await.unwrap();
        let snippet = admission.admit((Priority::Foreground, 0), unlimited(), nothing).await.unwrap();
        let mut another = Box::pin(admission.admit((Priority::Background, 0), unlimited(), nothing));
        assert!(futures::poll!(another.as_mut()).is_pending());
        drop(background);
        another.await.unwrap();
        // The memory of both kinds counts.
        let mut large = Box::pin(admission.admit((Priority::Background, TOO_MUCH), unlimited(), nothing));
        assert!(futures::poll!(large.as_mut()).is_pending());
        drop(snippet);
        large.await.unwrap();
    }

    #[tokio::test]
    async fn without_memory_they_run_one_by_one_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let admission = Admission::new(folder.path().join("compilers"));
        let first = admission.admit((Priority::Foreground, TOO_MUCH), unlimited(), nothing).await.unwrap();
        let mut second = Box::pin(admission.admit((Priority::Foreground, TOO_MUCH), unlimited(), nothing));
        let mut leaving = Box::pin(admission.admit((Priority::Foreground, TOO_MUCH), unlimited(), nothing));
        let mut third = Box::pin(admission.admit((Priority::Foreground, TOO_MUCH), unlimited(), nothing));
        for waiting in [&mut second, &mut leaving, &mut third] {
            assert!(futures::poll!(waiting.as_mut()).is_pending());
        }
        drop(leaving);
        drop(first);
        assert!(futures::poll!(third.as_mut()).is_pending(), "it is the second's turn");
        let second = second.await.unwrap();
        assert!(futures::poll!(third.as_mut()).is_pending());
        drop(second);
        drop(third.await.unwrap());
    }

    #[tokio::test]
    async fn memory_is_released_only_while_it_is_short() {
        let folder = tempfile::tempdir().unwrap();
        let admission = Admission::new(folder.path().to_owned());
        let released = std::cell::Cell::new(0);
        let release = || released.set(released.get() + 1);
        let first = admission.admit((Priority::Foreground, TOO_MUCH), unlimited(), release).await.unwrap();
        assert_eq!(released.get(), 0);
        let mut second = Box::pin(admission.admit((Priority::Foreground, TOO_MUCH), unlimited(), release));
        assert!(futures::poll!(second.as_mut()).is_pending());
        assert_eq!(released.get(), 1);
        drop(first);
        second.await.unwrap();
    }

    #[tokio::test]
    async fn twelve_texts_of_one_holder_keep_no_other_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let admission = Admission { processors: 2, ..Admission::new(folder.path().to_owned()) };
        let compiler = |holder| admission.admit((Priority::Foreground, 0), wait_of(holder, None), nothing);
        let (first, second) = (compiler("one").await.unwrap(), compiler("one").await.unwrap());
        let mut waiting: Vec<_> = (0..10).map(|_| Box::pin(compiler("one"))).collect();
        for one in &mut waiting {
            assert!(futures::poll!(one.as_mut()).is_pending());
        }
        let other = compiler("other").await.unwrap();
        let mut more_of_other = Box::pin(compiler("other"));
        assert!(futures::poll!(more_of_other.as_mut()).is_pending(), "it has its share");
        drop(first);
        assert!(futures::poll!(waiting[0].as_mut()).is_pending(), "two run");
        drop(other);
        let other = more_of_other.await.unwrap();
        assert!(futures::poll!(waiting[0].as_mut()).is_pending(), "it was the other's turn");
        drop((other, second));
        drop(waiting.remove(0).await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let admission = Admission { processors: 1, ..Admission::new(folder.path().to_owned()) };
        let first = admission.admit((Priority::Foreground, 0), unlimited(), nothing).await.unwrap();
        let bounded = wait_of("", Some(Duration::from_secs(30)));
        let error = admission.admit((Priority::Foreground, 0), bounded, nothing).await.err().unwrap();
        assert_eq!(error.kind, ErrorKind::Busy);
        assert_eq!(
            error.to_string(),
            "it waited 30 s for a compiler, the limit (serve.queueTimeout); try again later"
        );
        // It has left the queue.
        drop(first);
        admission.admit((Priority::Foreground, 0), unlimited(), nothing).await.unwrap();
    }

    #[tokio::test]
    async fn compilers_of_other_processes_count() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = [(), ()].map(|()| Admission::new(folder.path().to_owned()));
        let first = one.admit((Priority::Foreground, TOO_MUCH), unlimited(), nothing).await.unwrap();
        let mut second = Box::pin(other.admit((Priority::Foreground, TOO_MUCH), unlimited(), nothing));
        assert!(futures::poll!(second.as_mut()).is_pending());
        drop(first);
        second.await.unwrap();
    }

    #[tokio::test]
    async fn with_memory_they_run_concurrently() {
        let folder = tempfile::tempdir().unwrap();
        let admission = Admission { processors: 16, ..Admission::new(folder.path().to_owned()) };
        let mut running = Vec::new();
        for _ in 0..16 {
            running.push(admission.admit((Priority::Foreground, 1), unlimited(), nothing).await.unwrap());
        }
        assert_eq!(running.len(), 16);
    }
}
