//! How many compilers run at once: as many as there is memory for, so that together they do not exhaust a machine whose
//! control groups can't hold them.
//!
//! A compiler that runs holds a lock (flock(2)) on a file in the cache folder, and so counts for every process that uses
//! the cache; the lock ends with the process. One compiler may always run. Another one begins when the memory that is
//! available covers the limits of those that run and its own. That counts twice what those already use, which is what
//! makes it safe that they may still grow. Within a process the first to come is the first to begin; processes among
//! each other ask again and again.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::{Mutex, Notify};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::observer::Observer;

/// Most compilers at once, whatever the memory.
const MOST: usize = 64;

/// How often memory is looked at again by the first that waits. Each look costs about 0.1 ms.
const POLL: Duration = Duration::from_millis(100);

/// How long is waited for another process that counts.
const PAUSE: Duration = Duration::from_millis(5);

/// Admits compilers.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Where the files are that running compilers hold.
    folder: PathBuf,
    /// The first that waits has it; the others queue for it.
    turn: Mutex<()>,
    /// A compiler of this process has ended.
    ended: Notify,
}

/// A compiler that may run. Dropping it lets the next one begin.
pub(crate) struct Admitted<'a> {
    /// The file that it holds, until it ends.
    slot: Option<File>,
    admission: &'a Admission,
}

/// What one look says.
enum Verdict<'a> {
    Admitted(Admitted<'a>),
    NoMemory,
    /// Another process is counting at this moment.
    Busy,
}

/// Who waits, and is told so.
#[derive(Clone, Copy)]
pub(crate) struct AdmissionWait<'a> {
    pub(crate) observer: &'a dyn Observer,
    /// The time of the execution, which stands still meanwhile.
    pub(crate) clock: Option<&'a Clock>,
}

/// Whether a compiler that may use `wanted` bytes may begin, when `running` ones may use as much each.
fn admits(running: usize, available: Option<u64>, wanted: u64) -> bool {
    let all = wanted.saturating_mul(u64::try_from(running).unwrap_or(u64::MAX).saturating_add(1));
    // Where nothing is known of the memory, nothing can be said against it.
    running == 0 || (running < MOST && available.is_none_or(|available| available >= all))
}

impl Admission {
    /// With the files in `folder`.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Admission { folder, turn: Mutex::default(), ended: Notify::new() }
    }

    /// Waits until a compiler that may use `wanted` bytes of memory may begin. Dropping the future leaves the queue.
    ///
    /// # Errors
    /// Where the cache can't be written to.
    pub(crate) async fn admit(&self, wanted: u64, patience: AdmissionWait<'_>) -> Result<Admitted<'_>> {
        let mut waiting = pin!(async {
            let _turn = self.turn.lock().await;
            loop {
                let pause = match self.try_admit(wanted)? {
                    Verdict::Admitted(admitted) => return Ok(admitted),
                    Verdict::NoMemory => POLL,
                    Verdict::Busy => PAUSE,
                };
                tokio::select! {
                    () = self.ended.notified() => {}
                    // Other processes tell nobody that they have ended.
                    () = tokio::time::sleep(pause) => {}
                }
            }
        });
        if let Poll::Ready(admitted) = futures::poll!(waiting.as_mut()) {
            return admitted;
        }
        patience.observer.progress(&format!(
            "waiting for memory: a compiler may take {} MiB, and others are running",
            wanted >> 20
        ));
        match patience.clock {
            Some(clock) => clock.while_waiting(waiting).await,
            None => waiting.await,
        }
    }

    fn try_admit(&self, wanted: u64) -> Result<Verdict<'_>> {
        let failed = |error: std::io::Error| Error::cache(&self.folder)(error);
        fs_err::create_dir_all(&self.folder).map_err(failed)?;
        let open = |name: &str| File::create(self.folder.join(name)).map_err(failed);
        // One process at a time counts and begins.
        let door = open("door")?;
        if !is_free(&door).map_err(failed)? {
            return Ok(Verdict::Busy);
        }
        let (mut running, mut free) = (0, None);
        for number in 0..MOST {
            let slot = File::options().write(true).open(self.folder.join(number.to_string()));
            let Ok(slot) = slot else {
                // Files are made one after the other: there are no further ones.
                if free.is_none() {
                    free = Some(number);
                }
                break;
            };
            if is_free(&slot).map_err(failed)? {
                free = free.or(Some(number));
            } else {
                running += 1;
            }
        }
        let Some(number) = free.filter(|_| admits(running, sandbox::available_memory(), wanted)) else {
            return Ok(Verdict::NoMemory);
        };
        let slot = open(&number.to_string())?;
        if !is_free(&slot).map_err(failed)? {
            return Ok(Verdict::Busy);
        }
        Ok(Verdict::Admitted(Admitted { slot: Some(slot), admission: self }))
    }
}

/// Locks a file, unless another holds it.
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
        self.admission.ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;

    const GIB: u64 = 1 << 30;

    fn patience() -> AdmissionWait<'static> {
        AdmissionWait { observer: &Unobserved, clock: None }
    }

    #[test]
    fn one_always_may_and_more_only_if_there_is_memory_for_all() {
        let cases = [
            (0, Some(0), true),
            (1, Some(5 * GIB), false),
            (1, Some(6 * GIB), true),
            (2, Some(8 * GIB), false),
            (15, Some(47 * GIB), false),
            (15, Some(48 * GIB), true),
            (15, None, true),
            (MOST, Some(u64::MAX), false),
        ];
        for (running, available, may) in cases {
            assert_eq!(admits(running, available, 3 * GIB), may, "{running} {available:?}");
        }
    }

    /// More than any machine has, so that one runs at a time.
    const TOO_MUCH: u64 = u64::MAX;

    #[tokio::test]
    async fn without_memory_they_run_one_after_the_other_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let admission = Admission::new(folder.path().join("compilers"));
        let first = admission.admit(TOO_MUCH, patience()).await.unwrap();
        let mut second = Box::pin(admission.admit(TOO_MUCH, patience()));
        let mut leaving = Box::pin(admission.admit(TOO_MUCH, patience()));
        let mut third = Box::pin(admission.admit(TOO_MUCH, patience()));
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
    async fn compilers_of_other_processes_count() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = [(), ()].map(|()| Admission::new(folder.path().to_owned()));
        let first = one.admit(TOO_MUCH, patience()).await.unwrap();
        let mut second = Box::pin(other.admit(TOO_MUCH, patience()));
        assert!(futures::poll!(second.as_mut()).is_pending());
        drop(first);
        second.await.unwrap();
    }

    #[tokio::test]
    async fn with_memory_they_run_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        let admission = Admission::new(folder.path().to_owned());
        let mut running = Vec::new();
        for _ in 0..16 {
            running.push(admission.admit(1, patience()).await.unwrap());
        }
        assert_eq!(running.len(), 16);
    }
}
