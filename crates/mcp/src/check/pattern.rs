//! Patterns, matched in bounded time: linear in the text where the pattern allows it, otherwise with a limit.

use jsonschema::{PatternOptions, ValidationOptions, Validator, error::ValidationErrorKind};
use serde_json::{Value, json};

use super::ecma::portable;

/// Maximum size of a compiled pattern that counts as small, in bytes.
pub(super) const SMALL: usize = 64 * 1024;

/// Size limits of a compiled pattern, in bytes, each with the worst-case steps per byte of text. Repeated Unicode
/// classes need the last one: `^[\p{L} ]{1,50}$`.
const SIZES: [(usize, usize); 3] = [(8 * 1024, 32), (SMALL, 256), (4 * 1024 * 1024, 16 * 1024)];

/// Maximum length of a pattern, in bytes: translating its escapes takes time that grows with the square.
const MAX_PATTERN_BYTES: usize = 4096;

/// Limit on backtracking for a pattern with look-around or back-references.
const BACKTRACK_LIMIT: usize = 20_000;

/// Worst-case steps of such a pattern for each pair of bytes in the text: look-around may reach from any byte to any
/// other.
const STEPS_PER_PAIR: usize = 16;

/// A pattern that can be matched.
#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    /// As the engines read it.
    portable: String,
    validator: Validator,
    engine: Engine,
}

#[derive(Debug, Clone, Copy)]
enum Engine {
    /// With the size limit of the compiled pattern, and the worst-case steps per byte.
    Linear(usize, usize),
    Backtracking,
}

/// The result of matching a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Yes,
    No,
    /// The limit was reached.
    Undecided,
}

impl Pattern {
    /// Compiles the pattern, read as ECMA-262. Returns `None` if no engine supports it or it is too large. Only small
    /// ones compile in less than a millisecond.
    pub(super) fn new(text: &str, only_small: bool) -> Option<Self> {
        if text.len() > MAX_PATTERN_BYTES {
            return None;
        }
        let portable = portable(text);
        let schema = json!({ "pattern": portable });
        let build = |engine, options: ValidationOptions<'_>| {
            let validator = options.offline().build(&schema).ok()?;
            Some(Self { text: text.to_owned(), portable: portable.clone(), validator, engine })
        };
        let linear = |(size, steps)| {
            let options = PatternOptions::regex().size_limit(size);
            build(Engine::Linear(size, steps), jsonschema::options().with_pattern_options(options))
        };
        let sizes = SIZES.into_iter().filter(|(size, _)| *size <= SMALL || !only_small);
        sizes.into_iter().find_map(linear).or_else(|| {
            let options = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT).size_limit(SMALL);
            build(Engine::Backtracking, jsonschema::options().with_pattern_options(options))
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The pattern as the engines read it.
    pub(super) fn portable(&self) -> &str {
        &self.portable
    }

    /// Whether all engines agree on the result for every text.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.engine, Engine::Linear(..)) && !self.has_shorthands()
    }

    /// Whether the compiled pattern is at most [`SMALL`].
    pub(super) fn is_small(&self) -> bool {
        matches!(self.engine, Engine::Linear(size, _) if size <= SMALL)
    }

    /// Worst-case steps to match the text.
    pub(super) fn cost(&self, text: &str) -> usize {
        let length = text.len() + 1;
        match self.engine {
            Engine::Linear(_, steps) => length * steps,
            Engine::Backtracking => BACKTRACK_LIMIT / 8 + length.saturating_mul(length) * STEPS_PER_PAIR,
        }
    }

    /// Whether `text`, which is also `value`, matches.
    pub(super) fn matches(&self, value: &Value, text: &str) -> Match {
        match self.validator.validate(value) {
            Ok(()) => Match::Yes,
            Err(error) => match error.kind() {
                // In some engines `\w` is ASCII, in others all of Unicode; the server's engine is unknown.
                ValidationErrorKind::Pattern { .. } if text.is_ascii() || !self.has_shorthands() => Match::No,
                ValidationErrorKind::Pattern { .. } => Match::Yes,
                _ => Match::Undecided,
            },
        }
    }

    fn has_shorthands(&self) -> bool {
        let escapes = self.text.split('\\').skip(1);
        escapes.filter_map(|rest| rest.chars().next()).any(|letter| "wWdDsSbB".contains(letter))
    }
}
