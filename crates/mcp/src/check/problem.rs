//! Describes what is wrong with a call's arguments, for the author of the call.

use jsonschema::JsonType;

/// Number of problems that are described; the others are only counted.
const DESCRIBED: usize = 3;

/// Number of problems kept per validator, so that there is something to count.
pub(super) const KEPT: usize = 1_000;

/// Maximum length of a path when shown, in bytes.
const PATH_BYTES: usize = 120;

/// One problem at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// The path to the place, as displayed steps.
    pub(super) path: Vec<String>,
    pub(super) text: String,
    pub(super) fault: Fault,
}

/// The evidence that a problem gives about the alternative in which it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The value should have one of these types.
    Type(Vec<JsonType>),
    /// The value should be one of a few others.
    Value,
    /// A property is missing or unknown; the text continues the property's path.
    Property,
    Other,
}

/// Up to three problems, those nearest to the root, and the number of further ones.
pub(super) fn describe(problems: &mut [Problem]) -> String {
    problems.sort_by_key(|problem| problem.path.len());
    let mut unique: Vec<String> = Vec::new();
    for problem in problems {
        let at = place(&problem.path);
        let text = match problem.fault {
            Fault::Property => format!("{at} {}", problem.text),
            _ => format!("at {at}: {}", problem.text),
        };
        if !unique.contains(&text) {
            unique.push(text);
        }
        if unique.len() >= KEPT {
            break;
        }
    }
    if unique.is_empty() {
        return "they do not match the tool's input schema; they are too large to report where".to_owned();
    }
    let more = unique.len().saturating_sub(DESCRIBED);
    unique.truncate(DESCRIBED);
    if more > 0 {
        unique.push(format!("… and {more} more"));
    }
    unique.join("; ")
}

/// The path as one text; of a long path, only the end.
pub(super) fn place(path: &[String]) -> String {
    if path.is_empty() {
        return "the top".to_owned();
    }
    let mut left = PATH_BYTES;
    let fits = |step: &&String| {
        left = left.saturating_sub(step.len());
        left > 0
    };
    let kept = path.iter().rev().take_while(fits).count().max(1);
    let end: String = path.iter().skip(path.len() - kept).map(String::as_str).collect();
    if kept < path.len() { format!("…{end}") } else { end }
}
