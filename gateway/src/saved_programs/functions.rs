//! Saved programs as functions that snippets and other programs call: `programs::NAME(…)`.

use std::collections::BTreeMap;

use runner::{Code, ProgramFile, ProgramText};

use super::store::{ProgramStore, SavedProgram};
use crate::failure::Failure;

/// The word without which a text calls no program.
const PROGRAMS: &str = "programs";

/// Parses a snippet, with the saved programs that it calls.
///
/// # Errors
/// If the programs can't be read.
pub fn snippet(text: String) -> Result<Code, Failure> {
    if !text.contains(PROGRAMS) {
        return Ok(Code::parse(text));
    }
    Ok(Code::parse_with(text, &callable(&ProgramStore::of_working_folder()?, |_| true)?))
}

/// The program with the others that it calls.
///
/// # Errors
/// If the programs can't be read.
pub fn program(store: &ProgramStore, program: &ProgramFile) -> Result<ProgramFile, Failure> {
    if !program.text().contains(PROGRAMS) {
        return Ok(program.clone());
    }
    Ok(program.clone().with(&callable(store, |_| true)?))
}

/// The programs that other texts can call, if they are admitted. One that can't be called is left out: the compiler then
/// reports its name.
///
/// # Errors
/// If the programs can't be read.
pub fn callable(
    store: &ProgramStore,
    is_admitted: impl Fn(&ProgramFile) -> bool,
) -> Result<BTreeMap<String, ProgramText>, Failure> {
    let function = |saved: SavedProgram| {
        let program = saved.content.ok().filter(|program| is_admitted(program))?;
        let function = program.as_function(&saved.name).ok()?;
        Some((saved.name, function))
    };
    Ok(store.all()?.into_iter().filter_map(function).collect())
}
