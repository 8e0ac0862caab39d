//! Converts a validator's errors to problems.

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
    paths::{Location, LocationSegment},
};
use serde_json::Value;

use super::{
    part::PART,
    problem::{Fault, KEPT, Problem, place},
    run,
};
use crate::text::shown;

/// Maximum lengths, in bytes: of a message about a value, of the value in it, and of a list of values.
const TEXT_BYTES: usize = 1_200;
const VALUE_BYTES: usize = 60;
const CHOICES_BYTES: usize = 1_000;
/// Maximum number of values in a list.
const CHOICES: usize = 40;

/// Converts errors to problems.
pub(super) fn problems<'e>(errors: impl IntoIterator<Item = ValidationError<'e>>) -> Vec<Problem> {
    let mut found = Vec::new();
    for error in errors {
        of(&error, &mut found);
        if found.len() >= KEPT {
            break;
        }
    }
    found
}

fn of(error: &ValidationError<'_>, found: &mut Vec<Problem>) {
    let path = steps(error.instance_path());
    let value: &Value = error.instance();
    let mut at = |path: Vec<String>, text: &str, fault: Fault| {
        found.push(Problem { path, text: shown(text, TEXT_BYTES), fault });
    };
    let below = |name: &str| path.iter().cloned().chain([step(name)]).collect();
    match error.kind() {
        Kind::Required { property } => {
            at(below(property.as_str().unwrap_or_default()), "is required, but missing", Fault::Property);
        }
        Kind::AdditionalProperties { unexpected } => {
            for name in unexpected.iter().take(KEPT) {
                at(below(name), "is not a known property", Fault::Property);
            }
        }
        Kind::Type { kind } => {
            let types: Vec<JsonType> = match kind {
                TypeKind::Single(expected) => vec![*expected],
                TypeKind::Multiple(expected) => expected.iter().collect(),
            };
            let text = type_text(value, &types);
            at(path, &text, Fault::Type(types));
        }
        Kind::Enum { options } => at(path, &choices_text(value, options), Fault::Value),
        Kind::Constant { expected_value } => {
            at(path, &format!("{} is not {}", quoted(value), quoted(expected_value)), Fault::Value);
        }
        Kind::AnyOf { context } => {
            let branches = context.iter().map(|errors| {
                let mut branch = Vec::new();
                errors.iter().for_each(|error| of(error, &mut branch));
                branch
            });
            found.extend(closest(&path, value, branches.collect()));
        }
        Kind::Custom { keyword, message } if keyword == PART => {
            let within = run::found(message).into_iter();
            found.extend(within.map(|problem| Problem {
                path: path.iter().cloned().chain(problem.path).collect(),
                ..problem
            }));
        }
        Kind::PropertyNames { error } => {
            let mut inner = Vec::new();
            of(error, &mut inner);
            let reason = inner.first().map_or("does not match", |problem| problem.text.as_str());
            at(path, &format!("has a property with a name that is not allowed: {reason}"), Fault::Other);
        }
        kind => at(path, &text(kind, value), Fault::Other),
    }
}

/// Describes a value that matches none of several alternatives: the problems of the alternative that was most likely
/// meant.
fn closest(path: &[String], value: &Value, branches: Vec<Vec<Problem>>) -> Vec<Problem> {
    /// Rates how unlikely it is that a branch is the one meant, by its type, its value, or the value of a property.
    fn distance(problem: &Problem, depth: usize) -> usize {
        match (&problem.fault, problem.path.len().saturating_sub(depth)) {
            (Fault::Type(_), 0) => 3,
            (Fault::Value, 0) => 2,
            (Fault::Value, 1) => 1,
            _ => 0,
        }
    }
    let farthest = |branch: &Vec<Problem>| {
        branch.iter().map(|problem| distance(problem, path.len())).max().unwrap_or_default()
    };
    let total = branches.len();
    let mut branches: Vec<(usize, Vec<Problem>)> = branches
        .into_iter()
        .filter(|branch| !branch.is_empty())
        .map(|branch| (farthest(&branch), branch))
        .collect();
    let nearest = branches.iter().map(|(distance, _)| *distance).min().unwrap_or_default();
    if nearest == 3 {
        let mut types: Vec<JsonType> =
            branches.iter().flat_map(|(_, branch)| expected_types(branch, path)).collect();
        types.sort_unstable();
        types.dedup();
        let text = shown(&type_text(value, &types), TEXT_BYTES);
        return vec![Problem { path: path.to_vec(), text, fault: Fault::Type(types) }];
    }
    branches.retain(|(distance, _)| *distance == nearest);
    let several = branches.len() > 1;
    branches.sort_by_key(|(_, branch)| branch.len());
    let Some((_, branch)) = branches.into_iter().next() else { return Vec::new() };
    match branch.first() {
        Some(first) if several => {
            let place = match first.path.get(path.len()..) {
                None | Some([]) => String::new(),
                Some(rest) => format!("{} ", place(rest)),
            };
            let text =
                format!("matches none of the {total} alternatives; of the closest, {place}{}", first.text);
            let text = shown(&text, TEXT_BYTES);
            vec![Problem { path: path.to_vec(), text, fault: Fault::Other }]
        }
        _ => branch,
    }
}

