//! The values of a program's arguments: texts of the command line as JSON.

use std::collections::BTreeMap;

use gateway::failure::Failure;
use serde_json::value::{RawValue, to_raw_value};
use snippet::{Argument, ArgumentKind};

use crate::tool_arguments::object;

/// The members of the object of arguments. Their texts are kept, so that numbers arrive as they were written.
#[derive(Debug, Default)]
pub(super) struct Members(BTreeMap<String, Box<RawValue>>);

impl Members {
    /// Reads the values of a JSON object, if it is given.
    ///
    /// # Errors
    /// If it is no object.
    pub(super) fn of(args: Option<&str>) -> Result<Self, Failure> {
        let Some(args) = args else { return Ok(Members::default()) };
        let members = serde_json::from_str(object(args)?.get());
        members.map(Members).map_err(Failure::system)
    }

    /// Sets an argument to what was given for it.
    ///
    /// # Errors
    /// If that has another form.
    pub(super) fn set(&mut self, argument: &Argument, texts: &[&str]) -> Result<(), Failure> {
        let value = value(&argument.kind, texts).map_err(|(what, text)| {
            Failure::command_line(format!("the value of `{}` is not {what}: {text:?}", argument.name))
                .hint("all arguments can also be given as one JSON object: --args JSON")
        })?;
        self.0.insert(argument.name.clone(), value);
        Ok(())
    }

    /// The object, in canonical form.
    ///
    /// # Errors
    /// If a value has no canonical form.
    pub(super) fn object(&self) -> Result<Box<RawValue>, Failure> {
        let object = to_raw_value(&self.0).map_err(Failure::system)?;
        strict_json::canonical(&object)
            .map_err(|error| Failure::command_line(error.to_string()).caused_by(error))
    }
}

/// The JSON of `texts`; an error says what one of them is not.
fn value<'a>(kind: &ArgumentKind, texts: &[&'a str]) -> Result<Box<RawValue>, (&'static str, &'a str)> {
    let text = texts.last().copied().unwrap_or_default();
    match kind {
        ArgumentKind::Text | ArgumentKind::Choice(_) => to_raw_value(text).map_err(|_| ("a text", text)),
        ArgumentKind::Integer => number(text, "an integer", |text| text.parse::<i128>().is_ok()),
        ArgumentKind::Number => {
            number(text, "a number", |text| text.parse::<f64>().is_ok_and(f64::is_finite))
        }
        ArgumentKind::Flag => json(text).map_err(|()| ("`true` or `false`", text)),
        ArgumentKind::Json => json(text).map_err(|()| ("JSON", text)),
        ArgumentKind::List(inner) => {
            let values: Vec<Box<RawValue>> =
                texts.iter().map(|text| value(inner, &[text])).collect::<Result<_, _>>()?;
            to_raw_value(&values).map_err(|_| ("a list", text))
        }
    }
}

fn json(text: &str) -> Result<Box<RawValue>, ()> {
    serde_json::from_str(strict_json::without_mark(text)).map_err(|_| ())
}

/// A number, with the digits that were written.
fn number<'a>(
    text: &'a str,
    what: &'static str,
    is: impl Fn(&str) -> bool,
) -> Result<Box<RawValue>, (&'static str, &'a str)> {
    if !is(text) {
        return Err((what, text));
    }
    let text_of_json = text.strip_prefix('+').unwrap_or(text);
    json(text_of_json).map_err(|()| (what, text))
}
