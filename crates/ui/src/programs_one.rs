//! One saved program: how it is called, its arguments and result, its check, its recorded and its latest runs.

use gateway::saved_programs::RecordedRuns;
use history::Reader;
use history::shown::{duration, from};
use maud::{Markup, html};
use serde_json::{Value, json};
use snippet::{Argument, ArgumentKind, ProgramFile};

use crate::access::Visitor;
use crate::checking;
use crate::configured::{Configured, address};
use crate::error::PageError;
use crate::layout::{self, Document, Section, badge};
use crate::programs::{self, KnownProgram, Programs};
use crate::query::Query;
use crate::text::{breakable, count, line, lines, time};
use crate::{code, schema};

/// Maximum number of runs in a list.
const RUNS: usize = 20;

/// Maximum length of recorded arguments and results, in characters.
const VALUE: usize = 2_000;

/// The page of the program that the query names.
///
/// # Errors
/// If there is none, or it can't be read.
pub(crate) fn page(
    reader: Option<&Reader>,
    configured: &Configured,
    query: &Query,
    visitor: &Visitor,
) -> Result<Document, PageError> {
    let name =
        query.get("name").ok_or_else(|| PageError::wrong("the address names no program: add ?name=NAME"))?;
    let programs = Programs::read()?;
    let saved =
        programs.store.find(name).map_err(|failure| PageError::missing(failure.report.for_terminal()))?;
    let known = programs.known(saved, configured)?;
    let body = html! {
        h1 { code { (name) } " " (programs::check_badge(&known)) }
        @for note in programs.notes() { p.error { (line(&note)) } }
        @match &known.saved.content {
            Err(report) => {
                (facts(&known))
                div.error role="note" { pre tabindex="0" { bdi { (breakable(&lines(&report.for_terminal()))) } } }
            }
            Ok(content) => {
                @if !content.about().description.is_empty() {
                    pre tabindex="0" role="region" aria-label="Description" { bdi { (lines(&content.about().description)) } }
                }
                (facts(&known))
                (call(name, content))
                (arguments(content))
                (result(&known))
                (checked(&known, visitor))
                h2 #text { "Text" }
                (code::named("Text", content.text(), &messages(&known)))
                (recorded(&known))
            }
        }
        (runs(reader, &known)?)
    };
    Ok(layout::page(&format!("{name} – program"), Section::Programs, body))
}

fn facts(known: &KnownProgram) -> Markup {
    let saved = &known.saved;
    let tags = saved.content.as_ref().map(|content| content.about().tags.join(", ")).unwrap_or_default();
    html! {
        dl.facts {
            div { dt { "Scope" } dd { (saved.scope.to_string()) } }
            div { dt { "File" } dd { code { bdi { (breakable(&line(&saved.file.display().to_string()))) } } } }
            @if !tags.is_empty() { div { dt { "Tags" } dd { bdi { (line(&tags)) } } } }
            div { dt { "Approved" } dd { (programs::approval(known.approval)) } }
            @if let Some(program) = &known.program {
                div { dt { "Hash of its text" } dd { code { (program.hash()) } } }
            }
        }
    }
}

/// Shows a program's call in snippets and on the command line.
fn call(name: &str, content: &ProgramFile) -> Markup {
    html! {
        h2 { "Call" }
        @match content.as_function(name) {
            Ok(function) => (code::named("Call", &function.line(), &Value::Null)),
            Err(why) => p { "Snippets can't call it: " (line(&why.to_string())) },
        }
        p { code { "toolsmith program run " (name) " --help" } }
    }
}

fn arguments(content: &ProgramFile) -> Markup {
    html! {
        h2 #arguments { "Arguments" }
        @if content.arguments().is_empty() {
            p { "It has none." }
        } @else {
            div.wide tabindex="0" role="region" aria-label="Arguments" {
                table {
                    thead {
                        tr {
                            th scope="col" { "Argument" }
                            th scope="col" { "Type" }
                            th scope="col" { "Required" }
                            th scope="col" { "Description" }
                        }
                    }
                    tbody { @for argument in content.arguments() { (argument_row(argument)) } }
                }
            }
        }
        @if !content.about().examples.is_empty() {
            h2 { "Examples" }
            ul { @for example in &content.about().examples { li { code { bdi { (line(&example.text)) } } } } }
        }
    }
}

fn argument_row(argument: &Argument) -> Markup {
    html! {
        tr {
            th scope="row" { code { bdi { (line(&argument.name)) } } }
            td { bdi { (line(&kind(&argument.kind))) } }
            td { (if argument.is_required { "yes" } else { "no" }) }
            td.arguments { bdi { (breakable(&lines(&argument.about))) } }
        }
    }
}

