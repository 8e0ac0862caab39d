//! Executions in parallel: throughput and latencies.

use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::Checked;
use crate::figures::{Figures, milliseconds};

/// The number of executions that run at a time.
pub(crate) const AT_ONCE: usize = 16;

/// The result.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    /// Executions per second.
    pub(crate) rate: f64,
    latencies: Figures,
}

impl Load {
    /// The latencies for a table.
    pub(crate) fn latencies(&self) -> String {
        let shown = |latency: Option<f64>| latency.map_or_else(|| "–".to_owned(), milliseconds);
        format!("{}, {}", shown(self.latencies.median()), shown(self.latencies.quantile(0.99)))
    }
}

/// Keeps [`AT_ONCE`] executions running until there were `each` times as many.
pub(crate) async fn press<F>(each: usize, run: impl Fn() -> F) -> Checked<Load>
where
    F: Future<Output = Checked<Duration>>,
{
    let started = Instant::now();
    let runs = stream::iter(0..AT_ONCE * each).map(|_| run()).buffer_unordered(AT_ONCE);
    let times: Vec<Duration> = runs.try_collect().await?;
    let rate = times.len() as f64 / started.elapsed().as_secs_f64();
    let mut latencies = Figures::default();
    times.into_iter().for_each(|time| latencies.add(time));
    Ok(Load { rate, latencies })
}
