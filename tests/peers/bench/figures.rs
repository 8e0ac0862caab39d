//! Medians and ratios of durations.

use std::time::Duration;

/// Durations of the same thing.
#[derive(Debug, Default, Clone)]
pub(crate) struct Figures(Vec<Duration>);

impl Figures {
    /// Adds a measurement.
    pub(crate) fn add(&mut self, duration: Duration) {
        self.0.push(duration);
    }

    /// The median in milliseconds, if anything was measured. Of an even number of measurements, it is the mean of the two
    /// in the middle.
    pub(crate) fn median(&self) -> Option<f64> {
        let sorted = self.sorted();
        let lower = sorted.get(sorted.len().saturating_sub(1) / 2)?;
        let upper = sorted.get(sorted.len() / 2)?;
        Some(lower.midpoint(*upper))
    }

    /// The duration in milliseconds that this part (0 to 1) of the measurements does not exceed.
    pub(crate) fn quantile(&self, part: f64) -> Option<f64> {
        let sorted = self.sorted();
        let rank = (part * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied()
    }

    /// In milliseconds, the shortest first.
    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.iter().map(|duration| duration.as_secs_f64() * 1e3).collect()
    }
}

/// Milliseconds for a table.
pub(crate) fn milliseconds(value: f64) -> String {
    if value < 9.95 { format!("{value:.1} ms") } else { format!("{value:.0} ms") }
}

/// A ratio for a table.
pub(crate) fn ratio(value: f64) -> String {
    match value {
        ..0.005 => "< 0.01".to_owned(),
        ..9.95 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

/// Bytes as mebibytes for a table.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}
