//! The tables in docs/clients.md that the observations make. With `UPDATE_DOCS=1`, they are written into the page.

use std::{fmt::Write as _, fs, path::Path};

use crate::product::Checked;

use super::Observation;

/// The page.
pub(super) const PATH: &str = "docs/clients.md";

/// A table of the page.
pub(super) struct Page {
    /// Its name in the comments around it.
    name: &'static str,
    /// Its columns after the agent and its version.
    aspects: Vec<&'static str>,
    rows: Vec<String>,
    /// Whether every observation of every agent succeeded.
    is_whole: bool,
}

impl Page {
    /// A table for what agents show their models.
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, aspects: Vec::new(), rows: Vec::new(), is_whole: true }
    }

    /// Adds an agent, if every observation succeeded.
    pub(super) fn add(&mut self, agent: &str, version: &str, observations: &[Observation]) {
        self.aspects = observations.iter().map(|(aspect, _)| *aspect).collect();
        let cells: Result<Vec<_>, _> = observations.iter().map(|(_, seen)| seen.as_deref()).collect();
        match cells {
            Ok(cells) => self.rows.push(format!("| {agent} | {version} | {} |", cells.join(" | "))),
            Err(_) => self.is_whole = false,
        }
    }

    /// The table.
    pub(super) fn markdown(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let rule = " --- |".repeat(self.aspects.len() + 2);
        let mut table = format!("| client | version | {} |\n|{rule}\n", self.aspects.join(" | "));
        for row in &self.rows {
            let _ = writeln!(table, "{row}");
        }
        table
    }

    /// Compares the rows with those of the page. `is_all` says whether the table has every agent.
    pub(super) fn compare(&self, is_all: bool) -> Checked<()> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PATH);
        let text = fs::read_to_string(&path).map_err(|error| format!("{PATH}: {error}"))?;
        let begin = format!("<!-- generated: {} -->\n", self.name);
        let parts = text.split_once(&begin).and_then(|(before, rest)| {
            rest.split_once("<!-- end -->").map(|(table, after)| (before, table, after))
        });
        let (before, table, after) = parts.ok_or_else(|| format!("{PATH} has no part {}", begin.trim()))?;
        if is_all && self.is_whole && std::env::var_os("UPDATE_DOCS").is_some() {
            let text = format!("{before}{begin}\n{}\n<!-- end -->{after}", self.markdown());
            return fs::write(&path, text).map_err(|error| format!("{PATH}: {error}"));
        }
        let is_same = !is_all || !self.is_whole || table.trim() == self.markdown().trim();
        let missing: Vec<_> =
            self.rows.iter().filter(|row| !table.contains(row.as_str())).map(String::as_str).collect();
        if is_same && missing.is_empty() {
            Ok(())
        } else {
            Err(format!(
                "differs from the table (UPDATE_DOCS=1 writes it); rows that it lacks:\n{}",
                missing.join("\n")
            ))
        }
    }
}
