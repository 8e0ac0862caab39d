//! The time scale of an execution: the part of it that is shown, the ways to another part, and bars as SVG. Places are
//! shares of the width, so that a track fits every window; the policy of pages would refuse styles of single elements.

use history::shown::duration;
use maud::{Markup, html};

use crate::error::PageError;
use crate::query::Query;

/// The height of a bar and of its row, and of all bars of a row with lanes at most, in pixels.
const BAR: f64 = 12.0;
const ROW: f64 = 16.0;
const LANES: f64 = 48.0;

/// The width of a bar at least, in percent.
const NARROWEST: f64 = 0.3;

/// Marks on the axis, at most.
const MARKS: f64 = 5.0;

/// The shortest part that is shown, in milliseconds.
const SHORTEST: f64 = 0.01;

/// The factor by which a part becomes shorter with each step.
const STEP: f64 = 3.0;

/// The part of an execution's time that is shown, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    from: f64,
    to: f64,
    /// The duration of everything.
    total: f64,
}

/// A period of something, in milliseconds, and the class of its colour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bar {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) class: &'static str,
}

impl Window {
    /// The part between the fields `from` and `to` of a query; everything without them.
    ///
    /// # Errors
    /// If one is not a number.
    pub(crate) fn of(query: &Query, total: f64) -> Result<Self, PageError> {
        let from = query.decimal("from")?.unwrap_or_default();
        let to = query.decimal("to")?.unwrap_or(total);
        Ok(Window { from: 0.0, to: total, total }.part(from, to))
    }

    /// Another part of the same time.
    fn part(self, from: f64, to: f64) -> Self {
        let length = (to - from).clamp(SHORTEST.min(self.total), self.total);
        let from = from.clamp(0.0, self.total - length);
        Window { from, to: from + length, ..self }
    }

    /// The duration of everything.
    pub(crate) fn total(self) -> f64 {
        self.total
    }

    fn is_whole(self) -> bool {
        self.from <= 0.0 && self.to >= self.total
    }

    fn length(self) -> f64 {
        self.to - self.from
    }

    /// The part with the same middle, and another length.
    fn scaled(self, factor: f64) -> Self {
        let (middle, half) = (f64::midpoint(self.from, self.to), self.length() * factor / 2.0);
        self.part(middle - half, middle + half)
    }

    /// The part before or after this one, half of which it still shows.
    fn moved(self, direction: f64) -> Self {
        let way = self.length() / 2.0 * direction;
        self.part(self.from + way, self.to + way)
    }

    /// The address of an execution with this part.
    fn address(self, id: &str) -> String {
        let Window { from, to, .. } = self;
        if self.is_whole() {
            return format!("execution?id={id}");
        }
        format!("execution?id={id}&from={from:.3}&to={to:.3}")
    }

    /// The place of a time, in percent of the width.
    fn at(self, ms: f64) -> f64 {
        ((ms - self.from) / self.length()).clamp(0.0, 1.0) * 100.0
    }

    /// The times of the marks, 1, 2 or 5 times a power of ten apart, with their texts.
    fn marks(self) -> Vec<(f64, String)> {
        let least = self.length() / MARKS;
        let power = 10_f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| *step >= least).unwrap_or(least);
        let first = (self.from / step).ceil();
        let marks = (0_u8..=10).map(|mark| (first + f64::from(mark)) * step);
        let (unit, size) = if self.to < 1e4 { ("ms", 1.0) } else { ("s", 1e3) };
        let decimals = if step < size { if step * 10.0 < size { 2 } else { 1 } } else { 0 };
        marks
            .take_while(|mark| *mark <= self.to)
            .map(|mark| (mark, format!("{:.decimals$} {unit}", mark / size)))
            .collect()
    }
}

/// The links to other parts of the time of an execution.
pub(crate) fn zoom(id: &str, window: Window) -> Markup {
    let links = [
        ("zoom-in", "Zoom in", window.scaled(1.0 / STEP)),
        ("zoom-out", "Zoom out", window.scaled(STEP)),
        ("zoom-before", "Earlier", window.moved(-1.0)),
        ("zoom-after", "Later", window.moved(1.0)),
        ("zoom-all", "All", window.part(0.0, window.total)),
    ];
    html! {
        div.zooms role="group" aria-label="Shown time" {
            @for (name, text, to) in links {
                @let is_other = to.address(id) != window.address(id);
                a.zoom id=(name) href=[is_other.then(|| to.address(id))] role=[(!is_other).then_some("link")]
                    aria-disabled=[(!is_other).then_some("true")] { (text) }
            }
            span {
                @if !window.is_whole() { (duration(window.from)) " to " (duration(window.to)) " of " }
                (duration(window.total))
            }
        }
    }
}

/// The link to the part of the time from one to another.
pub(crate) fn zoom_to(id: &str, window: Window, from: f64, to: f64) -> Markup {
    let margin = (to - from) / 10.0;
    html! { a.zoom href=(window.part(from - margin, to + margin).address(id)) { "Zoom to it" } }
}

/// The marks with their times, and the lines below them.
pub(crate) fn axis(window: Window) -> Markup {
    let anchor = |place: f64| match place {
        place if place < 8.0 => "start",
        place if place > 92.0 => "end",
        _ => "middle",
    };
    let marks: Vec<(f64, String)> =
        window.marks().into_iter().map(|(ms, text)| (window.at(ms), text)).collect();
    html! {
        div.row.axis aria-hidden="true" {
            svg.track height=(ROW) {
                @for (place, text) in &marks {
                    text x=(percent(*place)) y="12" text-anchor=(anchor(*place)) { (text) }
                }
            }
        }
        svg.grid aria-hidden="true" {
            @for (place, _) in &marks {
                @let x = percent(*place);
                line x1=(x) x2=(x) y1="0" y2="100%" {}
            }
        }
    }
}

