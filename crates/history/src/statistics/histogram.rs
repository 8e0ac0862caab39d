//! Durations in buckets of a logarithmic scale, from which quantiles are read.

use std::collections::BTreeMap;

/// Buckets for each doubling of the duration: their middle is within 5 % of each duration in them.
const PER_DOUBLING: f64 = 8.0;

/// The shortest duration that has its own bucket, in milliseconds.
const SHORTEST: f64 = 0.01;

/// The last bucket, for everything above about eighteen hours.
const LAST: u16 = 265;

/// Counts of durations, by bucket.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Histogram(pub(super) BTreeMap<u16, u64>);

impl Histogram {
    /// One duration in milliseconds.
    pub(super) fn of(ms: f64) -> Self {
        let bucket = ((ms / SHORTEST).max(1.0).log2() * PER_DOUBLING).floor().min(f64::from(LAST));
        // The number is between 0 and `LAST`.
        Histogram(BTreeMap::from([(bucket as u16, 1)]))
    }

    pub(super) fn add(&mut self, other: &Histogram) {
        for (bucket, count) in &other.0 {
            *self.0.entry(*bucket).or_default() += count;
        }
    }

    /// The number of durations.
    pub(super) fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The duration that this part of all durations does not exceed, in milliseconds; `None` if there are none.
    pub(super) fn quantile(&self, part: f64) -> Option<f64> {
        let mut left = (self.count() as f64 * part).ceil().max(1.0) as u64;
        for (bucket, count) in &self.0 {
            if *count >= left {
                return Some(SHORTEST * ((f64::from(*bucket) + 0.5) / PER_DOUBLING).exp2());
            }
            left -= count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_five_percent() {
        let mut all = Histogram::default();
        for ms in 1..=1000 {
            all.add(&Histogram::of(f64::from(ms)));
        }
        assert_eq!(all.count(), 1000);
        for (part, right) in [(0.5, 500.0), (0.95, 950.0), (1.0, 1000.0), (0.001, 1.0)] {
            let read = all.quantile(part).unwrap();
            assert!((read / right - 1.0).abs() < 0.05, "{part}: {read}");
        }
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    #[test]
    fn odd_durations_have_a_bucket() {
        for ms in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, f64::MIN_POSITIVE] {
            let one = Histogram::of(ms);
            assert!(one.0.keys().all(|bucket| *bucket <= LAST) && one.quantile(0.5).is_some(), "{ms}");
        }
    }
}
