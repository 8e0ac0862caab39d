//! Cuts long texts to head and tail, and stores the whole as a resource.

use runner::size;
use serde_json::{Value, json};

/// Maximum number of lines of a part. opencode shows a model only the first 2 000 lines of an answer, which has two
/// such parts, and drops the end without a note.
const LINES: usize = 800;

/// Stores a part that is too long for an answer under its name; returns its address.
pub(super) type Keep<'a> = &'a dyn Fn(&str, &str) -> String;

/// A text that may be cut, and a link to the whole.
pub(super) struct Cut {
    pub(super) shown: String,
    pub(super) link: Option<Value>,
}

/// Cuts a text to head and tail if it is too long, and then stores the whole as a resource.
pub(super) fn cut(part: &str, text: &str, room: usize, keep: Keep<'_>) -> Cut {
    if fits(text, room) {
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
pub(super) fn whole_at(address: &str) -> String {
    format!("; the whole is the resource {address}, in parts by ?offset=…&length=…")
}

/// Whether a text fits without cuts, in bytes and in lines.
fn fits(text: &str, room: usize) -> bool {
    text.len() <= room && text.lines().nth(LINES).is_none()
}

/// Three quarters of the room for the head, one for the tail.
pub(super) fn head_and_tail(text: &str, room: usize, more: &str) -> String {
    if fits(text, room) {
        return text.to_owned();
    }
    let mut ends = text.match_indices('\n').map(|(at, _)| at);
    let max_head = ends.nth(LINES / 4 * 3 - 1).unwrap_or(text.len());
    let head = text.floor_char_boundary((room / 4 * 3).min(max_head));
    let min_tail = text.rmatch_indices('\n').nth(LINES / 4 - 1).map_or(0, |(at, _)| at + 1);
    let tail = text.len().saturating_sub(room / 4).max(min_tail);
    let tail = text.ceil_char_boundary(tail).max(head);
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
    fn texts_with_many_short_lines_are_cut() {
        let lines = |count: usize| (1..=count).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        assert_eq!(head_and_tail(&lines(800), 100_000, ""), lines(800));
        let shown = head_and_tail(&lines(3_000), 100_000, "");
        let all: Vec<&str> = shown.lines().collect();
        assert_eq!((all.len(), all[0], all[599], all[601], all[800]), (801, "1", "600", "2801", "3000"));
        assert!(all[600].contains("are left out here"), "{}", all[600]);
        // The limit that is reached first applies.
        assert!(head_and_tail(&lines(3_000), 1_000, "").len() < 1_100);
    }
}
