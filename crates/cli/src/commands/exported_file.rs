//! A file of exported lines, which replaces an older one only when it is complete.

use std::io::{self, Write as _};
use std::path::Path;

use gateway::failure::Failure;
use report::Kind;
use system::file::{Access, Durability, Replacement};
use terminal::Terminal;

/// The file, while it is written.
pub(super) struct ExportedFile<'a> {
    path: &'a Path,
    file: Replacement,
}

impl<'a> ExportedFile<'a> {
    pub(super) fn begin(path: &'a Path) -> Result<Self, Failure> {
        let file = Replacement::begin(path, Access::Owner, Durability::Synced);
        Ok(ExportedFile { path, file: file.map_err(|error| failed(path, &error))? })
    }

    pub(super) fn line(&mut self, line: &str) -> Result<(), Failure> {
        writeln!(self.file, "{line}").map_err(|error| failed(self.path, &error))
    }

    /// Completes the file, and notes what it has.
    pub(super) fn end(self, content: &str, terminal: &Terminal) -> Result<(), Failure> {
        self.file.replace().map_err(|error| failed(self.path, &error))?;
        terminal.note(&format!("wrote {content} to {}", self.path.display()));
        Ok(())
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Kind::Output, format!("{} can't be written: {error}", path.display()))
        .hint(system::file::advice(error))
}
