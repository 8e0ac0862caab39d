//! The tables in pages of docs/ that the observations make. With `UPDATE_DOCS=1`, they are written into the page.

use std::{fmt::Write as _, fs, path::Path};

use crate::product::Checked;

/// A table of a page.
pub(crate) struct Page {
    /// The page's path.
    path: &'static str,
    /// Its name in the comments around it.
    name: &'static str,
    columns: Vec<&'static str>,
    rows: Vec<String>,
    /// Whether every observation of every row succeeded.
    is_whole: bool,
}

impl Page {
    /// An empty table.
    pub(crate) fn new(path: &'static str, name: &'static str) -> Self {
        Self { path, name, columns: Vec::new(), rows: Vec::new(), is_whole: true }
    }

    /// Adds a row, if every observation succeeded.
    pub(crate) fn add<'a>(&mut self, cells: impl IntoIterator<Item = (&'static str, Option<&'a str>)>) {
        let (columns, cells): (_, Vec<_>) = cells.into_iter().unzip();
        self.columns = columns;
        match cells.into_iter().collect::<Option<Vec<_>>>() {
            Some(cells) => self.rows.push(format!("| {} |", cells.join(" | "))),
            None => self.is_whole = false,
        }
    }

    /// The table.
    pub(crate) fn markdown(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let rule = " --- |".repeat(self.columns.len());
        let mut table = format!("| {} |\n|{rule}\n", self.columns.join(" | "));
        for row in &self.rows {
            let _ = writeln!(table, "{row}");
        }
        table
    }

    /// Compares the rows with those of the page. `is_all` says whether the table has every row.
    pub(crate) fn compare(&self, is_all: bool) -> Checked<()> {
        let shown = self.path;
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(shown);
        let text = fs::read_to_string(&path).map_err(|error| format!("{shown}: {error}"))?;
        let begin = format!("<!-- generated: {} -->\n", self.name);
        let parts = text.split_once(&begin).and_then(|(before, rest)| {
            rest.split_once("<!-- end -->").map(|(table, after)| (before, table, after))
        });
        let (before, table, after) = parts.ok_or_else(|| format!("{shown} has no part {}", begin.trim()))?;
        if is_all && self.is_whole && std::env::var_os("UPDATE_DOCS").is_some() {
            let text = format!("{before}{begin}\n{}\n<!-- end -->{after}", self.markdown());
            return fs::write(&path, text).map_err(|error| format!("{shown}: {error}"));
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
