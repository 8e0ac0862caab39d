//! The timeline of an execution as SVG: phases, questions, and calls on lanes. It needs no style of its own elements,
//! which the policy of pages would refuse: places are attributes, and colours are classes.

use std::time::{SystemTime, UNIX_EPOCH};

use history::shown::duration;
use history::{Call, Execution, Question};
use maud::{Markup, html};

use crate::text::{bytes, line};

/// Units of the picture: its width, the parts for names at the left and for half a mark at the right, and the height of a row and of its bar.
const WIDTH: f64 = 1000.0;
const NAMES: f64 = 84.0;
const END: f64 = 28.0;
const ROW: f64 = 20.0;
const BAR: f64 = 16.0;

/// The narrowest part of a text that is shown: about four letters.
const LEAST_SHOWN: f64 = 26.0;

/// The width of a bar, at least.
const NARROWEST: f64 = 2.0;

/// Marks on the axis, at most.
const MARKS: f64 = 8.0;

/// Lanes of calls, at most. More calls at the same time are only in the table.
const LANES: usize = 200;

/// A time scale.
#[derive(Clone, Copy)]
struct Scale {
    /// The duration of everything, in milliseconds.
    total: f64,
}

impl Scale {
    /// The place of a time.
    fn at(self, ms: f64) -> f64 {
        NAMES + (WIDTH - NAMES - END) * (ms / self.total).clamp(0.0, 1.0)
    }

    /// The place and the width of a period.
    fn span(self, from: f64, to: f64) -> (f64, f64) {
        let start = self.at(from).min(WIDTH - END - NARROWEST);
        (start, (self.at(to) - start).max(NARROWEST))
    }

    /// The times of the marks: 1, 2 or 5 times a power of ten apart.
    fn marks(self) -> Vec<f64> {
        let least = self.total / MARKS;
        let power = 10_f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| *step >= least).unwrap_or(least);
        (0_u8..=10).map(|mark| f64::from(mark) * step).take_while(|mark| *mark <= self.total).collect()
    }
}

/// A call on its lane.
struct Placed<'a> {
    call: &'a Call,
    lane: usize,
}

/// The figure.
pub(crate) fn figure(execution: &Execution) -> Markup {
    let scale = Scale { total: total(execution) };
    let (placed, lanes) = lanes(&execution.calls_made);
    let left_out = execution.calls_made.len() - placed.len();
    let mut top = ROW;
    let mut rows = |count: usize| {
        let start = top;
        // A figure has few rows, so this is exact.
        top += ROW * f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        start
    };
    let phases_top = rows(1);
    let questions_top = rows(usize::from(!execution.questions.is_empty()));
    let calls_top = rows(lanes);
    let height = top + 4.0;
    let label = format!("Timeline of {}: {}", duration(scale.total), parts_of(execution));
    html! {
        figure.timeline {
            div.wide tabindex="0" role="region" aria-label="Timeline" {
                svg viewBox=(format!("0 0 {WIDTH} {height}")) role="group" aria-label=(label) {
                    (axis(scale, height))
                    (name("phases", phases_top))
                    (phases(execution, scale, phases_top))
                    @if !execution.questions.is_empty() { (name("questions", questions_top)) }
                    @for question in &execution.questions { (asked(question, scale, questions_top)) }
                    @if lanes > 0 { (name("calls", calls_top)) }
                    @for one in &placed { (bar(one, scale, calls_top)) }
                }
            }
            figcaption {
                ul.legend {
                    li.good { "answered" } li.bad { "failed" } li.cached { "cached" } li.waiting { "waiting" }
                }
                @if left_out > 0 { p { (left_out) " more calls at the same time are only in the table." } }
            }
        }
    }
}

/// What the figure shows, in words.
fn parts_of(execution: &Execution) -> String {
    let failed = execution.calls_made.iter().filter(|call| call.ok == Some(false)).count();
    let (calls, questions) = (execution.calls_made.len(), execution.questions.len());
    format!("{calls} calls, {failed} of them failed, {questions} questions")
}

