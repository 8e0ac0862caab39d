//! Bars by day as SVG. A table beside it has the numbers.

use maud::{Markup, html};
use system::calendar::day_of;

use crate::text::count;

/// Units of the picture.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 90.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 24.0;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Days that are shown, at most and at least: the last ones.
const DAYS: i64 = 90;
const FEWEST: i64 = 14;

/// The widest bar.
const WIDEST: f64 = 28.0;

/// Several numbers of each day.
pub(crate) struct Plot {
    pub(crate) name: &'static str,
    pub(crate) series: Vec<Series>,
    /// The starts of the days in milliseconds since 1970, the earliest first.
    pub(crate) days: Vec<i64>,
}

/// One number of each day.
pub(crate) struct Series {
    pub(crate) name: &'static str,
    /// The class that chooses its colour.
    pub(crate) class: &'static str,
    pub(crate) values: Vec<u64>,
}

impl Plot {
    /// The plot with its legend.
    pub(crate) fn figure(&self) -> Markup {
        let last = self.days.last().copied().unwrap_or_default();
        let first = self.days.iter().copied().find(|day| *day > last - DAYS * DAY).unwrap_or(last);
        let first = first.min(last - (FEWEST - 1) * DAY);
        let highest = self.series.iter().flat_map(|series| &series.values).copied().max().unwrap_or_default();
        let highest = round(highest);
        let baseline = HEIGHT - BOTTOM;
        html! {
            figure.plot {
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(self.name) {
                    @for value in marks(highest) {
                        @let y = baseline - ratio(value, highest) * (baseline - TOP);
                        g.axis { line x1=(LEFT) x2=(WIDTH) y1=(y) y2=(y) {} }
                        text.scale x=(LEFT - 8.0) y=(y + 4.0) { (count(value)) }
                    }
                    (self.bars(first, last, highest))
                    text.day x=(LEFT) y=(HEIGHT - 6.0) { (day_of(first)) }
                    text.last x=(WIDTH) y=(HEIGHT - 6.0) { (day_of(last)) }
                }
                figcaption {
                    (self.name)
                    ul.legend { @for series in &self.series { li class=(series.class) { (series.name) } } }
                }
            }
        }
    }

    fn bars(&self, first: i64, last: i64, highest: u64) -> Markup {
        let slot = (WIDTH - LEFT) / days(last - first + DAY);
        let each = f64::from(u8::try_from(self.series.len()).unwrap_or(u8::MAX));
        let width = (slot * 0.8 / each).min(WIDEST);
        let room = HEIGHT - BOTTOM - TOP;
        html! {
            @for (place, day) in self.days.iter().enumerate().filter(|(_, day)| **day >= first) {
                @for (series, offset) in self.series.iter().zip(0_u8..) {
                    @let value = series.values.get(place).copied().unwrap_or_default();
                    @let height = room * ratio(value, highest);
                    @let x = LEFT + slot * days(day - first) + slot * 0.1 + width * f64::from(offset);
                    rect class=(series.class) x=(format!("{x:.1}")) y=(format!("{:.1}", HEIGHT - BOTTOM - height))
                        width=(format!("{width:.1}")) height=(format!("{height:.1}")) {
                        title { (day_of(*day)) ": " (count(value)) " " (series.name) }
                    }
                }
            }
        }
    }
}

/// The marks of the scale: both ends, and the middle if it is whole.
fn marks(highest: u64) -> Vec<u64> {
    let middle = highest.is_multiple_of(2).then_some(highest / 2);
    [0].into_iter().chain(middle).chain([highest]).collect()
}

/// The next number that is 1, 2 or 5 times a power of ten.
fn round(value: u64) -> u64 {
    let power = 10_u64.pow(value.max(1).ilog10());
    [1, 2, 5, 10]
        .map(|factor| power.saturating_mul(factor))
        .into_iter()
        .find(|round| *round >= value)
        .unwrap_or(value)
}

/// A period in days.
fn days(ms: i64) -> f64 {
    f64::from(i32::try_from(ms / DAY).unwrap_or(i32::MAX))
}

/// A part of a whole, exact to a millionth.
fn ratio(part: u64, whole: u64) -> f64 {
    const PARTS: u128 = 1_000_000;
    let parts = u128::from(part) * PARTS / u128::from(whole.max(1));
    f64::from(u32::try_from(parts).unwrap_or(u32::MAX)) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_days_have_bars() {
        let series = |values: &[u64]| Series { name: "calls", class: "first", values: values.to_vec() };
        let plot =
            Plot { name: "Calls", series: vec![series(&[5, 10, 0])], days: vec![0, 200 * DAY, 201 * DAY] };
        let figure = plot.figure().into_string();
        assert_eq!(figure.matches("<rect").count(), 2, "{figure}");
        assert!(
            figure.contains("height=\"204.0\"")
                && figure.matches("class=\"scale\"").count() == 3
                && figure.contains("1970-07-20: 10 calls"),
            "{figure}"
        );
        assert_eq!([0, 1, 2, 3, 51, 83_507, u64::MAX].map(round), [1, 1, 2, 5, 100, 100_000, u64::MAX]);
        let empty = Plot { name: "Calls", series: vec![series(&[0])], days: vec![0] }.figure().into_string();
        assert!(empty.contains("height=\"0.0\""), "{empty}");
    }
}
