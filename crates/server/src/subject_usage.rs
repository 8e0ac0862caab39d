//! Limits each subject's executions in a minute, and the processor time of its programs and compilers in an hour.
//!
//! `execution_slots` limits how many run at once.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use config::SubjectLimits;
use parking_lot::{Mutex, MutexGuard};
use runner::CompilerTime;
use tokio::time::Instant;

use super::resource::Resource;

/// The period of `executionsPerMinute`.
const MINUTE: Duration = Duration::from_secs(60);

/// The period of `processorSecondsPerHour`.
const HOUR: Duration = Duration::from_secs(3600);

/// Processor time is added up for this long before a new entry is made, so that a subject has at most 60 entries.
const STEP: Duration = Duration::from_secs(60);

/// Recent use by each subject.
#[derive(Debug, Default)]
pub(crate) struct SubjectUsage {
    /// By the key of the subject.
    subjects: Mutex<BTreeMap<String, Usage>>,
    /// The time of the compilers of all executions, also of those without a subject.
    pub(crate) compilers: CompilerTime,
}

#[derive(Debug)]
struct Usage {
    /// When executions began, the oldest first.
    begun: VecDeque<Instant>,
    /// Processor time, by the time of its first use, the oldest first.
    processor: VecDeque<(Instant, Duration)>,
    /// The time of compilers that have ended and are not in `processor` yet.
    compilers: CompilerTime,
}

/// A subject has reached a limit. The text names the setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LimitReached {
    #[error(
        "this subject has started {limit} executions within a minute, its limit (serve.subjectLimits.executionsPerMinute); \
         try again in {wait} s"
    )]
    PerMinute { limit: usize, wait: u64 },
    #[error(
        "the programs and compilers of this subject have used {limit} s of processor time within an hour, its limit \
         (serve.subjectLimits.processorSecondsPerHour); try again in {wait} s"
    )]
    Processor { limit: u64, wait: u64 },
}

impl LimitReached {
    /// The resource that it limits.
    pub(crate) fn resource(&self) -> Resource {
        match self {
            LimitReached::PerMinute { .. } => Resource::Executions,
            LimitReached::Processor { .. } => Resource::ProcessorTime,
        }
    }

    /// After how long the subject may try again.
    pub(crate) fn wait(&self) -> Duration {
        match self {
            LimitReached::PerMinute { wait, .. } | LimitReached::Processor { wait, .. } => {
                Duration::from_secs(*wait)
            }
        }
    }
}

impl Usage {
    /// Adds processor time.
    fn add(&mut self, time: Duration) {
        match self.processor.back_mut() {
            _ if time.is_zero() => {}
            Some((since, sum)) if since.elapsed() < STEP => *sum += time,
            _ => self.processor.push_back((Instant::now(), time)),
        }
    }

    /// Adds the time of compilers that have ended, and forgets what is older than its period.
    fn settle(&mut self) {
        let compilers = self.compilers.take();
        self.add(compilers);
        while self.begun.front().is_some_and(|begun| begun.elapsed() >= MINUTE) {
            self.begun.pop_front();
        }
        while self.processor.front().is_some_and(|(used, _)| used.elapsed() >= HOUR) {
            self.processor.pop_front();
        }
    }

    fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.processor.is_empty() && !self.compilers.is_shared()
    }
}

impl SubjectUsage {
    /// Counts the beginning of an execution of a subject.
    ///
    /// # Errors
    /// If the subject has reached a limit.
    pub(crate) fn begin(&self, subject: &str, limits: &SubjectLimits) -> Result<(), LimitReached> {
        if limits.executions_per_minute.is_none() && limits.processor_seconds_per_hour.is_none() {
            return Ok(());
        }
        let mut all = self.all();
        // Subjects without recent executions take no memory.
        all.retain(|_, usage| {
            usage.settle();
            !usage.is_empty()
        });
        let usage = all.entry(subject.to_owned()).or_insert_with(|| self.unused());
        if let Some(limit) = limits.processor_seconds_per_hour {
            let used: Duration = usage.processor.iter().map(|(_, time)| *time).sum();
            if let Some((first, _)) = usage.processor.front().filter(|_| used >= Duration::from_secs(limit)) {
                return Err(LimitReached::Processor { limit, wait: until(*first, HOUR) });
            }
        }
        if let Some(limit) = limits.executions_per_minute {
            if let Some(first) = usage.begun.front().filter(|_| usage.begun.len() >= limit) {
                return Err(LimitReached::PerMinute { limit, wait: until(*first, MINUTE) });
            }
            usage.begun.push_back(Instant::now());
        }
        Ok(())
    }

