//! The keywords that connect the parts of a rewritten schema, and those for patterns and formats.

use std::sync::Arc;

use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::Value;

use super::{
    format,
    part::PART,
    pattern::{Match, Pattern},
    run::{self, with, within},
    validation_error::problems,
};

/// Like `pattern`; its value is the pattern's index.
pub(super) const PATTERN: &str = "~pattern";

/// Like `format`, for the formats that are checked.
pub(super) const FORMAT: &str = "~format";

/// Adds this module's keywords to the options.
pub(super) fn register(options: ValidationOptions<'_>, patterns: Vec<Arc<Pattern>>) -> ValidationOptions<'_> {
    fn index(value: &Value) -> Option<usize> {
        usize::try_from(value.as_u64()?).ok()
    }
    fn unknown<T>() -> Result<T, ValidationError<'static>> {
        Err(ValidationError::schema("the rewritten schema has a dangling reference"))
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
        let found = problems(part.validator.iter_errors(value));
        if found.is_empty() {
            return Ok(());
        }
        let number = with(|run| {
            run.found.push(found);
            run.found.len() - 1
        });
        Err(ValidationError::custom(number.unwrap_or_default().to_string()))
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        run::is_valid(self.index, value)
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
