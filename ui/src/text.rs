//! Writes texts and numbers as pages show them. Nothing of an untrusted text is hidden or changes the order of others.

use runner::size;
use system::calendar::{minute, of_milliseconds};

/// A text of several lines.
pub(crate) fn lines(text: &str) -> String {
    printable::lines(text)
}

/// A text on one line.
pub(crate) fn line(text: &str) -> String {
    printable::prose(text)
}

/// A number of bytes with its unit.
pub(crate) fn bytes(count: u64) -> String {
    size(usize::try_from(count).unwrap_or(usize::MAX))
}

/// A number with a space between each three digits: 12 345.
pub(crate) fn number(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    if value < 0 { format!("−{grouped}") } else { grouped }
}

/// A count with such spaces.
pub(crate) fn count(value: u64) -> String {
    number(i64::try_from(value).unwrap_or(i64::MAX))
}

/// A noun with its number: 1 call, 2 calls.
pub(crate) fn counted(value: u64, noun: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(value))
}

/// A time for people, and for the attribute `datetime`.
pub(crate) fn time(at: i64) -> (String, String) {
    (minute(at), of_milliseconds(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let shown =
            [0, 12, 999, 1_000, 1_234_567, -45_000].map(number).map(|text| text.replace('\u{202f}', " "));
        assert_eq!(shown, ["0", "12", "999", "1 000", "1 234 567", "−45 000"]);
        assert_eq!((counted(1, "call"), counted(2, "call")), ("1 call".to_owned(), "2 calls".to_owned()));
    }
}
