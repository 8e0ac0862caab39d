//! Saved programs as functions that snippets and other programs call: `programs::NAME(…)`.

use std::collections::BTreeMap;

use snippet::{Code, ProgramFile, ProgramText};

use super::approvals::Approvals;
use super::store::{ProgramStore, SavedProgram};
use crate::failure::Failure;
use crate::permission::ApprovedTools;

/// The word without which a text calls no program.
const PROGRAMS: &str = "programs";

/// Whether a text may call saved programs.
pub fn may_call(text: &str) -> bool {
    text.contains(PROGRAMS)
}

/// Parses a snippet, with the saved programs that it calls.
///
/// # Errors
/// If the programs can't be read.
pub fn snippet(text: String) -> Result<Code, Failure> {
    if !may_call(&text) {
        return Ok(Code::parse(text));
    }
    Ok(Code::parse_with(None, text, &callable(&ProgramStore::of_working_folder()?)?))
}

/// The program with the others that it calls.
///
/// # Errors
/// If the programs can't be read.
pub fn program(store: &ProgramStore, program: &ProgramFile) -> Result<ProgramFile, Failure> {
    if !may_call(program.text()) {
        return Ok(program.clone());
    }
    Ok(program.clone().with(&callable(store)?))
}

/// The programs that other texts can call. One that can't be called is left out: the compiler then reports its name.
///
/// # Errors
/// If the programs can't be read.
pub fn callable(store: &ProgramStore) -> Result<BTreeMap<String, ProgramText>, Failure> {
    let function = |saved: SavedProgram| {
        let function = saved.content.ok()?.as_function(&saved.name).ok()?;
        Some((saved.name, function))
    };
    Ok(store.all()?.into_iter().filter_map(function).collect())
}

/// A program that the user has approved, as other texts call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedFunction {
    /// The program.
    pub text: ProgramText,
    /// The tools that it is approved to call.
    pub tools: ApprovedTools,
}

/// The programs that other texts can call, and that the user has approved.
///
/// # Errors
/// If the programs can't be read.
pub fn approved(
    store: &ProgramStore,
    approvals: &Approvals,
) -> Result<BTreeMap<String, ApprovedFunction>, Failure> {
    let all = callable(store)?;
    let approved = |saved: SavedProgram| {
        // An approval covers the texts of all programs that it calls.
        let program = saved.content.ok()?;
        let whole = if may_call(program.text()) { program.with(&all) } else { program };
        let tools = approvals.has(whole.hash()).then(|| approvals.tools(whole.hash()))?;
        let text = all.get(&saved.name)?.clone();
        Some((saved.name, ApprovedFunction { text, tools }))
    };
    Ok(store.all()?.into_iter().filter_map(approved).collect())
}