fn kind(kind: &ArgumentKind) -> String {
    match kind {
        ArgumentKind::Text => "text".to_owned(),
        ArgumentKind::Choice(values) => values.join(" or "),
        ArgumentKind::Integer => "integer".to_owned(),
        ArgumentKind::Number => "number".to_owned(),
        ArgumentKind::Flag => "true or false".to_owned(),
        ArgumentKind::List(inner) => format!("list of {}", self::kind(inner)),
        ArgumentKind::Json => "JSON".to_owned(),
    }
}

/// The schema of the result, which only the compiler knows.
fn result(known: &KnownProgram) -> Markup {
    match known.check.as_ref().and_then(|check| check.result.as_ref()) {
        Some(result) => schema::section("Result", result),
        None => html! { h2 { "Result" } p { "Its type is known after a check, if it has a JSON Schema." } },
    }
}

/// The last check, as it is kept.
fn checked(known: &KnownProgram, visitor: &Visitor) -> Markup {
    let name = &known.saved.name;
    html! {
        h2 #check { "Check" }
        @match &known.check {
            None => p { "It was not checked with this text, or its check is no longer in the cache." },
            Some(check) => {
                p { (programs::check_badge(known)) " Checked " (time(check.checked)) "." }
                @if !known.is_current { p { "The known tools differ from those that it was checked against." } }
                @if let Some(broken) = &check.broken {
                    div.error role="note" { pre tabindex="0" { bdi { (breakable(&lines(broken))) } } }
                }
                @if check.manifest.is_empty() {
                    @if check.broken.is_none() { p { "It can call no tools." } }
                } @else {
                    p { "The tools that it can call:" }
                    ul.names { @for tool in &check.manifest { li { (tool_link(tool)) } } }
                }
            }
        }
        p { "Check it: " code { "toolsmith program check " (name) } }
        (checking::button(Some(name), visitor))
    }
}

fn tool_link(tool: &str) -> Markup {
    let (server, name) = tool.split_once('.').unwrap_or_default();
    html! { a href=(address("tool", &[("server", server), ("name", name)])) { code { bdi { (line(tool)) } } } }
}

/// The compiler's messages of the last check, for the text.
fn messages(known: &KnownProgram) -> Value {
    match &known.check {
        Some(check) => json!({ "fixes": check.fixes, "diagnostics": check.diagnostics }),
        None => Value::Null,
    }
}

fn recorded(known: &KnownProgram) -> Markup {
    let name = &known.saved.name;
    let runs = RecordedRuns::read(&known.saved.file);
    html! {
        h2 #recorded { "Recorded runs" }
        @match &runs {
            Err(failure) => p.error { (breakable(&lines(&failure.report.for_terminal()))) },
            Ok(runs) if runs.runs.is_empty() => {
                p { "None. Record some: " code { "toolsmith program record " (name) } }
            }
            Ok(runs) => {
                p { "Replay them without servers: " code { "toolsmith program test " (name) } }
                div.wide tabindex="0" role="region" aria-label="Recorded runs" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Arguments" }
                                th scope="col" { "Status" }
                                th.number scope="col" { "Answers" }
                                th scope="col" { "Result" }
                            }
                        }
                        tbody {
                            @for run in &runs.runs {
                                tr {
                                    th.arguments scope="row" { code { bdi { (breakable(&short(run.arguments.get()))) } } }
                                    td { (badge(&run.status)) }
                                    td.number { (count(u64::try_from(run.recording.calls.len()).unwrap_or(u64::MAX))) }
                                    td.arguments { code { bdi { (breakable(&run.result.as_ref().map(|result| short(result.get())).unwrap_or_default())) } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn short(json: &str) -> String {
    match json.char_indices().nth(VALUE) {
        Some((end, _)) => line(&format!("{}…", json.get(..end).unwrap_or_default())),
        None => line(json),
    }
}

fn runs(reader: Option<&Reader>, known: &KnownProgram) -> Result<Markup, PageError> {
    let (runs, total) = programs::runs(reader, known, RUNS)?;
    Ok(html! {
        h2 #runs { "Latest runs" }
        @if runs.is_empty() {
            p { "The history has no run of this text." }
        } @else {
            p.summary { (count(total)) " in the history." }
            table.list.plain {
                thead {
                    tr {
                        th scope="col" { "Run" }
                        th.number scope="col" { "Time" }
                        th.number scope="col" { "Calls" }
                        th scope="col" { "From" }
                    }
                }
                tbody {
                    @for run in &runs {
                        tr {
                            td.title { (programs::run_link(run)) }
                            td.number data-label="Time" { (run.total_ms.map(duration).unwrap_or_default()) }
                            td.number data-label="Calls" { (count(run.calls)) }
                            td data-label="From" { bdi { (line(&from(run))) } }
                        }
                    }
                }
            }
        }
    })
}