/// The bars of one row.
pub(crate) fn track(window: Window, bars: &[Bar]) -> Markup {
    html! {
        svg.track height=(ROW) aria-hidden="true" {
            @for bar in bars { (rectangle(window, *bar, (ROW - BAR) / 2.0, BAR)) }
        }
    }
}

/// The bars of many things in one row. Those at the same time are on separate lanes.
pub(crate) fn lanes(window: Window, things: &[Vec<Bar>]) -> Markup {
    let (places, count) = places(things);
    let lanes = f64::from(u32::try_from(count.max(1)).unwrap_or(u32::MAX));
    let height = (lanes * 3.0).clamp(BAR, LANES);
    let lane = height / lanes;
    html! {
        svg.track height=(height + ROW - BAR) aria-hidden="true" {
            @for (bars, place) in things.iter().zip(places) {
                @let top = (ROW - BAR) / 2.0 + lane * f64::from(u32::try_from(place).unwrap_or(u32::MAX));
                @for bar in bars { (rectangle(window, *bar, top, (lane * 0.8).max(0.5))) }
            }
        }
    }
}

/// The first lane that is free at the begin of each thing, and the number of lanes.
fn places(things: &[Vec<Bar>]) -> (Vec<usize>, usize) {
    let mut ends: Vec<f64> = Vec::new();
    let mut places = Vec::with_capacity(things.len());
    for bars in things {
        let begin = bars.first().map_or(0.0, |bar| bar.from);
        let end = bars.last().map_or(0.0, |bar| bar.to);
        let place = ends.iter().position(|end| *end <= begin).unwrap_or(ends.len());
        match ends.get_mut(place) {
            Some(last) => *last = end,
            None => ends.push(end),
        }
        places.push(place);
    }
    (places, ends.len())
}

fn rectangle(window: Window, bar: Bar, top: f64, height: f64) -> Markup {
    let is_shown = bar.from <= window.to && bar.to >= window.from;
    let start = window.at(bar.from).min(100.0 - NARROWEST);
    let width = (window.at(bar.to) - start).max(NARROWEST);
    html! {
        @if is_shown {
            rect class=(bar.class) x=(percent(start)) y=(format!("{top:.2}")) width=(percent(width))
                height=(format!("{height:.2}")) rx="1" {}
        }
    }
}

fn percent(value: f64) -> String {
    format!("{value:.3}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(total: f64) -> Window {
        Window { from: 0.0, to: total, total }
    }

    fn bar(from: f64, to: f64) -> Bar {
        Bar { from, to, class: "good" }
    }

    #[test]
    fn calls_at_the_same_time_have_their_own_lanes() {
        let calls = [(0.0, 10.0), (1.0, 5.0), (6.0, 9.0), (10.0, 90.0), (20.0, 30.0), (21.0, 22.0)];
        assert_eq!(places(&calls.map(|(from, to)| vec![bar(from, to)])), (vec![0, 1, 1, 0, 1, 2], 3));
        let many = vec![vec![bar(0.0, 1.0)]; 2_000];
        assert_eq!(lanes(whole(1.0), &many).into_string().matches("<rect").count(), 2_000);
    }

    #[test]
    fn marks_are_round_and_within_the_scale() {
        let marks = |window: Window| window.marks().into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(marks(whole(100.0)), ["0 ms", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"]);
        assert_eq!(marks(whole(90_000.0)), ["0 s", "20 s", "40 s", "60 s", "80 s"]);
        assert_eq!(
            marks(whole(812.0).part(152.2, 153.0)),
            ["152.2 ms", "152.4 ms", "152.6 ms", "152.8 ms", "153.0 ms"]
        );
        assert!(!marks(whole(0.001)).is_empty());
    }

    #[test]
    fn a_part_stays_within_the_whole_and_comes_back_to_it() {
        let whole = whole(900.0);
        let part = whole.scaled(1.0 / STEP);
        assert_eq!((part.from, part.to), (300.0, 600.0));
        assert_eq!(part.scaled(STEP), whole);
        assert_eq!((whole.moved(1.0), part.moved(9.0).to, part.moved(-9.0).from), (whole, 900.0, 0.0));
        assert_eq!(part.address("a"), "execution?id=a&from=300.000&to=600.000");
        assert_eq!(whole.address("a"), "execution?id=a");
        let of = |query: &str| Window::of(&Query::of(Some(query)).unwrap(), 900.0);
        assert_eq!(of("from=300&to=600").unwrap(), part);
        assert_eq!(of("from=-5&to=1e300").unwrap(), whole);
        let least = of("from=600&to=300").unwrap();
        assert!((least.length() - SHORTEST).abs() < 1e-9, "{least:?}");
        for wrong in ["from=x", "to=inf", "from=NaN"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bars_outside_of_the_part_are_not_drawn() {
        let part = whole(900.0).part(300.0, 600.0);
        let drawn = |from: f64, to: f64| track(part, &[bar(from, to)]).into_string();
        assert!(!drawn(0.0, 299.0).contains("<rect") && !drawn(601.0, 900.0).contains("<rect"));
        assert!(drawn(0.0, 450.0).contains("x=\"0.000%\" y=\"2.00\" width=\"50.000%\""));
        assert!(drawn(600.0, 600.0).contains("x=\"99.700%\" y=\"2.00\" width=\"0.300%\""));
    }
}
