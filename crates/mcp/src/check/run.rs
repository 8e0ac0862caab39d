//! One check in progress: the current part, the steps used so far, and the problems found.
//!
//! A keyword sees only its own value. Everything else it needs is in one [`Run`] per check, kept in a thread-local
//! variable during the check.

use std::{cell::RefCell, sync::Arc};

use serde_json::Value;

use super::{part::Part, problem::Problem, written::Written};

/// Maximum nesting of parts, in schemas. It keeps the stack that a check uses below that of building.
const MAX_DEPTH: usize = 256;

/// Steps to enter a part, in addition to the work in it.
const STEPS_PER_PART: usize = 16;

/// Bytes of text that count as one node.
const BYTES_PER_STEP: usize = 64;

/// Bytes of a path that count as one node, where each problem may carry its path.
const PATH_BYTES_PER_STEP: usize = 64;

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

/// One check in progress.
pub(super) struct Run {
    parts: Arc<[Part]>,
    steps: usize,
    /// The number of further steps that may record a problem, if problems are collected.
    keeping: Option<usize>,
    depth: usize,
    pub(super) undecided: bool,
    /// The problems found in parts, by the number in the error of [`PART`](super::part::PART).
    pub(super) found: Vec<Vec<Problem>>,
    /// The numbers of the arguments as messages show them.
    pub(super) written: Written,
}

impl Run {
    /// A check with these limits on steps, and on steps that may record a problem.
    pub(super) fn new(parts: &Arc<[Part]>, steps: usize, keeping: Option<usize>) -> Self {
        Self {
            parts: Arc::clone(parts),
            steps,
            keeping,
            depth: 0,
            undecided: false,
            found: Vec::new(),
            written: Written::default(),
        }
    }

    /// Runs `check`, which may call this module's functions. Returns `None` if it is undecided.
    pub(super) fn of<T>(self, check: impl FnOnce() -> T) -> Option<T> {
        RUN.set(Some(self));
        let answer = check();
        RUN.take().filter(|run| !run.undecided).map(|_| answer)
    }

    pub(super) fn spend(&mut self, steps: usize) -> bool {
        let left = self.steps.checked_sub(steps);
        self.undecided |= left.is_none();
        self.steps = left.unwrap_or_default();
        !self.undecided
    }

    /// Like `spend`, where each step may find a problem.
    fn spend_keeping(&mut self, steps: usize) -> bool {
        if let Some(keeping) = self.keeping {
            let left = keeping.checked_sub(steps);
            self.undecided |= left.is_none();
            self.keeping = left.or(Some(0));
        }
        self.spend(steps)
    }
}

/// Runs an action on the current check.
pub(super) fn with<T>(action: impl FnOnce(&mut Run) -> T) -> Option<T> {
    RUN.with_borrow_mut(|run| run.as_mut().map(action))
}

/// A guard for being within a part.
pub(super) struct Within {
    parts: Arc<[Part]>,
    index: usize,
}

impl Within {
    pub(super) fn part(&self) -> Option<&Part> {
        self.parts.get(self.index)
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        let depth = self.part().map_or(0, |part| part.depth);
        with(|run| run.depth = run.depth.saturating_sub(depth));
    }
}

/// Enters a part with a value, if enough steps and depth are left.
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

/// The number of nodes in a value, with text and (if `path` is set) paths counted by length; stops counting at
/// `enough`.
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

/// Whether the value matches the part. Returns false when undecided, which soon ends the check.
pub(super) fn is_valid(index: usize, value: &Value) -> bool {
    within(index, value)
        .is_some_and(|within| within.part().is_some_and(|part| part.validator.is_valid(value)))
}

/// Takes the problems found in a part, by the number in its error message.
pub(super) fn found(number: &str) -> Vec<Problem> {
    with(|run| run.found.get_mut(number.parse::<usize>().ok()?).map(std::mem::take))
        .flatten()
        .unwrap_or_default()
}
