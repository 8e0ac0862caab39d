//! The savings of code mode, by day.

use history::{Filter, Reader, Savings};
use maud::{Markup, html};
use system::calendar::day_of;

use crate::error::PageError;
use crate::layout::{self, Document, Section};
use crate::plot::{Plot, Series};
use crate::text::{count, counted, number};

/// The page.
///
/// # Errors
/// If the history can't be read.
pub(crate) fn page(reader: Option<&Reader>) -> Result<Document, PageError> {
    let days = reader.map(|reader| reader.savings(&Filter::default())).transpose()?.unwrap_or_default();
    let mut total = Savings::default();
    days.iter().for_each(|day| total.add(day));
    let body = html! {
        h1 { "Savings" }
        @if days.is_empty() {
            p { "No executions are kept yet." }
        } @else {
            section #savings data-live {
                p.summary {
                    "In " (counted(total.executions, "execution")) " with " (counted(total.calls, "call"))
                    ", snippets and answers cost about " (count(total.tokens.code.saturating_add(total.tokens.answer)))
                    " tokens. Direct calls would have cost " (count(total.tokens.direct)) ". Saved: "
                    strong { (number(total.tokens.saved())) } "."
                }
                (plots(&days))
                (table(&days))
            }
        }
    };
    Ok(layout::page("Savings", Section::Savings, body))
}

fn plots(days: &[Savings]) -> Markup {
    let spent = |day: &Savings| day.tokens.code.saturating_add(day.tokens.answer);
    let tokens = Plot {
        name: "Tokens by day",
        series: vec![
            Series {
                name: "direct calls",
                class: "first",
                values: days.iter().map(|day| day.tokens.direct).collect(),
            },
            Series { name: "code mode", class: "second", values: days.iter().map(spent).collect() },
        ],
        days: days.iter().map(|day| day.since).collect(),
    };
    let calls = Plot {
        name: "Executions and calls by day",
        series: vec![
            Series { name: "calls", class: "first", values: days.iter().map(|day| day.calls).collect() },
            Series {
                name: "executions",
                class: "second",
                values: days.iter().map(|day| day.executions).collect(),
            },
        ],
        days: days.iter().map(|day| day.since).collect(),
    };
    html! { (tokens.figure()) (calls.figure()) }
}

fn table(days: &[Savings]) -> Markup {
    html! {
        h2 { "Days" }
        div.wide tabindex="0" role="region" aria-label="Days" {
            table {
                thead {
                    tr {
                        th scope="col" { "Day (UTC)" }
                        th.number scope="col" { "Executions" }
                        th.number scope="col" { "Calls" }
                        th.number scope="col" { "Snippets" }
                        th.number scope="col" { "Answers" }
                        th.number scope="col" { "Direct calls" }
                        th.number scope="col" { "Saved" }
                    }
                }
                tbody {
                    @for day in days.iter().rev() {
                        tr {
                            th scope="row" { (day_of(day.since)) }
                            td.number { (count(day.executions)) }
                            td.number { (count(day.calls)) }
                            td.number { (count(day.tokens.code)) }
                            td.number { (count(day.tokens.answer)) }
                            td.number { (count(day.tokens.direct)) }
                            td.number { (number(day.tokens.saved())) }
                        }
                    }
                }
            }
        }
    }
}
