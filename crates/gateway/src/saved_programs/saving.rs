//! Writes the file of a program, and says what that changes.

use std::io;
use std::path::Path;

use flows::Flow;
use runner::limits::SNIPPET_LIMIT;
use system::file::{self, Durability};

use super::difference;
use crate::failure::Failure;

/// The text of a program's file, if there is one.
///
/// # Errors
/// If it can't be read.
pub fn existing(file: &Path) -> Result<Option<String>, Failure> {
    let bytes = file::read(file, SNIPPET_LIMIT as u64).map_err(|error| {
        Failure::command_line(format!("{} can't be read: {error}", file.display())).caused_by(error)
    })?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Returns the change if a program gets this text: the whole text if it is new, otherwise the changed lines.
pub fn change(before: Option<&str>, text: &str) -> String {
    match before {
        None => text.trim_end().to_owned(),
        Some(before) if before == text => "the text is the same as before".to_owned(),
        Some(before) => difference::lines(before, text),
    }
}

/// Describes the tools that a program can call, and the flows between them.
pub fn manifest(tools: &[String], flows: &[Flow]) -> String {
    if tools.is_empty() {
        return "It can call no tools.".to_owned();
    }
    let names: Vec<String> = tools.iter().map(|tool| printable::name(tool).to_string()).collect();
    let tools = format!("It can call: {}", names.join(", "));
    std::iter::once(tools).chain(carried(flows)).collect::<Vec<_>>().join("\n")
}

/// Lines about the flows that an approval covers; none if there are no flows.
pub fn carried(flows: &[Flow]) -> Vec<String> {
    let head = (!flows.is_empty()).then(|| "It can carry, without a question at the call:".to_owned());
    head.into_iter().chain(flows::lines(flows).into_iter().map(|line| format!("  {line}"))).collect()
}

/// Writes the file of a program.
///
/// # Errors
/// If it can't be written.
pub fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::command_line(format!("{} can't be written: {error}", file.display())).caused_by(error)
    };
    config::create_folder_of(file).map_err(failed)?;
    file::replace(file, text.as_bytes(), config::access_of(file), Durability::Synced).map_err(failed)
}
