//! The keywords that parts of a schema are joined with, and the account of what a check has cost.
//!
//! A keyword sees nothing but the value that it stands for. What it needs beyond that is one [`Run`] per check, which
//! lies in a variable of the thread while the check lasts.

use std::{cell::RefCell, sync::Arc};

use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::Value;

use super::{
    Part, format,
    pattern::{Match, Pattern},
    problem::{self, Problem},
};

/// The keyword that leads to another part; its value is the part's index.
pub(super) const PART: &str = "~part";

/// As `pattern`; its value is the pattern's index.
pub(super) const PATTERN: &str = "~pattern";

/// As `format`, for the formats that are checked.
pub(super) const FORMAT: &str = "~format";

/// How deep parts may lie within each other, in schemas. It keeps the stack that a check uses below that of building.
const MAX_DEPTH: usize = 256;

/// How many steps it takes to go into a part, beside what is done in it.
const STEPS_PER_PART: usize = 16;

/// How many bytes of text count as one place.
const BYTES_PER_STEP: usize = 64;

/// How many bytes of a path count as one place, where each problem may carry its path.
const PATH_BYTES_PER_STEP: usize = 64;

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

/// One check under way.
pub(super) struct Run {
    parts: Arc<[Part]>,
    steps: usize,
    /// How many steps may leave a problem in memory, if problems are looked for.
    keeping: Option<usize>,
    depth: usize,
    undecided: bool,
    /// What was found in parts, by the number that stands in the error of [`PART`].
    found: Vec<Vec<Problem>>,
}

impl Run {
    /// A check of so many steps at most, of which so many may leave a problem in memory.
    pub(super) fn new(parts: &Arc<[Part]>, steps: usize, keeping: Option<usize>) -> Self {
        Self { parts: Arc::clone(parts), steps, keeping, depth: 0, undecided: false, found: Vec::new() }
    }

    /// The answer of `check`, which may call this module's functions; none if it is undecided.
    pub(super) fn of<T>(self, check: impl FnOnce() -> T) -> Option<T> {
        RUN.set(Some(self));
        let answer = check();
        RUN.take().filter(|run| !run.undecided).map(|_| answer)
    }

    fn spend(&mut self, steps: usize) -> bool {
        let left = self.steps.checked_sub(steps);
        self.undecided |= left.is_none();
        self.steps = left.unwrap_or_default();
        !self.undecided
    }

    /// As `spend`, where each step may find a problem.
    fn spend_keeping(&mut self, steps: usize) -> bool {
        if let Some(keeping) = self.keeping {
            let left = keeping.checked_sub(steps);
            self.undecided |= left.is_none();
            self.keeping = left.or(Some(0));
        }
        self.spend(steps)
    }
}

/// Does something with the run under way.
fn with<T>(action: impl FnOnce(&mut Run) -> T) -> Option<T> {
    RUN.with_borrow_mut(|run| run.as_mut().map(action))
}

/// Being within a part, until it is dropped.
pub(super) struct Within {
    parts: Arc<[Part]>,
    index: usize,
}

impl Within {
    fn part(&self) -> Option<&Part> {
        self.parts.get(self.index)
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        let depth = self.part().map_or(0, |part| part.depth);
        with(|run| run.depth = run.depth.saturating_sub(depth));
    }
}

/// Goes into a part with a value, if there are steps and depth left for it.
pub(super) fn within(index: usize, value: &Value) -> Option<Within> {
    with(|run| {
        let parts = Arc::clone(&run.parts);
        let part = parts.get(index)?;
        run.undecided |= run.depth + part.depth > MAX_DEPTH;
        let enough = run.keeping.unwrap_or(run.steps).min(run.steps) / part.weight.max(1) + 1;
        let size = size(value, run.keeping.map(|_| 0), enough);
        if !run.spend_keeping(size.saturating_mul(part.weight)) || !run.spend(STEPS_PER_PART) {
            return None;
        }
        run.depth += part.depth;
        Some(Within { parts: Arc::clone(&parts), index })
    })?
}

