//! The snippets that the scripted model calls one after the other, and the checks of what it gets back.

use crate::product::Checked;

/// A picture of one pixel.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The number of lines of the long text.
const LINES: usize = 900;

/// A snippet, and the check of its result as the model sees it, which says in a few words what that is.
pub(super) struct Turn {
    pub(super) name: &'static str,
    pub(super) code: String,
    pub(super) check: fn(&str) -> Checked<&'static str>,
}

/// The results are computed, so that text of the call itself cannot match.
pub(super) fn turns() -> [Turn; 5] {
    [
        Turn {
            name: "text and value",
            code: "println!(\"printed-{}\", 6 * 7);\nlet said = demo::echo(format!(\"said-{}\", 6 * 8)).await?.text();\n(said, 6 * 9)".to_owned(),
            check: |seen| all(seen, &["printed-42", "said-48", "54"]).map(|()| "yes"),
        },
        Turn {
            name: "image",
            code: format!("emit(format!(\"text-{{}}\", 6 * 7));\nemit(Content::image({PICTURE:?}, \"image/png\"));"),
            check: image,
        },
        Turn {
            name: "error",
            code: "demo::ecko(\"x\").await?.text()".to_owned(),
            check: |seen| all(seen, &["E0425", "ecko", "`echo`"]).map(|()| "with its hint"),
        },
        Turn {
            name: "44 KiB",
            code: format!("for line in 0..{LINES} {{ println!(\"[{{line:04}}] {{}}\", \"m\".repeat(42)); }}\nformat!(\"the end of {{}}\", {LINES})"),
            check: long,
        },
        Turn {
            name: "denied call",
            code: "asked::echo(format!(\"said-{}\", 6 * 8)).await?.text()".to_owned(),
            check: |seen| all(seen, &["asked", "permission", "allow"]).map(|()| "with the line that allows it"),
        },
    ]
}

/// The image itself, or a note in its place.
fn image(seen: &str) -> Checked<&'static str> {
    all(seen, &["text-42"])?;
    if seen.contains(PICTURE) { Ok("yes") } else { all(seen, &["image/png"]).map(|()| "a note in its place") }
}

/// All lines, or some of them and a note.
fn long(seen: &str) -> Checked<&'static str> {
    all(seen, &["[0000] mmm"])?;
    let missing = (0..LINES).filter(|line| !seen.contains(&format!("[{line:04}] mmm"))).count();
    match missing {
        0 => all(seen, &["the end of 900"]).map(|()| "whole"),
        _ if seen.contains("too large") && seen.contains(".txt") => Ok("a part, and a file with all"),
        _ => Err(format!("{missing} lines are missing without a note in {}", short(seen))),
    }
}

/// Fails if one of the parts is missing.
pub(super) fn all(seen: &str, parts: &[&str]) -> Checked<()> {
    let missing: Vec<_> = parts.iter().filter(|part| !seen.contains(**part)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("{missing:?} is missing in {}", short(seen))) }
}

/// The start and the end of a text.
pub(super) fn short(text: &str) -> String {
    const SHOWN: usize = 1_500;
    let count = text.chars().count();
    if count <= 2 * SHOWN {
        return text.to_owned();
    }
    let head: String = text.chars().take(SHOWN).collect();
    let tail: String = text.chars().skip(count - SHOWN).collect();
    format!("{head} […] {tail}")
}