/// The types that an alternative expects at the path.
fn expected_types(branch: &[Problem], path: &[String]) -> Vec<JsonType> {
    let types = branch.iter().filter(|problem| problem.path.len() <= path.len());
    let types = types.filter_map(|problem| match &problem.fault {
        Fault::Type(types) => Some(types.clone()),
        _ => None,
    });
    types.flatten().collect()
}

/// Describes the problem, as in "500 is more than the maximum 100".
fn text(kind: &Kind, value: &Value) -> String {
    let quoted = quoted(value);
    let length = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    match kind {
        Kind::Maximum { limit } => format!("{quoted} is more than the maximum {limit}"),
        Kind::Minimum { limit } => format!("{quoted} is less than the minimum {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("{quoted} is not less than {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("{quoted} is not more than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("{quoted} is not a multiple of {multiple_of}"),
        Kind::MaxLength { limit } => format!("{quoted} is longer than {}", counted(*limit, "character")),
        Kind::MinLength { limit } => format!("{quoted} is shorter than {}", counted(*limit, "character")),
        Kind::MaxItems { limit } => format!("has {length} items, more than {limit}"),
        Kind::MinItems { limit } => format!("has {length} items, fewer than {limit}"),
        Kind::AdditionalItems { limit } => format!("has {length} items, more than {limit}"),
        Kind::MaxProperties { limit } => format!("has {length} properties, more than {limit}"),
        Kind::MinProperties { limit } => format!("has {length} properties, fewer than {limit}"),
        Kind::UniqueItems => "has the same item more than once".to_owned(),
        Kind::Contains => "has not enough of the items that it must contain".to_owned(),
        Kind::FalseSchema => "is not allowed here".to_owned(),
        Kind::Not { .. } => format!("{quoted} is what the schema forbids here"),
        Kind::Custom { message, .. } => format!("{quoted} {message}"),
        other => format!("{quoted} does not match `{}`", other.keyword()),
    }
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn type_text(value: &Value, wanted: &[JsonType]) -> String {
    let names: Vec<&str> = wanted.iter().map(|wanted| name(*wanted)).collect();
    let names = match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    };
    match (value, wanted) {
        (Value::Array(_) | Value::Object(_) | Value::Null, _) => format!("is {}, not {names}", quoted(value)),
        (Value::Number(_), [JsonType::Integer]) => format!("{} is not {names}", quoted(value)),
        _ => format!("{} is {}, not {names}", quoted(value), name(JsonType::from(value))),
    }
}

fn choices_text(value: &Value, options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    if let [only] = options {
        return format!("{} is not {}", quoted(value), quoted(only));
    }
    let mut left = CHOICES_BYTES;
    let fits = |choice: &String| {
        left = left.saturating_sub(choice.len());
        left > 0
    };
    let listed: Vec<String> = options.iter().take(CHOICES).map(quoted).take_while(fits).collect();
    let more = match options.len() - listed.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} is not one of {}{more}", quoted(value), listed.join(", "))
}

/// A short form of a value: scalars as JSON.
fn quoted(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => {
            // Cut first, so that a long text is not copied.
            let start: String = text.chars().take(VALUE_BYTES).collect();
            let quoted = shown(&Value::from(start.as_str()).to_string(), VALUE_BYTES);
            if start.len() < text.len() && !quoted.ends_with('…') { format!("{quoted}…") } else { quoted }
        }
        Value::Number(number) => {
            run::with(|run| run.written.text(number)).unwrap_or_else(|| number.to_string())
        }
        scalar => scalar.to_string(),
    }
}

fn name(wanted: JsonType) -> &'static str {
    match wanted {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

fn steps(path: &Location) -> Vec<String> {
    path.segments()
        .map(|segment| match segment {
            LocationSegment::Property(name) => step(&name),
            LocationSegment::Index(index) => format!("[{index}]"),
        })
        .collect()
}

/// The path step to a property.
fn step(name: &str) -> String {
    if !name.is_empty()
        && name.len() <= VALUE_BYTES
        && name.chars().all(|character| character.is_ascii_alphanumeric() || "_-$".contains(character))
    {
        return format!(".{name}");
    }
    format!("[{}]", quoted(&Value::from(name)))
}