/// The duration of everything, in milliseconds; more than 0.
fn total(execution: &Execution) -> f64 {
    let running = (execution.summary.status == "running").then(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1e3;
        let begun = u64::try_from(execution.summary.begun).unwrap_or_default();
        now - std::time::Duration::from_millis(begun).as_secs_f64() * 1e3
    });
    let phases = execution.phases.iter().map(|phase| phase.at_ms);
    let calls = execution.calls_made.iter().flat_map(|call| [Some(call.began_ms), call.ended_ms]).flatten();
    let questions =
        execution.questions.iter().flat_map(|one| [Some(one.asked_ms), one.answered_ms]).flatten();
    let times = phases.chain(calls).chain(questions).chain(running).chain(execution.summary.total_ms);
    times.filter(|time| time.is_finite()).fold(0.001, f64::max)
}

/// Places each call on the first lane that is free when it begins; returns the number of lanes, too.
fn lanes(calls: &[Call]) -> (Vec<Placed<'_>>, usize) {
    let mut ends: Vec<f64> = Vec::new();
    let mut placed = Vec::with_capacity(calls.len());
    for call in calls {
        let end = call.ended_ms.unwrap_or(f64::INFINITY);
        match ends.iter().position(|end| *end <= call.began_ms) {
            Some(lane) => {
                if let Some(last) = ends.get_mut(lane) {
                    *last = end;
                }
                placed.push(Placed { call, lane });
            }
            None if ends.len() < LANES => {
                placed.push(Placed { call, lane: ends.len() });
                ends.push(end);
            }
            None => {}
        }
    }
    (placed, ends.len())
}

fn axis(scale: Scale, height: f64) -> Markup {
    html! {
        g.axis aria-hidden="true" {
            @for mark in scale.marks() {
                @let x = format!("{:.1}", scale.at(mark));
                line x1=(x) x2=(x) y1=(ROW - 6.0) y2=(height) {}
                text x=(x) y="10" { (if mark > 0.0 { duration(mark) } else { "0".to_owned() }) }
            }
        }
    }
}

fn name(name: &str, top: f64) -> Markup {
    html! { text.name x="0" y=(top + 13.0) aria-hidden="true" { (name) } }
}

fn phases(execution: &Execution, scale: Scale, top: f64) -> Markup {
    let ends = execution.phases.iter().skip(1).map(|next| next.at_ms).chain([scale.total]);
    html! {
        @for (phase, end) in execution.phases.iter().zip(ends) {
            @let text = format!("{}: {} from {}", line(&phase.phase), duration(end - phase.at_ms), duration(phase.at_ms));
            g.phase role="img" aria-label=(text) {
                title { (text) }
                (rectangle(scale.span(phase.at_ms, end), top, class_of_phase(&phase.phase)))
                (label(&line(&phase.phase), scale.span(phase.at_ms, end), top))
            }
        }
    }
}

fn class_of_phase(phase: &str) -> &'static str {
    match phase {
        "running" => "phase run",
        "asking" => "phase waiting",
        _ => "phase",
    }
}

fn asked(question: &Question, scale: Scale, top: f64) -> Markup {
    let end = question.answered_ms.unwrap_or(scale.total);
    let answer = line(question.answer.as_deref().unwrap_or("no answer"));
    let text = format!(
        "question at {}: {answer} after {}",
        duration(question.asked_ms),
        duration(end - question.asked_ms)
    );
    html! {
        a href="#questions" aria-label=(text) {
            title { (text) }
            (rectangle(scale.span(question.asked_ms, end), top, "waiting"))
            (label(&answer, scale.span(question.asked_ms, end), top))
        }
    }
}

fn bar(Placed { call, lane }: &Placed<'_>, scale: Scale, top: f64) -> Markup {
    let top = top + ROW * f64::from(u32::try_from(*lane).unwrap_or(u32::MAX));
    let sent = call.sent_ms.unwrap_or(call.began_ms);
    let end = call.ended_ms.unwrap_or(scale.total);
    let tool = tool(call);
    let text = format!(
        "call {}: {tool} at {}, {}, {}",
        call.number,
        duration(call.began_ms),
        duration(end - sent),
        result(call)
    );
    let class = match (call.ok, call.cached_age_ms) {
        (Some(false), _) => "bad",
        (None, _) => "waiting",
        (Some(true), Some(_)) => "cached",
        (Some(true), None) => "good",
    };
    let mark = if call.ok == Some(false) { "✕ " } else { "" };
    html! {
        a href=(format!("#call-{}", call.number)) aria-label=(text) {
            title { (text) }
            @if sent - call.began_ms >= 1.0 { (rectangle(scale.span(call.began_ms, sent), top, "waiting")) }
            (rectangle(scale.span(sent, end), top, class))
            (label(&format!("{mark}{tool}"), scale.span(sent, end), top))
        }
    }
}

