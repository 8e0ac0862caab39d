//! Checks a call's arguments against the tool's input schema before they leave the host, so that bounds, patterns and
//! formats that Rust types don't hold give a clear local error. Whether to check, and what becomes of a refusal, is
//! the caller's.
//!
//! The server has the last word: it checks its arguments itself, and may be more lenient than its schema. So this
//! check only refuses what the schema's clear intent forbids, and what it cannot decide it lets pass:
//!
//! - **Sloppy schemas.** Drafts are read by what their keywords mean: `exclusiveMinimum: true`, `items: [...]`,
//!   `dependencies`, OpenAPI's `nullable` and type names in capitals mean what they say whatever `$schema` says. What
//!   has no clear meaning is left out of the check: unknown types, malformed keywords, references to nowhere or to
//!   the network, patterns that no engine here knows. `oneOf` wants at least one, since alternatives that overlap are
//!   common mistakes; `additionalProperties` does not count where several schemas describe one object; a required
//!   property with a default may be missing; `unevaluatedProperties` and `unevaluatedItems` don't count. `not` and
//!   `if` count only if they can be decided exactly.
//! - **Formats.** Since 2019 the drafts call `format` an annotation, and servers differ in what they accept. The widest
//!   common reading is asserted: `date-time` and `date` want to begin with a year, and no month 13, day 32 or hour 25
//!   (a missing zone, seconds or time are fine); `email` wants an `@` with something around it; `uri` a scheme; `uuid`
//!   32 hexadecimal digits; `ipv4` and `ipv6` an address or network. An empty text passes, it often stands for
//!   nothing. All others (`uint32`, `path`, `hostname`, ...) are ignored, and so are all formats under `not` and `if`.
//! - **Bounds.** Schemas and arguments are untrusted. A schema that is too large to be built cannot be checked against,
//!   arguments that are too large or need too many steps pass unchecked.
//!
//! `jsonschema` does the validation, but never sees what the server wrote: [`rewrite`] makes clean parts without
//! references of it, one for the root and one for each target of a reference, and [`keywords`] leads from part to part,
//! while [`run`] counts steps and depth. So there are no cycles to follow, no identifiers to resolve and nothing to fetch, and the
//! work in one part is at most the size of the part times the size of the value.

mod format;
mod keywords;
mod part;
mod pattern;
mod problem;
mod reference;
mod rewrite;
mod run;
mod validation_error;

use std::sync::Arc;

use jsonschema::PatternOptions;
use serde_json::{Value, value::RawValue};

use self::{part::Part, run::Run};
use crate::text::shown;

/// How many bytes of arguments are checked. Parsed, they take up to 16 times as much, or [`MAX_CONTAINERS`] more.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// How many objects and arrays arguments may have to be checked. Each may take 0.7 KB when parsed.
const MAX_CONTAINERS: usize = 100_000;

/// How much work a check may be, in places of the schema times places of the arguments. At a few nanoseconds each it
/// is done in less than a second.
const MAX_STEPS: usize = 20_000_000;

/// How many steps may leave a problem in memory, some 300 bytes each, when it is found out what is wrong.
const MAX_KEEPING_STEPS: usize = 500_000;

/// How much of the validator's words a reason quotes, in bytes.
const REASON_BYTES: usize = 300;

/// The arguments of one tool, as far as its input schema says something about them that can be checked.
///
/// Building one takes longer than a check; it may be used by several threads.
#[derive(Debug)]
pub struct InputCheck {
    parts: Arc<[Part]>,
}

/// What is wrong with the arguments of a call: up to three places, and how many more there are. One line of bounded
/// length, fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(String);

impl InputCheck {
    /// Prepares to check against the schema. It needs no network and no files, whatever the schema refers to.
    ///
    /// # Errors
    /// The reason why nothing can be checked against this schema. The tool may well be usable all the same.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let rewritten = rewrite::rewrite(schema)?;
        let options = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex().size_limit(pattern::SMALL))
            .should_validate_formats(false)
            .offline();
        let options = keywords::register(options, rewritten.patterns);
        let build = |part: &rewrite::Part| {
            let validator = options
                .build(&part.schema)
                .map_err(|error| shown(&error.masked().to_string(), REASON_BYTES))?;
            Ok(Part { validator, weight: part.weight, depth: part.depth })
        };
        let parts: Result<Vec<Part>, String> = rewritten.parts.iter().map(build).collect();
        Ok(Self { parts: parts?.into() })
    }

    /// Says what is wrong with the arguments. What cannot be decided within the bounds, or is no JSON, passes.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn check(&self, arguments: &RawValue) -> Result<(), Invalid> {
        let Some(value) = parse(arguments.get()) else { return Ok(()) };
        let Some(root) = self.parts.first() else { return Ok(()) };
        let valid = Run::new(&self.parts, MAX_STEPS, None).of(|| run::is_valid(0, &value));
        if valid != Some(false) {
            return Ok(());
        }
        let problems = Run::new(&self.parts, MAX_STEPS, Some(MAX_KEEPING_STEPS)).of(|| {
            let errors = run::within(0, &value).map(|_| root.validator.iter_errors(&value));
            validation_error::problems(errors.into_iter().flatten())
        });
        Err(Invalid(problem::describe(&mut problems.unwrap_or_default())))
    }
}

/// The arguments, unless they are too large.
fn parse(text: &str) -> Option<Value> {
    let containers = || text.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count();
    if text.len() > MAX_BYTES || containers() > MAX_CONTAINERS {
        return None;
    }
    serde_json::from_str(text).ok()
}
