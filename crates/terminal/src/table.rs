//! Tables for the terminal, with cells on one line and control characters escaped.

use crate::{Terminal, bold, stdout_has_colours};
use comfy_table::{Table, presets};

/// Maximum length of a cell, in characters.
const CELL: usize = 100;

/// Prints a table with these columns, its heading in bold if colours are enabled.
pub fn show_table(terminal: &Terminal, columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    let text = table(columns, rows);
    match text.split_once('\n') {
        // The cells are safe already.
        Some((heading, rows)) if stdout_has_colours() => {
            terminal.print_painted(&format!("{}\n{}", bold(heading), with_states(heading, rows)));
        }
        _ => terminal.print(&text),
    }
}

/// Colours the words of the column STATE.
fn with_states(heading: &str, rows: &str) -> String {
    let Some(before) = heading.find("STATE") else { return rows.to_owned() };
    let line = |line: &str| {
        let (Some(start), Some(rest)) = (line.get(..before), line.get(before..)) else {
            return line.to_owned();
        };
        let word = rest.split(' ').next().unwrap_or_default();
        let colour = match word {
            "ready" => 32,
            "error" => 31,
            "auth_required" => 33,
            _ => return line.to_owned(),
        };
        let rest = &rest[word.len()..];
        format!("{start}\x1b[{colour}m{word}\x1b[0m{rest}")
    };
    rows.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Formats a table with these columns.
pub fn table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
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
pub fn short(text: &str, length: usize) -> String {
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
    use super::{heading, short, table, with_states};

    #[test]
    fn states_have_colours_and_other_words_have_not() {
        let rows = "a   error  x\nb   ready  error\nlong name without its column\nc   ok";
        let coloured = with_states("ID  STATE  WHY", rows);
        let expected = "a   \u{1b}[31merror\u{1b}[0m  x\nb   \u{1b}[32mready\u{1b}[0m  error\nlong name without its \
                        column\nc   ok";
        assert_eq!(coloured, expected);
    }

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
