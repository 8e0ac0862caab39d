//! One execution: what happened when, its snippet, output and sandbox.

use history::shown::{duration, from};
use history::{Arguments, Execution, Reader};
use maud::{Markup, html};
use serde_json::Value;

use crate::access::Visitor;
use crate::error::PageError;
use crate::exchanges::Exchanges;
use crate::layout::{self, Document, Section, status};
use crate::query::Query;
use crate::text::{breakable, bytes, line, lines, number, time};
use crate::waterfall::Window;
use crate::{code, output, trace};

/// Characters of a hash that are shown.
const HASH: usize = 12;

/// The page of the execution whose id is or begins with `id`.
///
/// # Errors
/// If there is none, or more than one, or the history can't be read.
pub(crate) fn page(
    reader: Option<&Reader>,
    id: &str,
    query: &Query,
    visitor: &Visitor,
) -> Result<Document, PageError> {
    let execution = read(reader, id)?;
    let window = Window::of(query, trace::total(&execution))?;
    let exchanges = Exchanges::of(reader, &execution)?;
    let summary = &execution.summary;
    let is_live = summary.ended.is_none();
    let title = line(&summary.title);
    let body = html! {
        (actions(visitor, &summary.id))
        article #execution data-live[is_live] {
            h1 { bdi { (breakable(if title.is_empty() { "Execution" } else { &title })) } " " (status(summary)) }
            @if summary.is_waiting { p.note { "It waits for your answer: " a href="questions" { "questions" } } }
            @if let Some(error) = error(&execution) { (error) }
            (facts(&execution))
            h2 { "Timeline" }
            (trace::figure(&execution, window, &exchanges))
            (exchanges.note(&execution))
            h2 #snippet { "Snippet" }
            @if !execution.code_is_whole { p { "Secrets in it are masked." } }
            (code::listing(&execution.code, &execution.outcome))
            (output::sections(&summary.id, &execution.outcome))
            (manifest(&execution.outcome))
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
    Ok(layout::page(&format!("{title} {}", summary.id), Section::Executions, body))
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
            pre tabindex="0" { bdi { (breakable(&lines(message))) } }
        }
    })
}

fn facts(execution: &Execution) -> Markup {
    let summary = &execution.summary;
    let outcome = &execution.outcome;
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
            div { dt { "Begun" } dd { (time(summary.begun)) } }
            @for (name, value) in rows.into_iter().flatten() {
                div { dt { (name) } dd { bdi { (breakable(&value)) } } }
            }
        }
    }
}

/// Shows the kept arguments on one line.
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

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(line).collect()
}

/// The tools that the program of an outcome can call, and the flows between them.
pub(crate) fn manifest(outcome: &Value) -> Markup {
    let (manifest, flows) = (strings(&outcome["manifest"]), strings(&outcome["flows"]));
    html! {
        @if !manifest.is_empty() {
            h2 { "Manifest" }
            p { "The tools that the program can call:" }
            ul.names { @for tool in &manifest { li { code { bdi { (breakable(tool)) } } } } }
        }
        @if !flows.is_empty() {
            p { "It can carry:" }
            ul { @for flow in &flows { li { bdi { (breakable(flow)) } } } }
        }
    }
}

fn sandbox(Execution { outcome, .. }: &Execution) -> Markup {
    let report = &outcome["sandbox"];
    let tier = report["tier"].as_str().filter(|tier| !tier.is_empty());
    let (layers, refused) = (strings(&report["layers"]), strings(&report["refused"]));
    html! {
        @if let Some(tier) = tier {
            h2 { "Sandbox" }
            p { "Tier " strong { (line(tier)) } ", with:" }
            ul.names { @for layer in &layers { li { code { (layer) } } } }
            @if !refused.is_empty() {
                p { "Refused system calls:" }
                ul.names { @for call in &refused { li { code { (call) } } } }
            }
        }
    }
}

/// The ways to run the snippet again and to save it as a program; nothing if the page only reads.
fn actions(visitor: &Visitor, id: &str) -> Markup {
    html! {
        @if visitor.may_act() {
            p.actions {
                a href=(format!("again?id={id}")) { "Run again" }
                a href=(format!("save?id={id}")) { "Save as a program" }
            }
        }
    }
}
