//! Two executions compared.

use history::shown::duration;
use history::{Calls, Differences, Execution, Reader, Tally};
use maud::{Markup, html};

use crate::error::PageError;
use crate::execution::read;
use crate::layout::{self, Document, Section, status};
use crate::query::Query;
use crate::text::{breakable, bytes, counted, line, lines, time};

/// The page that compares the two executions of the fields `of`, the earlier one first.
///
/// # Errors
/// If there are not two, or the history can't be read.
pub(crate) fn page(reader: Option<&Reader>, query: &Query) -> Result<Document, PageError> {
    let ids: Vec<&str> = query.all("of").collect();
    let [one, other] = ids.as_slice() else {
        return Err(PageError::wrong(format!(
            "{} selected; go back and select two",
            counted(u64::try_from(ids.len()).unwrap_or(u64::MAX), "execution")
        )));
    };
    let (one, other) = (read(reader, one)?, read(reader, other)?);
    let (old, new) = if one.summary.number <= other.summary.number { (one, other) } else { (other, one) };
    let differences = Differences::between(&old, &new);
    let body = html! {
        h1 { "Two executions" }
        div.wide {
            table.compare {
                thead { tr { td {} th scope="col" { (name(&old)) } th scope="col" { (name(&new)) } } }
                tbody {
                    tr { th scope="row" { "begun" } td { (time(old.summary.begun)) } td { (time(new.summary.begun)) } }
                    tr { th scope="row" { "time" } td { (took(&old)) } td { (took(&new)) } }
                    @for member in &differences.members {
                        tr {
                            th scope="row" { (member.name) }
                            td { bdi { (lines(&member.old)) } }
                            td { bdi { (lines(&member.new)) } }
                        }
                    }
                    @for calls in &differences.calls { (calls_row(calls)) }
                }
            }
        }
        @if differences.is_empty() { p { "They differ in nothing but their times." } }
        @for (name, text) in &differences.texts {
            h2 { (capitalized(name)) }
            (difference(name, text))
        }
    };
    Ok(layout::page("Two executions", Section::Executions, body))
}

fn name(execution: &Execution) -> Markup {
    let summary = &execution.summary;
    html! {
        a href=(format!("execution?id={}", summary.id)) { code { (summary.id) } } " " (status(summary))
        br;
        bdi { (breakable(&line(&summary.title))) }
    }
}

fn took(execution: &Execution) -> String {
    execution.summary.total_ms.map(duration).unwrap_or_default()
}

fn calls_row(calls: &Calls) -> Markup {
    let tally = |tally: &Tally| {
        let calls = counted(tally.calls, "call");
        format!("{calls} ({} failed), {}, {}", tally.failed, bytes(tally.bytes), duration(tally.ms))
    };
    let counts = |tally: &Tally| (tally.calls, tally.failed, tally.bytes);
    let note = if counts(&calls.old) == counts(&calls.new) { ", with other arguments" } else { "" };
    html! {
        tr {
            th scope="row" { bdi { (line(&calls.tool)) } }
            td { (tally(&calls.old)) }
            td { (tally(&calls.new)) (note) }
        }
    }
}

/// A unified diff. Each line keeps its sign, so the colours are not all that tells them apart.
fn difference(name: &str, text: &str) -> Markup {
    let class = |line: &str| match line.as_bytes().first() {
        Some(b'+') => "added",
        Some(b'-') => "removed",
        Some(b'@') => "place",
        _ => "same",
    };
    html! {
        div.code tabindex="0" role="region" aria-label=(format!("Differences of the {name}")) {
            @for one in text.lines() { div class=(class(one)) { code { bdi { (lines(one)) } } } }
        }
    }
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
