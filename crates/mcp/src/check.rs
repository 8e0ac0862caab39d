//! Checks a call's arguments against the tool's input schema before they leave the host, so that violations of bounds,
//! patterns and formats, which Rust types do not express, give a clear local error. The caller decides whether to check
//! and what to do with an error.
//!
//! The server has the last word: it checks its arguments itself and may be more lenient than its schema. So this check
//! refuses only what the schema clearly forbids, and passes what it cannot decide:
//!
//! - **Sloppy schemas.** Keywords are read by their evident meaning, whatever `$schema` says: `exclusiveMinimum: true`,
//!   `items: [...]`, `dependencies`, OpenAPI's `nullable` and type names in capitals all work. Parts without a clear
//!   meaning are left out of the check: unknown types, malformed keywords, references that are dangling or point to the
//!   network, patterns that no engine here supports. `oneOf` requires at least one match, since overlapping
//!   alternatives are a common mistake; `additionalProperties` is ignored where several schemas describe one object; a
//!   required property with a default may be missing; `unevaluatedProperties` and `unevaluatedItems` are ignored. `not`
//!   and `if` count only if they can be decided exactly.
//! - **Formats.** Since 2019 the drafts call `format` an annotation, and servers differ in what they accept. The check
//!   asserts the widest common reading: `date-time` and `date` must begin with a year and must not have month 13, day
//!   32 or hour 25 (a missing zone, seconds or time are fine); `email` needs an `@` with text on both sides; `uri` a
//!   scheme; `uuid` 32 hexadecimal digits; `ipv4` and `ipv6` an address or network. An empty text passes, since it
//!   often means "no value". All other formats (`uint32`, `path`, `hostname`, ...) are ignored, and so are all formats
//!   under `not` and `if`.
//! - **Bounds.** Schemas and arguments are untrusted. If a schema is too large to build, nothing is checked against it;
//!   arguments that are too large or need too many steps pass unchecked.
//!
//! `jsonschema` does the validation, but never sees the server's schema itself: [`rewrite`] turns it into clean parts
//! without references, one for the root and one for each target of a reference; [`keywords`] connects the parts, and
//! [`run`] counts steps and depth. So there are no cycles to follow, no identifiers to resolve and nothing to fetch,
//! and the work in one part is at most the size of the part times the size of the value.

mod ecma;
mod format;
mod keywords;
mod part;
mod pattern;
mod problem;
mod reference;
mod rewrite;
mod run;
mod validation_error;
mod written;

use std::sync::Arc;

use jsonschema::PatternOptions;
use serde_json::{Value, value::RawValue};

pub use self::rewrite::SchemaError;
use self::{part::Part, run::Run, written::Written};
use crate::text::shown;

/// Largest arguments that are checked, in bytes. Parsed, they take up to 16 times as much, or [`MAX_CONTAINERS`] more.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Limit on objects and arrays in checked arguments. Each may take 0.7 KB when parsed.
const MAX_CONTAINERS: usize = 100_000;

/// Limit on the work of a check: nodes of the schema times nodes of the arguments. At a few nanoseconds each, it takes
/// less than a second.
const MAX_STEPS: usize = 20_000_000;

/// Limit on steps that may record a problem, some 300 bytes each, when collecting what is wrong.
const MAX_KEEPING_STEPS: usize = 500_000;

/// Limit on the quoted message of the validator, in bytes.
const REASON_BYTES: usize = 300;

/// Checks the arguments of one tool against the checkable part of its input schema.
///
/// Building one takes longer than a check; it may be used by several threads.
#[derive(Debug)]
pub struct InputCheck {
    parts: Arc<[Part]>,
}

/// The errors in the arguments of a call: up to three problems, and the number of further ones. One line of bounded
/// length, safe to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(String);

impl InputCheck {
    /// Prepares a check against the schema. Needs no network and no files, whatever the schema refers to.
    ///
    /// # Errors
    /// Returns an error if nothing can be checked against this schema. The tool may be usable all the same.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
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
                .map_err(|error| SchemaError::Invalid(shown(&error.masked().to_string(), REASON_BYTES)))?;
            Ok(Part { validator, weight: part.weight, depth: part.depth })
        };
        let parts: Result<Vec<Part>, SchemaError> = rewritten.parts.iter().map(build).collect();
        Ok(Self { parts: parts?.into() })
    }

    /// Checks the arguments. Invalid JSON, and whatever cannot be decided within the bounds, passes.
    ///
    /// # Errors
    /// Returns the problems and their places if the arguments are invalid.
    pub fn check(&self, arguments: &RawValue) -> Result<(), Invalid> {
        let Some(value) = parse(arguments.get()) else { return Ok(()) };
        let Some(root) = self.parts.first() else { return Ok(()) };
        let valid = Run::new(&self.parts, MAX_STEPS, None).of(|| run::is_valid(0, &value));
        if valid != Some(false) {
            return Ok(());
        }
        let mut run = Run::new(&self.parts, MAX_STEPS, Some(MAX_KEEPING_STEPS));
        run.written = Written::read(arguments.get());
        let problems = run.of(|| {
            let errors = run::within(0, &value).map(|_| root.validator.iter_errors(&value));
            validation_error::problems(errors.into_iter().flatten())
        });
        Err(Invalid(problem::describe(&mut problems.unwrap_or_default())))
    }
}

/// The arguments, unless they are too large.
fn parse(text: &str) -> Option<Value> {
    let containers = || memchr::memchr2_iter(b'{', b'[', text.as_bytes()).count();
    if text.len() > MAX_BYTES || containers() > MAX_CONTAINERS {
        return None;
    }
    serde_json::from_str(text).ok()
}
