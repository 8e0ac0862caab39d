//! The timeline of an execution: its phases, questions and calls with their bars. Calls of a tool that end in the same way
//! are one row, which opens to its calls; each call opens to its arguments and result.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use history::shown::duration;
use history::{Call, Execution, Question};
use maud::{Markup, html};

use crate::exchanges::Exchanges;
use crate::text::{breakable, bytes, count, counted, line, lines};
use crate::waterfall::{self, Bar, Window};

/// Characters of arguments and of a hash that a row shows.
const SHORT: usize = 60;
const HASH: usize = 12;

/// The data that all rows share.
struct Trace<'a> {
    id: &'a str,
    window: Window,
    exchanges: &'a Exchanges,
}

/// The timeline, with what is known about its calls.
pub(crate) fn figure(execution: &Execution, window: Window, exchanges: &Exchanges) -> Markup {
    let trace = Trace { id: &execution.summary.id, window, exchanges };
    let calls = &execution.calls_made;
    let left_out = execution.summary.calls.saturating_sub(u64::try_from(calls.len()).unwrap_or(u64::MAX));
    html! {
        section #timeline aria-label="Timeline" {
            (waterfall::zoom(trace.id, window))
            div.trace role="group" aria-label=(parts_of(execution)) {
                (waterfall::axis(window))
                ul {
                    @if !execution.phases.is_empty() { li { (trace.phases(execution)) } }
                    @for (question, number) in execution.questions.iter().zip(1_usize..) {
                        li { (trace.question(question, number)) }
                    }
                    @for group in groups(calls) { li { (trace.group(&group)) } }
                }
            }
            ul.legend { li.good { "answered" } li.bad { "failed" } li.cached { "cached" } li.waiting { "waiting" } }
            p.keys hidden { "Keys: ↑ and ↓ go to another row, → opens it, ← closes it, + zooms to it, − zooms out, 0 shows all." }
            @if left_out > 0 { p { "Another " (count(left_out)) " calls are not kept one by one." } }
        }
    }
}

/// The contents of the figure, in words.
fn parts_of(execution: &Execution) -> String {
    let failed = execution.calls_made.iter().filter(|call| call.ok == Some(false)).count();
    let (calls, questions) = (execution.calls_made.len(), execution.questions.len());
    let [calls, questions] =
        [(calls, "call"), (questions, "question")].map(|(number, of)| counted(number as u64, of));
    format!("{calls}, {failed} of them failed, {questions}")
}

/// The duration of everything, in milliseconds; more than 0.
pub(crate) fn total(execution: &Execution) -> f64 {
    let running = (execution.summary.status == "running").then(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1e3;
        let begun = u64::try_from(execution.summary.begun).unwrap_or_default();
        now - Duration::from_millis(begun).as_secs_f64() * 1e3
    });
    let phases = execution.phases.iter().map(|phase| phase.at_ms);
    let calls = execution.calls_made.iter().flat_map(|call| [Some(call.began_ms), call.ended_ms]).flatten();
    let questions =
        execution.questions.iter().flat_map(|one| [Some(one.asked_ms), one.answered_ms]).flatten();
    let times = phases.chain(calls).chain(questions).chain(running).chain(execution.summary.total_ms);
    times.filter(|time| time.is_finite()).fold(0.001, f64::max)
}

/// Calls of the same tool that ended in the same way, in the order of the first of each.
fn groups(calls: &[Call]) -> Vec<Vec<&Call>> {
    let is_same = |one: &Call, other: &Call| {
        (&one.server, &one.tool, one.ok, &one.error) == (&other.server, &other.tool, other.ok, &other.error)
    };
    let mut groups: Vec<Vec<&Call>> = Vec::new();
    for call in calls {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| is_same(first, call))) {
            Some(group) => group.push(call),
            None => groups.push(vec![call]),
        }
    }
    groups
}