    /// Measures an execution that begins to run. If it is dropped halfway, as that of a client that leaves, the time
    /// since then counts in full: otherwise, leaving would make programs free.
    pub(crate) fn measure(&self, subject: String, limits: SubjectLimits) -> Measured<'_> {
        Measured { usage: self, subject, limits, began: Some(Instant::now()) }
    }

    /// Counts processor time.
    fn used(&self, subject: &str, limits: &SubjectLimits, time: Duration) {
        if limits.processor_seconds_per_hour.is_none() {
            return;
        }
        self.all().entry(subject.to_owned()).or_insert_with(|| self.unused()).add(time);
    }

    /// Receives the time of the compilers of one execution, which counts when they have ended.
    pub(crate) fn compiler_time(&self, subject: Option<&str>, limits: &SubjectLimits) -> CompilerTime {
        let subject = subject.filter(|_| limits.processor_seconds_per_hour.is_some());
        let Some(subject) = subject else { return CompilerTime::part_of(&self.compilers) };
        let mut all = self.all();
        CompilerTime::part_of(&all.entry(subject.to_owned()).or_insert_with(|| self.unused()).compilers)
    }

    fn unused(&self) -> Usage {
        let compilers = CompilerTime::part_of(&self.compilers);
        Usage { begun: VecDeque::new(), processor: VecDeque::new(), compilers }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Usage>> {
        self.subjects.lock()
    }
}

/// An execution that is measured.
#[derive(Debug)]
pub(crate) struct Measured<'a> {
    usage: &'a SubjectUsage,
    subject: String,
    limits: SubjectLimits,
    /// Taken when the execution has ended.
    began: Option<Instant>,
}

impl Measured<'_> {
    /// Counts the processor time of an execution that has ended.
    pub(crate) fn end(mut self, time: Duration) {
        self.began = None;
        self.usage.used(&self.subject, &self.limits, time);
    }
}

impl Drop for Measured<'_> {
    fn drop(&mut self) {
        if let Some(began) = self.began {
            self.usage.used(&self.subject, &self.limits, began.elapsed());
        }
    }
}

/// The seconds until a period since then is over, at least one.
fn until(since: Instant, period: Duration) -> u64 {
    period.saturating_sub(since.elapsed()).as_secs_f64().ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn executions_are_limited_within_a_minute() {
        let usage = SubjectUsage::default();
        let limits = SubjectLimits { executions_per_minute: Some(2), ..SubjectLimits::default() };
        usage.begin("a", &limits).unwrap();
        advance(MINUTE / 2).await;
        usage.begin("a", &limits).unwrap();
        assert_eq!(usage.begin("a", &limits), Err(LimitReached::PerMinute { limit: 2, wait: 30 }));
        usage.begin("b", &limits).unwrap();
        advance(MINUTE / 2).await;
        usage.begin("a", &limits).unwrap();
        assert!(usage.begin("a", &limits).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn processor_time_is_limited_within_an_hour() {
        let usage = SubjectUsage::default();
        let limits = SubjectLimits { processor_seconds_per_hour: Some(10), ..SubjectLimits::default() };
        let second = Duration::from_secs(1);
        for _ in 0..10 {
            usage.begin("a", &limits).unwrap();
            usage.used("a", &limits, second);
            advance(second).await;
        }
        assert_eq!(usage.all()["a"].processor.len(), 1, "entries are bounded");
        assert_eq!(usage.begin("a", &limits), Err(LimitReached::Processor { limit: 10, wait: 3590 }));
        usage.begin("b", &limits).unwrap();
        advance(HOUR).await;
        usage.begin("a", &limits).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn compilers_count_when_they_have_ended() {
        let usage = SubjectUsage::default();
        let limits = SubjectLimits { processor_seconds_per_hour: Some(10), ..SubjectLimits::default() };
        let compilers = usage.compiler_time(Some("a"), &limits);
        usage.begin("a", &limits).unwrap();
        // After the end of its execution.
        compilers.add(Duration::from_secs(10));
        drop(compilers);
        assert_eq!(usage.begin("a", &limits), Err(LimitReached::Processor { limit: 10, wait: 3600 }));
        usage.begin("b", &limits).unwrap();
        advance(HOUR).await;
        usage.begin("a", &limits).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_execution_that_is_dropped_counts_in_full() {
        let usage = SubjectUsage::default();
        let limits = SubjectLimits { processor_seconds_per_hour: Some(10), ..SubjectLimits::default() };
        let measured = usage.measure("a".to_owned(), limits.clone());
        advance(Duration::from_secs(10)).await;
        measured.end(Duration::from_secs(1));
        usage.begin("a", &limits).unwrap();
        let dropped = usage.measure("a".to_owned(), limits.clone());
        advance(Duration::from_secs(10)).await;
        drop(dropped);
        assert!(usage.begin("a", &limits).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn subjects_without_recent_executions_are_forgotten() {
        let usage = SubjectUsage::default();
        let limits = SubjectLimits { executions_per_minute: Some(1), ..SubjectLimits::default() };
        for number in 0..100 {
            usage.begin(&number.to_string(), &limits).unwrap();
        }
        advance(MINUTE).await;
        usage.begin("last", &limits).unwrap();
        assert_eq!(usage.all().len(), 1);
        usage.used("last", &SubjectLimits::default(), HOUR);
        usage.begin("other", &SubjectLimits::default()).unwrap();
        assert_eq!(usage.all().len(), 1, "without limits nothing is counted");
    }
}
