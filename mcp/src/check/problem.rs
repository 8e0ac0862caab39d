//! What is wrong with a call's arguments, in words for the one who wrote the call.

use jsonschema::JsonType;

/// How many problems are described; the others are counted.
const DESCRIBED: usize = 3;

/// How many problems are kept of one validator, so that there is something to count.
pub(super) const KEPT: usize = 1_000;

/// How many bytes a path has at most when shown.
const PATH_BYTES: usize = 120;

/// Something that is wrong at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// The steps that lead there, as they are shown.
    pub(super) path: Vec<String>,
    pub(super) text: String,
    pub(super) fault: Fault,
}

/// What a problem says about the alternative that it was found in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// A value of another type was wanted, one of these.
    Type(Vec<JsonType>),
    /// Another value was wanted, of a few.
    Value,
    Other,
}

/// Up to three problems, those nearest to the top, and how many more there are.
pub(super) fn describe(problems: &mut [Problem]) -> String {
    problems.sort_by_key(|problem| problem.path.len());
    let mut unique: Vec<String> = Vec::new();
    for problem in problems {
        let text = format!("at {}: {}", place(&problem.path), problem.text);
        if !unique.contains(&text) {
            unique.push(text);
        }
        if unique.len() >= KEPT {
            break;
        }
    }
    if unique.is_empty() {
        return "they do not fit the tool's input schema; they are too large to say where".to_owned();
    }
    let more = unique.len().saturating_sub(DESCRIBED);
    unique.truncate(DESCRIBED);
    if more > 0 {
        unique.push(format!("… and {more} more"));
    }
    unique.join("; ")
}

/// The path as one text; of a long one the end.
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
