//! Counts in messages: "1 tool", "2 tools", "1 204".

use std::fmt::Display;

/// A number of things by their noun, in the plural unless there is exactly one: `count(2, "tool")` is "2 tools",
/// `count(0, "entry")` is "0 entries".
pub fn count<N: Copy + Display + From<u8> + PartialEq>(number: N, noun: &str) -> String {
    if number == N::from(1) {
        return format!("{number} {noun}");
    }
    format!("{number} {}", plural(noun))
}

/// A number with a space between each three digits: "12 345".
pub fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number from elsewhere in a bounded number of digits.
pub fn short_number(number: f64) -> String {
    match number.abs() {
        0.0 | 1e-6..1e15 => number.to_string(),
        _ => format!("{number:e}"),
    }
}

fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(|c| "aeiou".contains(c)) => format!("{stem}ies"),
        _ if noun.ends_with(['s', 'x']) || noun.ends_with("ch") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::{count, grouped, short_number};

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [4.0, 0.5, 0.0, 1e300, -1e300, 1e-300].map(short_number),
            ["4", "0.5", "0", "1e300", "-1e300", "1e-300"]
        );
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 12, 999, 1_000, 1_234_567].map(grouped), ["0", "12", "999", "1 000", "1 234 567"]);
    }

    #[test]
    fn only_one_thing_is_named_in_the_singular() {
        let counts =
            [(0, "tool"), (1, "tool"), (2, "tool"), (1, "entry"), (2, "entry"), (2, "day"), (3, "process")];
        let counted = counts.map(|(number, noun)| count(number, noun));
        let expected = ["0 tools", "1 tool", "2 tools", "1 entry", "2 entries", "2 days", "3 processes"];
        assert_eq!(counted, expected);
    }
}
