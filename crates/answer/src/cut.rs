//! Cuts long texts to head and tail, and stores the whole as a resource.

use runner::size;
use serde_json::{Value, json};

/// Maximum number of lines that are left of a text that is too long. opencode shows a model only the first 2 000 lines of
/// an answer, and leaves out the end of the text and the address of the whole.
const LINES: usize = 1_600;

/// Stores a part that is too long for an answer under its name; returns its address, which is empty if nothing is
/// stored.
pub type Keep<'a> = &'a dyn Fn(&str, &str) -> String;

/// A text that may be cut, and a link to the whole.
pub(crate) struct Cut {
    pub(crate) shown: String,
    pub(crate) link: Option<Value>,
}

/// Cuts a text to head and tail if it is too long, and then stores the whole as a resource.
pub(crate) fn cut(part: &str, text: &str, room: usize, keep: Keep<'_>) -> Cut {
    if text.len() <= room {
        return Cut { shown: text.to_owned(), link: None };
    }
    let address = keep(part, text);
    let shown = head_and_tail(text, room, &whole_at(&address));
    let link = json!({
        "type": "resource_link", "uri": address, "name": part, "mimeType": "text/plain", "size": text.len(),
        "description": format!("all {} of {part}", size(text.len())),
    });
    Cut { shown, link: Some(link) }
}

/// The note where the whole can be read.
pub(crate) fn whole_at(address: &str) -> String {
    if address.is_empty() {
        return String::new();
    }
    format!("; the whole is the resource {address}, in parts by ?offset=…&length=…")
}

/// Divides `room` among texts of these lengths: a text that needs less than its share leaves the rest to the others.
pub(crate) fn shares<const TEXTS: usize>(lengths: [usize; TEXTS], room: usize) -> [usize; TEXTS] {
    let mut shortest_first: [usize; TEXTS] = std::array::from_fn(|index| index);
    shortest_first.sort_by_key(|index| lengths[*index]);
    let (mut left, mut shares) = (room, lengths);
    for (served, index) in shortest_first.into_iter().enumerate() {
        shares[index] = lengths[index].min(left / (TEXTS - served));
        left -= shares[index];
    }
    shares
}

/// Three quarters of the room for the head, one for the tail.
pub(crate) fn head_and_tail(text: &str, room: usize, more: &str) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let mut ends = text.match_indices('\n').map(|(at, _)| at);
    let max_head = ends.nth(LINES / 4 * 3 - 1).unwrap_or(text.len());
    let head = text.floor_char_boundary((room / 4 * 3).min(max_head));
    let min_tail = text.rmatch_indices('\n').nth(LINES / 4 - 1).map_or(0, |(at, _)| at + 1);
    let tail = text.ceil_char_boundary((text.len() - room / 4).max(min_tail)).max(head);
    let (first, last) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    let (left_out, whole) = (size(tail - head), size(text.len()));
    format!("{first}\n[… {left_out} of {whole} are left out here{more} …]\n{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_to_head_and_tail_and_stored_whole() {
        let text = "ä".repeat(3_000);
        let kept = std::cell::RefCell::new(Vec::new());
        let keep = |part: &str, text: &str| {
            kept.borrow_mut().push((part.to_owned(), text.len()));
            "toolsmith://executions/1/stdout".to_owned()
        };
        let short = cut("stdout", "short", 1_000, &keep);
        assert!(short.shown == "short" && short.link.is_none() && kept.borrow().is_empty());
        let long = cut("stdout", &text, 1_000, &keep);
        assert_eq!(kept.borrow().as_slice(), [("stdout".to_owned(), 6_000)]);
        assert!(
            long.shown.len() < 1_300
                && long
                    .shown
                    .contains("of 5.9 KiB are left out here; the whole is the resource toolsmith://")
        );
        assert_eq!(long.link.unwrap()["size"], 6_000);
    }

    #[test]
    fn lines_count_only_in_a_text_that_is_too_long() {
        let lines = "a\n".repeat(10_000);
        assert_eq!(head_and_tail(&lines, 20_000, ""), lines);
        let lines = (1..=10_000).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        let shown = head_and_tail(&lines, 40_000, "");
        let all: Vec<&str> = shown.lines().collect();
        assert_eq!(
            (all.len(), all[0], all[1199], all[1201], all[1600]),
            (1601, "1", "1200", "9601", "10000")
        );
        assert!(all[1200].contains("are left out here"), "{}", all[1200]);
    }

    #[test]
    fn a_short_text_leaves_its_share_to_the_others() {
        assert_eq!(shares([10, 20, 30], 100), [10, 20, 30]);
        assert_eq!(shares([90, 0, 10, 0], 100), [90, 0, 10, 0]);
        assert_eq!(shares([90, 0, 20, 0], 100), [80, 0, 20, 0]);
        assert_eq!(shares([500, 300, 10], 100), [45, 45, 10]);
        assert_eq!(shares([1, 1], 0), [0, 0]);
    }
}
