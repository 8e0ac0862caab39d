//! One execution: what happened when, its snippet, calls, questions, output and sandbox.

use history::shown::{duration, from};
use history::{Arguments, Call, Execution, Question, Reader};
use maud::{Markup, html};
use serde_json::Value;

use crate::access::Visitor;
use crate::error::PageError;
use crate::layout::{self, Section, badge};
use crate::text::{bytes, count, line, lines, number, time};
use crate::{output, snippet, waterfall};

/// Characters of a hash that are shown.
const HASH: usize = 12;

/// The page of the execution whose id is or begins with `id`.
///
/// # Errors
/// If there is none, or more than one, or the history can't be read.
pub(crate) fn page(reader: Option<&Reader>, id: &str, visitor: &Visitor) -> Result<Markup, PageError> {
    let execution = read(reader, id)?;
    let summary = &execution.summary;
    let is_live = summary.ended.is_none();
    let title = line(&summary.title);
    let body = html! {
        (actions(visitor, &summary.id))
        article #execution data-live[is_live] {
            h1 { bdi { (if title.is_empty() { "Execution" } else { &title }) } " " (badge(&summary.status)) }
            @if let Some(error) = error(&execution) { (error) }
            (facts(&execution))
            h2 { "Timeline" }
            (waterfall::figure(&execution))
            h2 #snippet { "Snippet" }
            @if !execution.code_is_whole { p { "Secrets in it are masked." } }
            (snippet::listing(&execution.code, &execution.outcome))
            (calls(&execution.calls_made, summary.calls))
            (questions(&execution.questions))
            (output::sections(&summary.id, &execution.outcome))
            (sandbox(&execution))
            h2 { "Compare" }
            form.inline action="compare" method="get" {
                input type="hidden" name="of" value=(summary.id);
                label {
                    span { "With the execution" }
                    input type="text" name="of" required placeholder="id, or its beginning" autocomplete="off"
                        spellcheck="false";
                }
                button type="submit" { "Compare" }
            }
            p { a href=(format!("json?id={}", summary.id)) download=(format!("{}.json", summary.id)) {
                "Everything that is kept, as JSON"
            } }
        }
    };
    Ok(layout::page(&format!("{title} {}", summary.id), Section::Executions, &body))
}

/// An execution; fails if there is no history.
///
/// # Errors
/// If there is no such execution, or the history can't be read.
pub(crate) fn read(reader: Option<&Reader>, id: &str) -> Result<Execution, PageError> {
    let reader = reader.ok_or_else(|| PageError::missing("no executions are kept yet"))?;
    Ok(reader.execution(id)?)
}

fn error(execution: &Execution) -> Option<Markup> {
    let kept = &execution.outcome["error"];
    let message = kept["message"].as_str().or(execution.summary.error.as_deref())?;
    let kind = kept["kind"].as_str().or(execution.summary.error_kind.as_deref());
    Some(html! {
        div.error role="note" {
            @if let Some(kind) = kind { strong { (line(kind)) } " " }
            pre tabindex="0" { bdi { (lines(message)) } }
        }
    })
}

fn facts(execution: &Execution) -> Markup {
    let summary = &execution.summary;
    let outcome = &execution.outcome;
    let (begun, exact) = time(summary.begun);
    let cpu = outcome["cpu_ms"].as_f64().filter(|ms| *ms > 0.0).map(duration);
    let compiled = match (outcome["cached"] == true, outcome["optimized"] == true) {
        (true, true) => Some("before, with optimization"),
        (true, false) => Some("before"),
        (false, true) => Some("with optimization"),
        (false, false) => None,
    };
    let tokens = summary.tokens;
    let integer = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let saved = if summary.is_ok() { format!(": saved {}", number(tokens.saved())) } else { String::new() };
    let saved = format!(
        "snippet {}, answer {}; direct calls {}{saved}",
        number(integer(tokens.code)),
        number(integer(tokens.answer)),
        number(integer(tokens.direct)),
    );
    let optional = |name, value: &Option<String>| value.as_ref().map(|value| (name, line(value)));
    let rows = [
        Some(("From", line(&from(summary)))),
        optional("Session", &summary.session),
        optional("Issuer", &summary.issuer),
        optional("Address", &summary.address),
        optional("Agent's run", &summary.parent_run),
        Some(("Folder", line(&summary.folder))),
        summary.total_ms.map(|ms| ("Time", duration(ms))),
        cpu.map(|cpu| ("Processor time", cpu)),
        compiled.map(|compiled| ("Compiled", compiled.to_owned())),
        summary.check_only.then(|| ("Run", "no, only compiled".to_owned())),
        Some(("Tokens", saved)),
        execution.arguments.as_ref().map(|kept| ("Arguments", arguments(kept))),
    ];
    html! {
        dl.facts {
            div { dt { "Id" } dd { code { (summary.id) } } }
            div { dt { "Begun" } dd { time datetime=(exact) { (begun) } } }
            @for (name, value) in rows.into_iter().flatten() {
                div { dt { (name) } dd { bdi { (value) } } }
            }
        }
    }
}

