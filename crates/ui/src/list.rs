//! The list of executions: filters, pages, and the choice of two to compare.

use history::shown::{duration, from};
use history::{Page, Reader, Summary};
use maud::{Markup, html};
use runner::Status;

use crate::error::PageError;
use crate::layout::{self, Document, Section, status};
use crate::query::Query;
use crate::text::{breakable, count, counted, line, time};

/// Executions on a page: the number without a choice, and the choices.
const LIMIT: usize = 100;
const LIMITS: [usize; 2] = [LIMIT, 1000];

/// Characters of an id in a list.
const ID: usize = 8;

/// The statuses of executions that have no outcome.
const WITHOUT_OUTCOME: [&str; 4] = ["running", "interrupted", "input_required", "host_error"];

/// The page.
///
/// # Errors
/// If a filter is wrong, or the history can't be read.
pub(crate) fn page(reader: Option<&Reader>, query: &Query) -> Result<Document, PageError> {
    let filter = query.filter()?;
    let limit = query.number("limit")?.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.filter(|limit| LIMITS.contains(limit)).unwrap_or(LIMIT);
    let before = query.number("before")?;
    let found = reader.map(|reader| reader.list(&filter, Page { limit, before })).transpose()?;
    let total = reader.map(|reader| reader.count(&filter)).transpose()?.unwrap_or_default();
    let found = found.unwrap_or_default();
    let is_live = before.is_none();
    let older = found.last().filter(|_| found.len() == limit).map(|last| last.number.to_string());
    let body = html! {
        h1 { "Executions" }
        (filters(query, limit))
        section #list aria-label="Executions" data-live[is_live] {
            p.summary { (summary(found.len(), total, reader.is_some())) }
            @if !found.is_empty() {
                form action="compare" method="get" {
                    div.actions {
                        button type="submit" { "Compare" }
                        " the two that are selected"
                    }
                    (table(&found))
                }
            }
            nav.paging aria-label="Paging" {
                @if before.is_some() {
                    a href=(address(&query.with("before", None))) { "Latest" }
                }
                @if let Some(older) = &older {
                    a rel="next" href=(address(&query.with("before", Some(older)))) { "Older" }
                }
            }
        }
    };
    Ok(layout::page("Executions", Section::Executions, body))
}

fn address(query: &str) -> String {
    format!("executions?{query}")
}

fn summary(shown: usize, total: usize, is_there: bool) -> String {
    let count = |value: usize| count(u64::try_from(value).unwrap_or(u64::MAX));
    match (shown, total) {
        (0, _) if !is_there => "No executions are kept yet.".to_owned(),
        (0, _) => "No execution fits.".to_owned(),
        (shown, total) if shown == total => format!("{} in all.", count(total)),
        (shown, total) => format!("{} of {}.", count(shown), count(total)),
    }
}

fn filters(query: &Query, limit: usize) -> Markup {
    let value = |name: &str| query.get(name).unwrap_or_default().to_owned();
    let texts = [
        ("text", "Text", "search"),
        ("server", "Server", "text"),
        ("tool", "Tool", "text"),
        ("session", "Session", "text"),
        ("subject", "Subject", "text"),
        ("since", "Since (UTC)", "date"),
        ("until", "Before (UTC)", "date"),
    ];
    let statuses = Status::ALL.map(|status| status.to_string()).into_iter();
    let statuses: Vec<String> = statuses.chain(WITHOUT_OUTCOME.map(str::to_owned)).collect();
    let chosen = |name: &&str| query.get(name).is_some();
    let names = ["status"].into_iter().chain(texts.map(|(name, ..)| name)).filter(chosen);
    let chosen: Vec<String> = names.map(|name| format!("{name} {}", line(&value(name)))).collect();
    html! {
        details.filter {
            summary { "Filter" @if !chosen.is_empty() { ": " bdi { (breakable(&chosen.join(", "))) } } }
            form.filters action="executions" method="get" role="search" aria-label="Filters" {
                label {
                    span { "Status" }
                    select name="status" {
                        option value="" { "any" }
                        @for status in &statuses {
                            option value=(status) selected[*status == value("status")] { (status.replace('_', " ")) }
                        }
                    }
                }
                @for (name, label, kind) in texts {
                    label {
                        span { (label) }
                        input type=(kind) name=(name) value=(value(name)) autocomplete="off" spellcheck="false";
                    }
                }
                label {
                    span { "On a page" }
                    select name="limit" {
                        @for choice in LIMITS {
                            option value=(choice) selected[choice == limit] { (choice) }
                        }
                    }
                }
                div.actions {
                    button type="submit" { "Filter" }
                    a href="executions" { "Clear" }
                }
            }
        }
        @if !chosen.is_empty() { p { a href="executions" { "All executions" } } }
    }
}

fn table(found: &[Summary]) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { span.hidden { "Select" } }
                    th scope="col" { "Execution" }
                    th scope="col" { "Status" }
                    th scope="col" { "Begun" }
                    th.number scope="col" { "Time" }
                    th.number scope="col" { "Calls" }
                    th.number scope="col" { "Tokens" }
                    th scope="col" { "From" }
                }
            }
            tbody { @for summary in found { (row(summary)) } }
        }
    }
}

fn row(summary: &Summary) -> Markup {
    let id: String = summary.id.chars().take(ID).collect();
    let title = line(&summary.title);
    let tools = summary.tools.iter().map(|tool| line(tool)).collect::<Vec<_>>().join(", ");
    html! {
        tr {
            td.select {
                input type="checkbox" name="of" value=(summary.id) aria-label=(format!("Select {id}"));
            }
            td.title {
                a href=(format!("execution?id={}", summary.id)) {
                    code { (id) } " " bdi { (breakable(if title.is_empty() { "(empty)" } else { &title })) }
                }
                @if !tools.is_empty() { span.tools { bdi { (breakable(&tools)) } } }
            }
            td data-label="Status" { (status(summary)) }
            td data-label="Begun" { (time(summary.begun)) }
            td.number data-label="Time" { (summary.total_ms.map(duration).unwrap_or_default()) }
            td.number data-label="Calls" title=(counted(summary.calls, "call")) { (count(summary.calls)) }
            td.number data-label="Tokens" { (count(summary.tokens.code.saturating_add(summary.tokens.answer))) }
            td data-label="From" { bdi { (breakable(&line(&from(summary)))) } }
        }
    }
}
