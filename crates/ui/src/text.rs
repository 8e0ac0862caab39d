//! Writes texts and numbers as pages show them. Nothing of an untrusted text is hidden or changes the order of others.

use maud::{Markup, html};
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
    // Narrow spaces at which no line is broken.
    let grouped = report::grouped(value.unsigned_abs()).replace(' ', "\u{202f}");
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

/// A time in UTC; the script writes it in the time zone of the browser.
pub(crate) fn time(at: i64) -> Markup {
    html! { time datetime=(of_milliseconds(at)) { (minute(at)) } }
}

/// Characters that stay together, at least; and at most, if they are of one word.
const KEPT_TOGETHER: usize = 12;
const LONGEST_WORD: usize = 40;

/// A text with places at which a browser may break it: between the words of a name, a path or an expression.
pub(crate) fn breakable(text: &str) -> Markup {
    let (mut parts, mut last, mut length) = (vec![String::new()], ' ', 0);
    for letter in text.chars() {
        let is_between = "./:<&#".contains(letter) && (last.is_alphanumeric() || ")]?>\"".contains(last))
            || "_,;=>(?&".contains(last) && letter.is_alphanumeric();
        if length >= LONGEST_WORD || length >= KEPT_TOGETHER && is_between {
            parts.push(String::new());
            length = 0;
        }
        length = if letter.is_whitespace() { 0 } else { length + 1 };
        last = letter;
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    html! { @for (place, part) in parts.iter().enumerate() { @if place > 0 { wbr; } (part) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_broken_between_their_words_only() {
        let broken = |text: &str| breakable(text).into_string().replace("<wbr>", "|");
        assert_eq!(broken("demo.list_orders at the same time"), "demo.list_orders at the same time");
        assert_eq!(
            broken("demo::list_orders().limit(2).await?.orders.len()"),
            "demo::list_orders()|.limit(2).await?|.orders.len()"
        );
        assert_eq!(broken("/home/somebody/of_the_project"), "/home/somebody|/of_the_project");
        assert_eq!(broken(&"a".repeat(90)), ["a".repeat(40), "a".repeat(40), "a".repeat(10)].join("|"));
        assert_eq!(broken("<script>"), "&lt;script&gt;");
    }

    #[test]
    fn digits_are_grouped() {
        let shown =
            [0, 12, 999, 1_000, 1_234_567, -45_000].map(number).map(|text| text.replace('\u{202f}', " "));
        assert_eq!(shown, ["0", "12", "999", "1 000", "1 234 567", "−45 000"]);
        assert_eq!((counted(1, "call"), counted(2, "call")), ("1 call".to_owned(), "2 calls".to_owned()));
    }
}