/// What is kept of arguments, on one line.
fn arguments(arguments: &Arguments) -> String {
    match (&arguments.value, &arguments.text) {
        (Some(value), _) => line(&value.to_string()),
        (None, Some(text)) => format!("{}…", line(text)),
        (None, None) => {
            let hash: String = arguments.hash.chars().take(HASH).collect();
            format!("{}, hash {hash}", bytes(u64::try_from(arguments.bytes).unwrap_or(u64::MAX)))
        }
    }
}

fn calls(calls: &[Call], total: u64) -> Markup {
    let left_out = total.saturating_sub(u64::try_from(calls.len()).unwrap_or(u64::MAX));
    html! {
        @if !calls.is_empty() {
            h2 #calls { "Calls" }
            div.wide tabindex="0" role="region" aria-label="Calls" {
                table {
                    thead {
                        tr {
                            th.number scope="col" { "Call" }
                            th scope="col" { "Tool" }
                            th.number scope="col" { "At" }
                            th.number scope="col" { "Waited" }
                            th.number scope="col" { "Time" }
                            th scope="col" { "Result" }
                            th.number scope="col" { "Tokens" }
                            th scope="col" { "Arguments" }
                        }
                    }
                    tbody { @for call in calls { (call_row(call)) } }
                }
            }
            @if left_out > 0 { p { "Another " (count(left_out)) " are not kept one by one." } }
        }
    }
}

fn call_row(call: &Call) -> Markup {
    let waited = call.sent_ms.map(|sent| sent - call.began_ms).filter(|waited| *waited >= 1.0);
    let begun = call.sent_ms.unwrap_or(call.began_ms);
    let result = waterfall::result(call);
    html! {
        tr id=(format!("call-{}", call.number)) {
            th.number scope="row" { (call.number) }
            td { bdi { (waterfall::tool(call)) } }
            td.number { (duration(call.began_ms)) }
            td.number { (waited.map(duration).unwrap_or_default()) }
            td.number { (call.ended_ms.map(|ended| duration(ended - begun)).unwrap_or_default()) }
            td { (result) @if let Some(age) = call.cached_age_ms { " (cached " (duration(age)) " before)" } }
            td.number { (count(call.direct_tokens)) }
            td.arguments { bdi { (call.arguments.as_ref().map(arguments).unwrap_or_default()) } }
        }
    }
}

fn questions(questions: &[Question]) -> Markup {
    html! {
        @if !questions.is_empty() {
            h2 #questions { "Questions" }
            ol.questions {
                @for question in questions {
                    li {
                        p {
                            strong { (line(question.answer.as_deref().unwrap_or("no answer"))) }
                            @if let Some(by) = &question.answered_by { ", by " (line(by)) }
                            " – asked at " (duration(question.asked_ms))
                            @if let Some(answered) = question.answered_ms {
                                ", answered after " (duration(answered - question.asked_ms))
                            }
                        }
                        p { "About " (line(&question.about)) @for tool in &question.tools { " " code { bdi { (line(tool)) } } } }
                        pre tabindex="0" { bdi { (lines(&question.text)) } }
                    }
                }
            }
        }
    }
}

fn sandbox(Execution { summary, outcome, .. }: &Execution) -> Markup {
    let strings = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(line).collect()
    };
    let manifest = strings(&outcome["manifest"]);
    let report = &outcome["sandbox"];
    let tier = report["tier"].as_str().filter(|tier| !tier.is_empty());
    let (layers, refused) = (strings(&report["layers"]), strings(&report["refused"]));
    html! {
        @if !manifest.is_empty() {
            h2 { "Manifest" }
            p { "The tools that the program can call:" }
            ul.names { @for tool in &manifest { li { code { bdi { (tool) } } } } }
        }
        @if let Some(tier) = tier {
            h2 { "Sandbox" }
            p { "Tier " strong { (line(tier)) } ", with:" }
            ul.names { @for layer in &layers { li { code { (layer) } } } }
            @if !refused.is_empty() && !summary.is_ok() {
                p { "Refused system calls:" }
                ul.names { @for call in &refused { li { code { (call) } } } }
            }
        }
    }
}

/// The button, and the way to save the snippet as a program; nothing if the page only reads.
fn actions(visitor: &Visitor, id: &str) -> Markup {
    html! {
        @if visitor.may_act() {
            form.actions action="again" method="post" {
                (visitor.field())
                input type="hidden" name="id" value=(id);
                button type="submit" { "Run again" }
                a href=(format!("save?id={id}")) { "Save as a program" }
            }
        }
    }
}
