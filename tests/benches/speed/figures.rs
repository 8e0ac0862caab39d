//! Measurements by name, and their medians.

use std::collections::BTreeMap;
use std::time::Duration;

/// A row of the table: the name of its measurements, and their description.
pub(super) type Row = (&'static str, &'static str);

/// Measurements by name, in milliseconds.
#[derive(Default)]
pub(super) struct Figures(BTreeMap<&'static str, Vec<f64>>);

impl Figures {
    pub(super) fn add(&mut self, name: &'static str, milliseconds: f64) {
        self.0.entry(name).or_default().push(milliseconds);
    }

    /// The median of the measurements `name`, or NaN.
    pub(super) fn median(&self, name: &str) -> f64 {
        self.0.get(name).map_or(f64::NAN, |values| median(values))
    }
}

/// The median, or NaN of nothing. Of an even number of values, it is the mean of the two in the middle.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    at(values.len().saturating_sub(1) / 2).midpoint(at(values.len() / 2))
}

pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