impl Trace<'_> {
    fn phases(&self, execution: &Execution) -> Markup {
        let ends = execution.phases.iter().skip(1).map(|next| next.at_ms).chain([self.window.total()]);
        let bars = execution.phases.iter().zip(ends).map(|(phase, to)| {
            (line(&phase.phase), Bar { from: phase.at_ms, to, class: class_of_phase(&phase.phase) })
        });
        let (names, bars): (Vec<String>, Vec<Bar>) = bars.unzip();
        let from = bars.first().map_or(0.0, |bar| bar.from);
        html! {
            details {
                summary.row #phases {
                    (head(&html! { "phases" }, self.window.total() - from)) (waterfall::track(self.window, &bars))
                }
                ul {
                    @for (name, bar) in names.iter().zip(&bars) {
                        li {
                            div.row {
                                (head(&html! { (name) }, bar.to - bar.from)) (waterfall::track(self.window, &[*bar]))
                            }
                        }
                    }
                }
            }
        }
    }

    fn question(&self, question: &Question, number: usize) -> Markup {
        let to = question.answered_ms.unwrap_or_else(|| self.window.total());
        let bar = Bar { from: question.asked_ms, to, class: "waiting" };
        let name = html! {
            "question: "
            @match (&question.answer, question.answered_ms) {
                (Some(answer), _) => (line(answer)),
                (None, Some(_)) => "withdrawn",
                (None, None) => "no answer",
            }
            @if let Some(by) = &question.answered_by { ", by " (line(by)) }
        };
        html! {
            details {
                summary.row id=(format!("question-{number}")) {
                    (head(&name, to - question.asked_ms)) (waterfall::track(self.window, &[bar]))
                }
                div.opened {
                    p {
                        "Asked at " (duration(question.asked_ms)) " about " (line(&question.about))
                        @for tool in &question.tools { " " code { bdi { (breakable(&line(tool))) } } }
                    }
                    pre tabindex="0" { bdi { (lines(&question.text)) } }
                }
            }
        }
    }

    fn group(&self, calls: &[&Call]) -> Markup {
        let (Some(first), true) = (calls.first(), calls.len() > 1) else {
            return html! { @for call in calls { (self.call(call, &tool(call))) } };
        };
        let bars: Vec<Vec<Bar>> = calls.iter().map(|call| self.bars(call)).collect();
        let from = bars.iter().flatten().map(|bar| bar.from).fold(f64::INFINITY, f64::min);
        let to = bars.iter().flatten().map(|bar| bar.to).fold(0.0, f64::max);
        html! {
            details {
                summary.row id=(format!("calls-{}", first.number)) {
                    (head(&html! { (name(first, &tool(first))) " " strong { "×" (calls.len()) } }, to - from))
                    (waterfall::lanes(self.window, &bars))
                }
                p.opened { (self.about(calls)) " · " (waterfall::zoom_to(self.id, self.window, from, to)) }
                ul { @for call in calls { li { (self.call(call, &self.short(call))) } } }
            }
        }
    }

    /// The facts that the calls of a group share, and those in which they differ.
    fn about(&self, calls: &[&Call]) -> String {
        let times =
            calls.iter().filter_map(|call| Some(call.ended_ms? - call.sent_ms.unwrap_or(call.began_ms)));
        let (least, most) =
            times.fold((f64::INFINITY, 0.0_f64), |(least, most), ms| (least.min(ms), most.max(ms)));
        let sum = |of: fn(&Call) -> u64| calls.iter().map(|call| of(call)).fold(0, u64::saturating_add);
        let mut hashes: Vec<&str> =
            calls.iter().filter_map(|call| Some(call.arguments.as_ref()?.hash.as_str())).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let parts = [
            (least <= most).then(|| format!("each {} to {}", duration(least), duration(most))),
            match hashes.len() {
                0 => None,
                1 => Some("the same arguments".to_owned()),
                different => Some(format!("{different} different arguments")),
            },
            Some(format!("results {}", bytes(sum(|call| call.bytes)))),
            Some(counted(sum(|call| call.direct_tokens), "token")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// The number of a call, with the beginning of its arguments if they are known.
    fn short(&self, call: &Call) -> String {
        let known = self.exchanges.arguments(call);
        let text: String = known.map(|text| line(&text)).unwrap_or_default().chars().take(SHORT).collect();
        format!("{} {text}", call.number)
    }

    fn bars(&self, call: &Call) -> Vec<Bar> {
        let sent = call.sent_ms.unwrap_or(call.began_ms);
        let end = call.ended_ms.unwrap_or_else(|| self.window.total());
        let class = match (call.ok, call.cached_age_ms) {
            (Some(false), _) => "bad",
            (None, _) => "waiting",
            (Some(true), Some(_)) => "cached",
            (Some(true), None) => "good",
        };
        let waited =
            (sent - call.began_ms >= 1.0).then_some(Bar { from: call.began_ms, to: sent, class: "waiting" });
        waited.into_iter().chain([Bar { from: sent, to: end, class }]).collect()
    }

    fn call(&self, call: &Call, title: &str) -> Markup {
        let bars = self.bars(call);
        let end = call.ended_ms.unwrap_or_else(|| self.window.total());
        html! {
            details {
                summary.row id=(format!("call-{}", call.number)) {
                    (head(&name(call, title), end - call.sent_ms.unwrap_or(call.began_ms)))
                    (waterfall::track(self.window, &bars))
                }
                div.opened {
                    (facts(call))
                    @if let Some(arguments) = self.exchanges.arguments(call) { (part("Arguments", &arguments)) }
                    @if let Some(result) = self.exchanges.result(call) { (part("Result", result)) }
                    p { (waterfall::zoom_to(self.id, self.window, call.began_ms, end)) }
                }
            }
        }
    }
}

/// The part of a row before its bars.
fn head(name: &Markup, took: f64) -> Markup {
    html! { span.name { (name) } span.took { (duration(took)) } }
}

/// The title of a call, with the error if it failed.
fn name(call: &Call, title: &str) -> Markup {
    html! {
        @if call.ok == Some(false) { "✕ " }
        bdi { (breakable(title)) }
        @if call.ok == Some(false) { " " span.failed { (result(call)) } }
    }
}

fn facts(call: &Call) -> Markup {
    let sent = call.sent_ms.unwrap_or(call.began_ms);
    let waited = Some(sent - call.began_ms).filter(|waited| *waited >= 1.0);
    let cached = call.cached_age_ms.map(|age| format!(" (cached {} before)", duration(age)));
    let hash = |hash: &str| hash.chars().take(HASH).collect::<String>();
    let rows = [
        Some(("Call", call.number.to_string())),
        Some(("At", duration(call.began_ms))),
        waited.map(|waited| ("Waited", duration(waited))),
        call.ended_ms.map(|ended| ("Time", duration(ended - sent))),
        Some(("Result", format!("{}{}", result(call), cached.unwrap_or_default()))),
        Some(("Tokens", count(call.direct_tokens))),
        call.arguments.as_ref().map(|kept| {
            let size = bytes(u64::try_from(kept.bytes).unwrap_or(u64::MAX));
            ("Arguments", format!("{size}, hash {}", hash(&kept.hash)))
        }),
    ];
    html! {
        dl.facts { @for (name, value) in rows.into_iter().flatten() { div { dt { (name) } dd { bdi { (value) } } } } }
    }
}

fn part(name: &str, text: &str) -> Markup {
    html! {
        h3 { (name) }
        pre tabindex="0" role="region" aria-label=(name) { bdi { (lines(text)) } }
    }
}

fn class_of_phase(phase: &str) -> &'static str {
    match phase {
        "running" => "phase run",
        "asking" => "phase waiting",
        _ => "phase",
    }
}

/// The tool of a call, as `server.tool`.
fn tool(call: &Call) -> String {
    let name =
        if call.server.is_empty() { call.tool.clone() } else { format!("{}.{}", call.server, call.tool) };
    line(&name)
}

/// The result of a call, in words.
fn result(call: &Call) -> String {
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
    use crate::query::Query;

    fn call(number: u64, tool: &str, error: Option<&str>) -> Call {
        Call {
            number,
            server: "<script>".to_owned(),
            tool: tool.to_owned(),
            began_ms: 1.0,
            sent_ms: Some(4.0),
            ended_ms: Some(10.0),
            ok: Some(error.is_none()),
            error: error.map(str::to_owned),
            bytes: 1,
            cached_age_ms: None,
            arguments: None,
            direct_tokens: 1,
        }
    }

    #[test]
    fn names_of_tools_are_escaped() {
        let window = Window::of(&Query::default(), 10.0).unwrap();
        let trace = Trace { id: "a", window, exchanges: &Exchanges::default() };
        let one = call(1, "a", None);
        let shown = trace.group(&[&one]).into_string();
        assert!(!shown.contains("<script>") && shown.contains("&lt;script&gt;.a"), "{shown}");
    }

    #[test]
    fn calls_of_a_tool_that_end_in_the_same_way_are_one_row() {
        let calls = [
            call(1, "a", None),
            call(2, "b", None),
            call(3, "a", Some("tool_error")),
            call(4, "a", None),
            call(5, "a", Some("timeout")),
            call(6, "a", Some("tool_error")),
        ];
        let numbers: Vec<Vec<u64>> =
            groups(&calls).iter().map(|group| group.iter().map(|call| call.number).collect()).collect();
        assert_eq!(numbers, [vec![1, 4], vec![2], vec![3, 6], vec![5]]);
        let window = Window::of(&Query::default(), 10.0).unwrap();
        let trace = Trace { id: "a", window, exchanges: &Exchanges::default() };
        let shown: String = groups(&calls).iter().map(|group| trace.group(group).into_string()).collect();
        let rows = ["calls-1", "call-1", "call-4", "call-2", "calls-3", "call-3", "call-6", "call-5"];
        let places: Vec<_> = rows.iter().map(|row| shown.find(&format!("id=\"{row}\""))).collect();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}: {shown}");
        assert_eq!(shown.matches("<strong>×2</strong>").count(), 2, "{shown}");
        assert!(shown.contains("tool error"), "{shown}");
        assert!(shown.contains("each 6.00 ms to 6.00 ms · results 2 bytes · 2 tokens"), "{shown}");
    }
}