fn rectangle((x, width): (f64, f64), top: f64, class: &str) -> Markup {
    html! {
        rect class=(class) x=(format!("{x:.1}")) y=(top) width=(format!("{width:.1}")) height=(BAR) rx="2" {}
    }
}

/// A text in a bar, which shows as much of it as fits: an inner picture cuts what is outside of it. The whole text stays
/// in the page, so that it is the beginning of the bar's name.
fn label(text: &str, (x, width): (f64, f64), top: f64) -> Markup {
    let room = width - 8.0;
    html! {
        // A few letters say nothing.
        @if room >= LEAST_SHOWN {
            svg x=(format!("{:.1}", x + 4.0)) y=(top) width=(format!("{room:.1}")) height=(BAR) aria-hidden="true" {
                text x="0" y="12" { (text) }
            }
        }
    }
}

/// The tool of a call, as `server.tool`.
pub(crate) fn tool(call: &Call) -> String {
    let name =
        if call.server.is_empty() { call.tool.clone() } else { format!("{}.{}", call.server, call.tool) };
    line(&name)
}

/// How a call ended, in words.
pub(crate) fn result(call: &Call) -> String {
    match (&call.error, call.ok) {
        (Some(error), _) => line(&error.replace('_', " ")),
        (None, Some(true)) => bytes(call.bytes),
        (None, Some(false)) => "failed".to_owned(),
        (None, None) => "not ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: u64, began_ms: f64, ended_ms: Option<f64>) -> Call {
        Call {
            number,
            server: "<script>".to_owned(),
            tool: "tool".to_owned(),
            began_ms,
            sent_ms: Some(began_ms),
            ended_ms,
            ok: Some(true),
            error: None,
            bytes: 1,
            cached_age_ms: None,
            arguments: None,
            direct_tokens: 1,
        }
    }

    #[test]
    fn calls_at_the_same_time_have_their_own_lanes() {
        let calls = [
            call(1, 0.0, Some(10.0)),
            call(2, 1.0, Some(5.0)),
            call(3, 6.0, Some(9.0)),
            call(4, 10.0, None),
            call(5, 20.0, Some(30.0)),
            call(6, 21.0, Some(22.0)),
        ];
        let (placed, count) = lanes(&calls);
        assert_eq!(placed.iter().map(|one| one.lane).collect::<Vec<_>>(), [0, 1, 1, 0, 1, 2]);
        assert_eq!(count, 3);
        let many: Vec<Call> = (0..300).map(|number| call(number, 0.0, None)).collect();
        let (placed, count) = lanes(&many);
        assert_eq!((placed.len(), count), (LANES, LANES));
    }

    #[test]
    fn marks_are_round_and_within_the_scale() {
        for (total, expected) in [(100.0, 6), (812.0, 5), (0.5, 6), (90_000.0, 5)] {
            let marks = Scale { total }.marks();
            assert_eq!(marks.len(), expected, "{marks:?}");
            assert!(marks.iter().all(|mark| *mark <= total), "{marks:?}");
        }
        let (start, width) = Scale { total: 10.0 }.span(10.0, 10.0);
        assert!(start + width <= WIDTH - END + 0.01 && width >= NARROWEST);
    }

    #[test]
    fn names_of_tools_are_escaped() {
        let one = call(1, 0.0, Some(10.0));
        let shown = bar(&Placed { call: &one, lane: 0 }, Scale { total: 10.0 }, 0.0).into_string();
        assert!(!shown.contains("<script>") && shown.contains("&lt;script&gt;"), "{shown}");
    }
}