/// How many places a value has, text and, if wanted, the path counted by length; or any number from `enough` on.
fn size(value: &Value, path: Option<usize>, enough: usize) -> usize {
    let mut size = 1 + path.unwrap_or_default() / PATH_BYTES_PER_STEP;
    match value {
        Value::String(text) => size += text.len() / BYTES_PER_STEP,
        Value::Array(items) => {
            for item in items.iter().take(enough) {
                size += self::size(item, path, enough.saturating_sub(size));
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter().take(enough) {
                let path = path.map(|path| path + name.len());
                size += self::size(member, path, enough.saturating_sub(size));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    size
}

/// Whether the value fits the part. What is undecided fits nothing, which ends the check soon.
pub(super) fn is_valid(index: usize, value: &Value) -> bool {
    within(index, value)
        .is_some_and(|within| within.part().is_some_and(|part| part.validator.is_valid(value)))
}

/// What was found in a part, by the number in the message of its error.
pub(super) fn found(number: &str) -> Vec<Problem> {
    let take = |run: &mut Run| run.found.get_mut(number.parse::<usize>().ok()?).map(std::mem::take);
    with(take).flatten().unwrap_or_default()
}

/// The options with this module's keywords.
pub(super) fn register(options: ValidationOptions<'_>, patterns: Vec<Arc<Pattern>>) -> ValidationOptions<'_> {
    fn index(value: &Value) -> Option<usize> {
        usize::try_from(value.as_u64()?).ok()
    }
    fn unknown<T>() -> Result<T, ValidationError<'static>> {
        Err(ValidationError::schema("the rewritten schema refers to something that it lacks"))
    }
    options
        .with_keyword(PART, |_, value, _| match index(value) {
            Some(index) => Ok(Box::new(PartKeyword { index })),
            None => unknown(),
        })
        .with_keyword(PATTERN, move |_, value, _| match index(value).and_then(|index| patterns.get(index)) {
            Some(pattern) => Ok(Box::new(PatternKeyword { pattern: Arc::clone(pattern) })),
            None => unknown(),
        })
        .with_keyword(FORMAT, |_, value, _| match value.as_str() {
            Some(name) => Ok(Box::new(FormatKeyword { name: name.to_owned() })),
            None => unknown(),
        })
}

struct PartKeyword {
    index: usize,
}

impl<'i> Keyword<'i> for PartKeyword {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        let Some(within) = within(self.index, value) else { return Ok(()) };
        let Some(part) = within.part() else { return Ok(()) };
        let problems = problem::problems(part.validator.iter_errors(value));
        if problems.is_empty() {
            return Ok(());
        }
        let number = with(|run| {
            run.found.push(problems);
            run.found.len() - 1
        });
        Err(ValidationError::custom(number.unwrap_or_default().to_string()))
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        is_valid(self.index, value)
    }
}

struct PatternKeyword {
    pattern: Arc<Pattern>,
}

impl<'i> Keyword<'i> for PatternKeyword {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        if Keyword::is_valid(self, value) {
            return Ok(());
        }
        Err(ValidationError::custom(format!("does not match the pattern {}", self.pattern.text())))
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        let Value::String(text) = value else { return true };
        let affordable = with(|run| run.spend(self.pattern.cost(text))).unwrap_or(false);
        let found = if affordable { self.pattern.matches(value, text) } else { Match::Undecided };
        match found {
            Match::Yes => true,
            Match::No => false,
            Match::Undecided => {
                with(|run| run.undecided = true);
                false
            }
        }
    }
}

struct FormatKeyword {
    name: String,
}

impl<'i> Keyword<'i> for FormatKeyword {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        match value.as_str().and_then(|text| format::complaint(&self.name, text)) {
            Some(complaint) => Err(ValidationError::custom(complaint)),
            None => Ok(()),
        }
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        value.as_str().is_none_or(|text| format::complaint(&self.name, text).is_none())
    }
}
