//! Keywords about a value itself: type, choices, bounds, text.

use serde_json::{Number, Value, json};

use super::{Place, Rewriter, Schema, SchemaError, size};
use crate::check::{
    format,
    keywords::{FORMAT, PATTERN},
};

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

impl<'a> Rewriter<'a> {
    /// `type`, `enum` and `const`.
    pub(super) fn values(
        &mut self,
        schema: &'a Schema,
        place: Place,
        made: &mut Schema,
    ) -> Result<(), SchemaError> {
        let choices = match schema.get("enum") {
            Some(Value::Array(choices)) if !choices.is_empty() => Some(choices),
            Some(_) => Self::leave_out(place).map(|()| None)?,
            None => None,
        };
        if let Some(mut types) = Self::types(schema, place)? {
            // Some authors write OpenAPI's nullable this way.
            if choices.is_some_and(|choices| choices.contains(&Value::Null)) && !types.contains(&"null") {
                types.push("null");
            }
            made.insert("type".to_owned(), json!(types));
        }
        if let Some(choices) = choices {
            self.spend(choices.iter().filter_map(|choice| size(choice, usize::MAX)).sum(), place)?;
            if choices.iter().all(Value::is_string) {
                self.choices += choices.len();
            }
            made.insert("enum".to_owned(), json!(choices));
        }
        if let Some(value) = schema.get("const") {
            self.spend(size(value, usize::MAX).unwrap_or(0), place)?;
            made.insert("const".to_owned(), value.clone());
        }
        Ok(())
    }

    /// The types that a schema names, unless one of them is unknown or `any`.
    fn types(schema: &Schema, place: Place) -> Result<Option<Vec<&'static str>>, SchemaError> {
        let names = match schema.get("type") {
            None => return Ok(None),
            Some(Value::Array(names)) => names.as_slice(),
            Some(name) => std::slice::from_ref(name),
        };
        let is = |name: &Value, word: &str| name.as_str().is_some_and(|name| name.eq_ignore_ascii_case(word));
        if names.iter().any(|name| is(name, "any")) {
            return Ok(None);
        }
        let known = |name| TYPES.into_iter().find(|known| is(name, known));
        let mut types = Vec::new();
        for name in names {
            match known(name) {
                Some(known) if types.contains(&known) => {}
                Some(known) => types.push(known),
                None => return Self::leave_out(place).map(|()| None),
            }
        }
        if types.is_empty() {
            return Self::leave_out(place).map(|()| None);
        }
        Ok(Some(types))
    }

    /// `minimum` and `maximum`, exclusive or not, and `multipleOf`.
    pub(super) fn numbers(
        &mut self,
        schema: &'a Schema,
        place: Place,
        made: &mut Schema,
    ) -> Result<(), SchemaError> {
        let bounds = [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")];
        for (inclusive, exclusive) in bounds {
            let bound = Self::number(schema, inclusive, place)?;
            // In draft 4, a boolean says whether the bound next to it is exclusive.
            let (keyword, bound) = match schema.get(exclusive) {
                Some(Value::Bool(true)) => (exclusive, bound),
                Some(Value::Bool(false)) | None => (inclusive, bound),
                Some(_) => {
                    if let Some(bound) = Self::number(schema, exclusive, place)? {
                        made.insert(exclusive.to_owned(), Value::Number(bound.clone()));
                    }
                    (inclusive, bound)
                }
            };
            if let Some(bound) = bound {
                made.insert(keyword.to_owned(), Value::Number(bound.clone()));
            }
        }
        match Self::number(schema, "multipleOf", place)? {
            Some(factor) if factor.as_f64().is_some_and(|factor| factor > 0.0) => {
                made.insert("multipleOf".to_owned(), Value::Number(factor.clone()));
                Ok(())
            }
            Some(_) => Self::leave_out(place),
            None => Ok(()),
        }
    }

    fn number(schema: &'a Schema, keyword: &str, place: Place) -> Result<Option<&'a Number>, SchemaError> {
        match schema.get(keyword) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number)),
            Some(_) => Self::leave_out(place).map(|()| None),
        }
    }

    /// Copies bounds on lengths and counts.
    pub(super) fn counts(
        schema: &Schema,
        keywords: &[&str],
        place: Place,
        made: &mut Schema,
    ) -> Result<(), SchemaError> {
        for keyword in keywords {
            match schema.get(*keyword).map(count) {
                Some(Some(count)) => {
                    made.insert((*keyword).to_owned(), json!(count));
                }
                Some(None) => Self::leave_out(place)?,
                None => {}
            }
        }
        Ok(())
    }

    /// `minLength`, `maxLength`, `pattern` and `format`.
    pub(super) fn texts(
        &mut self,
        schema: &'a Schema,
        place: Place,
        made: &mut Schema,
    ) -> Result<(), SchemaError> {
        Self::counts(schema, &["minLength", "maxLength"], place, made)?;
        if let Some(pattern) = schema.get("pattern") {
            let index = pattern.as_str().and_then(|pattern| self.pattern(pattern));
            let usable = |index: &usize| {
                !place.exact || self.patterns.get(*index).is_some_and(|found| found.is_exact())
            };
            match index.filter(usable) {
                Some(index) => {
                    made.insert(PATTERN.to_owned(), json!(index));
                }
                None => Self::leave_out(place)?,
            }
        }
        let format = schema.get("format").and_then(Value::as_str);
        if let Some(format) = format.filter(|format| !place.exact && format::is_known(format)) {
            made.insert(FORMAT.to_owned(), json!(format));
        }
        Ok(())
    }
}

/// A count, also when written as `1.0`.
pub(super) fn count(value: &Value) -> Option<u64> {
    let whole = |number: f64| (0.0..=9e15).contains(&number) && number.fract() == 0.0;
    value.as_u64().or_else(|| value.as_f64().filter(|number| whole(*number)).map(|number| number as u64))
}
