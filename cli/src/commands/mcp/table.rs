//! Tables for the terminal, with cells on one line and control characters escaped.

use comfy_table::{Table, presets};

/// Maximum length of a cell, in characters.
const CELL: usize = 100;

/// Formats a table with these columns.
pub(crate) fn table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(columns.iter().map(|column| heading(column)));
    for row in rows {
        table.add_row(row.iter().map(|cell| short(cell, CELL)));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A key in camelCase as the heading of a column: `requestTimeout` is REQUEST TIMEOUT.
fn heading(key: &str) -> String {
    let mut heading = String::new();
    for letter in key.chars() {
        if letter.is_uppercase() {
            heading.push(' ');
        }
        heading.extend(letter.to_uppercase());
    }
    heading
}

/// Puts a text on one line, escapes its invisible characters, and shortens it to `length` characters.
pub(crate) fn short(text: &str, length: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short = printable::prose(&text);
    if let Some((end, _)) = short.char_indices().nth(length) {
        short.truncate(end);
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::{heading, short, table};

    #[test]
    fn cells_are_on_one_line_and_bounded() {
        assert_eq!(short("a\n  b\u{1b}[2J\u{202e}", 50), "a b\\u{1b}[2J\\u{202e}");
        assert_eq!(short("abcdef", 3), "abc…");
        let text = table(&["id", "what"], [vec!["x\ny".to_owned(), "z".repeat(500)]]);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert_eq!(["id", "mimeType", "called by"].map(heading), ["ID", "MIME TYPE", "CALLED BY"]);
        assert!(text.contains("ID") && text.contains("x y") && text.contains("zz…"), "{text}");
    }
}
