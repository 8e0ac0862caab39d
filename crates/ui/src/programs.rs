//! The saved programs: what they do, whether they are approved, and their last check.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use gateway::failure::Failure;
use gateway::saved_programs::{
    Approval, Approvals, KeptCheck, ProgramStore, SavedProgram, approvals, functions,
};
use history::{Filter, Page, Reader, Summary};
use maud::{Markup, html};
use snippet::{ProgramFile, ProgramText};

use crate::access::Visitor;
use crate::checking;
use crate::configured::{Configured, address};
use crate::error::PageError;
use crate::layout::{self, Document, Section, status};
use crate::servers::Badge;
use crate::text::{count, line, time};

/// A program with what is known of it without a compiler.
pub(crate) struct KnownProgram {
    pub(crate) saved: SavedProgram,
    /// The program with those that it calls, unless its file is wrong.
    pub(crate) program: Option<ProgramFile>,
    /// Its last check, if that is kept.
    pub(crate) check: Option<KeptCheck>,
    /// Whether the tools are those of the check.
    pub(crate) is_current: bool,
    pub(crate) approval: Option<Approval>,
}

/// The saved programs and their approvals.
pub(crate) struct Programs {
    pub(crate) store: ProgramStore,
    approvals: Result<Approvals, Failure>,
    /// The programs that others can call, once they are needed.
    callable: OnceCell<BTreeMap<String, ProgramText>>,
}

impl Programs {
    /// Reads them.
    ///
    /// # Errors
    /// If the project's configuration can't be read.
    pub(crate) fn read() -> Result<Self, PageError> {
        let store = ProgramStore::of_working_folder()?;
        Ok(Programs { store, approvals: Approvals::read(), callable: OnceCell::new() })
    }

    /// Shows the facts known about a program.
    pub(crate) fn known(
        &self,
        saved: SavedProgram,
        configured: &Configured,
    ) -> Result<KnownProgram, PageError> {
        let program = saved.content.as_ref().ok().map(|content| self.composed(content)).transpose()?;
        let check = program.as_ref().and_then(|program| KeptCheck::read(&configured.cache, program.hash()));
        let is_current = check.as_ref().is_some_and(|check| check.is_current(&configured.lists));
        let approval =
            program.as_ref().and_then(|program| self.approval(program.hash(), check.as_ref(), configured));
        Ok(KnownProgram { saved, program, check, is_current, approval })
    }

    /// A program with those that it calls.
    fn composed(&self, content: &ProgramFile) -> Result<ProgramFile, PageError> {
        if !functions::may_call(content.text()) {
            return Ok(content.clone());
        }
        if self.callable.get().is_none() {
            let _ = self.callable.set(functions::callable(&self.store)?);
        }
        Ok(self.callable.get().map_or_else(|| content.clone(), |callable| content.clone().with(callable)))
    }

    fn approval(&self, hash: &str, check: Option<&KeptCheck>, configured: &Configured) -> Option<Approval> {
        let approvals = self.approvals.as_ref().ok()?;
        Some(match check.filter(|check| check.broken.is_none()) {
            Some(check) => {
                let flows = approvals::flows(&check.manifest, &configured.config);
                approvals.state(hash, &check.manifest, &flows)
            }
            // Which tools it can call is not known; its text is.
            None if approvals.has(hash) => Approval::Given,
            None => Approval::Missing,
        })
    }

    /// Notes about what is left out, or can't be read.
    pub(crate) fn notes(&self) -> Vec<String> {
        let wrong = self.approvals.as_ref().err().map(|failure| failure.report.for_terminal());
        self.store.left_out().map(str::to_owned).into_iter().chain(wrong).collect()
    }
}

