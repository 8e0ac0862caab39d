//! The table that the script prints at the end: one row per peer.

use std::fmt::Write as _;

const HEAD: [&str; 6] = ["peer", "version", "transport", "protocol", "tools", "result"];

/// A row of the table.
#[derive(Default)]
pub(crate) struct Row {
    pub(crate) peer: String,
    pub(crate) version: String,
    pub(crate) transport: &'static str,
    pub(crate) protocol: String,
    pub(crate) tools: String,
    /// The failure, if any.
    pub(crate) failure: Option<String>,
}

impl Row {
    fn cells(&self) -> [&str; 6] {
        let result = if self.failure.is_some() { "FAILED" } else { "ok" };
        [&self.peer, &self.version, self.transport, &self.protocol, &self.tools, result]
    }
}

/// Renders the table, followed by the full text of every failure.
pub(crate) fn render(rows: &[Row]) -> String {
    let mut widths = HEAD.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row.cells()) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut table = String::new();
    let mut line = |cells: [&str; 6]| {
        for (width, cell) in widths.iter().zip(cells) {
            let _ = write!(table, "{cell:width$}  ");
        }
        table.truncate(table.trim_end().len());
        table.push('\n');
    };
    line(HEAD);
    rows.iter().for_each(|row| line(row.cells()));
    for row in rows {
        if let Some(failure) = &row.failure {
            let _ = writeln!(table, "\n{} ({}): {failure}", row.peer, row.transport);
        }
    }
    table
}
