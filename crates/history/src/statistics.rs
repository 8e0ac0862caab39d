//! Counts calls by day, server and tool, without their arguments and results.
//!
//! A call only changes counters in memory; [`Statistics::flush`] adds them to tables in the file of the history, which all
//! processes share. A file that can't be used costs one warning, never a call.

mod counters;
mod errors;
mod histogram;
mod moved;
mod tally;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::{Mutex, MutexGuard};
use report::Report;
use terminal::Notifier;

use counters::Counters;
use histogram::Histogram;
use tally::{Pending, Tally};

/// Interval between two writes of a process that serves.
pub const WRITE_INTERVAL: Duration = Duration::from_secs(10);

/// Limit on tools that are counted separately between two writes; others are counted as [`OTHERS`].
const TOOLS_LIMIT: usize = 4_096;
const OTHERS: &str = "(others)";

/// Maximum length of a tool's name, in characters.
const NAME_LIMIT: usize = 256;

/// Counts the calls of this process.
pub struct Statistics {
    pending: Mutex<Pending>,
    /// The file, once it was used. Also serialises writing.
    file: Mutex<Option<Counters>>,
    /// Taken when a failure is reported.
    notifier: Mutex<Option<Notifier>>,
}

/// The calls of one tool over a period.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ToolStatistics {
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// Calls, including failed and cached ones.
    pub calls: u64,
    /// Calls that failed: the tool reported an error, or there was no answer.
    pub failures: u64,
    /// Calls that were answered from the cache.
    pub cached: u64,
    /// Mean duration of the calls that were made, in milliseconds; `None` if all were cached.
    pub mean_ms: Option<f64>,
    /// Median duration, within 5 %.
    pub p50_ms: Option<f64>,
    /// Duration that 95 % of the calls did not exceed, within 5 %.
    pub p95_ms: Option<f64>,
    /// Total duration.
    pub total_ms: f64,
    /// Size of the results as JSON, in bytes.
    pub bytes: u64,
}

/// A call in progress. If it is dropped without an end, it has failed.
pub struct CountedCall<'a> {
    statistics: &'a Statistics,
    server: String,
    tool: String,
    started: Instant,
    has_ended: bool,
}

impl CountedCall<'_> {
    /// The call was made, and its result has this size.
    pub fn end(mut self, ok: bool, bytes: usize) {
        self.count(ok, bytes);
    }

    /// The call was answered from the cache.
    pub fn cached(mut self, bytes: usize) {
        self.has_ended = true;
        let tally = Tally { calls: 1, cached: 1, bytes: as_u64(bytes), ..Tally::default() };
        self.statistics.add(&self.server, &self.tool, &tally);
    }

    fn count(&mut self, ok: bool, bytes: usize) {
        self.has_ended = true;
        let ms = self.started.elapsed().as_secs_f64() * 1e3;
        let tally = Tally {
            calls: 1,
            failures: u64::from(!ok),
            ms,
            longest_ms: ms,
            bytes: as_u64(bytes),
            durations: Histogram::of(ms),
            ..Tally::default()
        };
        self.statistics.add(&self.server, &self.tool, &tally);
    }
}

impl Drop for CountedCall<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.count(false, 0);
        }
    }
}

impl Statistics {
    /// Nothing counted yet; a failure to write is reported once to `notifier`.
    pub fn new(notifier: Notifier) -> Self {
        Statistics { pending: Mutex::default(), file: Mutex::default(), notifier: Mutex::new(Some(notifier)) }
    }

    /// Starts counting a call.
    pub fn begin(&self, server: &str, tool: &str) -> CountedCall<'_> {
        let tool = tool.chars().take(NAME_LIMIT).collect();
        CountedCall {
            statistics: self,
            server: server.to_owned(),
            tool,
            started: Instant::now(),
            has_ended: false,
        }
    }

    fn add(&self, server: &str, tool: &str, tally: &Tally) {
        let mut pending = self.pending();
        let mut key = (today(), server.to_owned(), tool.to_owned());
        if pending.len() >= TOOLS_LIMIT && !pending.contains_key(&key) {
            key = (key.0, OTHERS.to_owned(), OTHERS.to_owned());
        }
        pending.entry(key).or_default().add(tally);
    }

    /// Writes what was counted since the last write, on a thread that may block.
    pub async fn flush(self: &Arc<Self>) {
        if self.pending().is_empty() {
            return;
        }
        let statistics = self.clone();
        // A panic of the thread is reported by the runtime; the counters are lost.
        let _ = tokio::task::spawn_blocking(move || statistics.write()).await;
    }

    /// Writes at intervals, until it is dropped.
    pub async fn flush_regularly(self: Arc<Self>) {
        loop {
            tokio::time::sleep(WRITE_INTERVAL).await;
            self.flush().await;
        }
    }

    fn write(&self) {
        match crate::file::file() {
            Ok(path) => self.write_to(&path),
            Err(error) => self.warn(&error.into()),
        }
    }

    fn write_to(&self, path: &Path) {
        let mut file = self.file.lock();
        let pending = std::mem::take(&mut *self.pending());
        let written = match file.take().map_or_else(|| Counters::create(path), Ok) {
            Ok(mut opened) => opened.add(&pending, today()).map(|()| opened),
            Err(error) => Err(error),
        };
        match written {
            Ok(opened) => *file = Some(opened),
            Err(error) => {
                // Tried again with the next write.
                let mut now = self.pending();
                for (key, tally) in pending {
                    now.entry(key).or_default().add(&tally);
                }
                drop(now);
                self.warn(&error);
            }
        }
    }

    fn warn(&self, error: &Report) {
        let notifier = self.notifier.lock().take();
        if let Some(notifier) = notifier {
            notifier.warning(&format!("calls are not counted: {}", error.for_terminal()));
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock()
    }
}

/// The statistics in the file of a history since a day, by server and tool; of one server if it is given.
///
/// # Errors
/// If the file can't be read. A missing file is not an error.
pub fn read(
    path: &Path,
    since: Option<SystemTime>,
    server: Option<&str>,
) -> Result<Vec<ToolStatistics>, Report> {
    let Some(file) = Counters::open(path)? else { return Ok(Vec::new()) };
    let tallies = file.read(since.map_or(0, day), server)?;
    Ok(tallies.into_iter().map(|((server, tool), tally)| summary(server, tool, &tally)).collect())
}

/// Deletes the statistics in the file of a history, or those of one server; returns the number of deleted calls.
///
/// # Errors
/// If the file can't be changed. A missing file is not an error.
pub fn reset(path: &Path, server: Option<&str>) -> Result<u64, Report> {
    Counters::open(path)?.map_or(Ok(0), |mut file| file.reset(server))
}

fn summary(server: String, tool: String, tally: &Tally) -> ToolStatistics {
    let made = tally.durations.count();
    let rounded = |ms: f64| (ms * 1e3).round() / 1e3;
    // A bucket's middle may be above the longest duration.
    let quantile = |part: f64| tally.durations.quantile(part).map(|ms| rounded(ms.min(tally.longest_ms)));
    ToolStatistics {
        server,
        tool,
        calls: tally.calls,
        failures: tally.failures,
        cached: tally.cached,
        mean_ms: (made > 0).then(|| rounded(tally.ms / made as f64)),
        p50_ms: quantile(0.5),
        p95_ms: quantile(0.95),
        total_ms: rounded(tally.ms),
        bytes: tally.bytes,
    }
}

fn today() -> i64 {
    day(SystemTime::now())
}

/// Days since 1970, in UTC.
fn day(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs() / 86_400).unwrap_or(i64::MAX)
}

fn as_u64(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