/// The page.
///
/// # Errors
/// If the programs or the history can't be read.
pub(crate) fn page(
    reader: Option<&Reader>,
    configured: &Configured,
    visitor: &Visitor,
) -> Result<Document, PageError> {
    let programs = Programs::read()?;
    let all = programs.store.all()?;
    let rows = all.into_iter().map(|saved| row(&programs.known(saved, configured)?, reader));
    let rows = rows.collect::<Result<Vec<Markup>, PageError>>()?;
    let body = html! {
        h1 { "Programs" }
        @for note in programs.notes() { p.error { (line(&note)) } }
        @if rows.is_empty() {
            p { "No programs are saved. Save one: " code { "toolsmith program save NAME FILE" } }
        } @else {
            p.summary { "Check them against the tools as they are now: " code { "toolsmith program check" } }
            (checking::button(None, visitor))
            table.list.plain {
                thead {
                    tr {
                        th scope="col" { "Program" }
                        th scope="col" { "Last check" }
                        th scope="col" { "Approved" }
                        th scope="col" { "Scope" }
                        th.number scope="col" { "Runs" }
                        th scope="col" { "Last run" }
                    }
                }
                tbody { @for row in &rows { (row) } }
            }
        }
    };
    Ok(layout::page("Programs", Section::Programs, body))
}

fn row(known: &KnownProgram, reader: Option<&Reader>) -> Result<Markup, PageError> {
    let (runs, total) = runs(reader, known, 1)?;
    let name = &known.saved.name;
    let (title, tags) = match &known.saved.content {
        Ok(content) => (line(content.about().title()), content.about().tags.join(", ")),
        Err(report) => (line(&report.message()), String::new()),
    };
    Ok(html! {
        tr {
            td.title {
                a href=(address("program", &[("name", name)])) { code { (name) } }
                @if !title.is_empty() { span.tools { bdi { (title) } } }
                @if !tags.is_empty() { span.tools { "Tags: " bdi { (line(&tags)) } } }
            }
            td data-label="Last check" { (check_badge(known)) }
            td data-label="Approved" { (approval(known.approval)) }
            td data-label="Scope" { (known.saved.scope.to_string()) }
            td.number data-label="Runs" { (count(total)) }
            td data-label="Last run" { @match runs.first() { Some(run) => (run_link(run)), None => "none" } }
        }
    })
}

/// The latest runs of a program, and how many there are.
///
/// # Errors
/// If the history can't be read.
pub(crate) fn runs(
    reader: Option<&Reader>,
    known: &KnownProgram,
    limit: usize,
) -> Result<(Vec<Summary>, u64), PageError> {
    let Some(reader) = reader else { return Ok((Vec::new(), 0)) };
    let filter = Filter { program: Some(known.saved.name.clone()), ..Filter::default() };
    let total = u64::try_from(reader.count(&filter)?).unwrap_or(u64::MAX);
    Ok((reader.list(&filter, Page { limit, before: None })?, total))
}

/// A run with its status.
pub(crate) fn run_link(run: &Summary) -> Markup {
    html! {
        a href=(address("execution", &[("id", &run.id)])) { (time(run.begun)) }
        " " (status(run))
    }
}

/// Whether a program fits its tools, as far as that is known.
pub(crate) fn check_badge(known: &KnownProgram) -> Markup {
    let (class, words) = match (&known.saved.content, &known.check) {
        (Err(_), _) => ("bad", "invalid"),
        (Ok(_), None) => ("idle", "not checked"),
        (Ok(_), Some(_)) if !known.is_current => ("busy", "tools have changed"),
        (Ok(_), Some(check)) => match check.state.as_str() {
            "fits" => ("good", "fits"),
            "corrected" => ("good", "fits with corrections"),
            _ => ("bad", "broken"),
        },
    };
    Badge::new(class, words).markup()
}

/// Whether a program is approved.
pub(crate) fn approval(approval: Option<Approval>) -> &'static str {
    match approval {
        Some(Approval::Given) => "yes",
        Some(Approval::OtherTools) => "for other tools",
        Some(Approval::OtherFlows) => "for other flows",
        Some(Approval::Missing) => "no",
        None => "unknown",
    }
}
