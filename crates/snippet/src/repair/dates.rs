//! Dates and times as arguments whose schema has their format: they are written in it.

use super::edit::Edit;
use crate::hints::Slip;
use crate::hints::arguments;
use crate::messages::{mismatch, quoted};

/// The edits for a date where a text in its format is expected.
pub(super) fn edits(slip: &Slip<'_>) -> Option<Vec<Edit>> {
    let message = slip.message;
    let found = match message.code() {
        "E0277" => {
            let bound = *message.quoted().first()?;
            let bound = bound.strip_prefix("std::string::").unwrap_or(bound);
            match bound.strip_prefix("String: From<").and_then(|rest| rest.strip_suffix('>')) {
                Some(found) => found,
                None if message.message.starts_with("the argument must be a `String`") => {
                    *quoted(&message.message).last()?
                }
                None => return None,
            }
        }
        "E0308" => mismatch(message.label()).filter(|(expected, _)| *expected == "String")?.1,
        _ => return None,
    };
    let found = found.trim_start_matches('&').replace("chrono::", "");
    let parameter = arguments::around(slip, slip.at)?;
    let remark = parameter.remark();
    let has = |format: &str| remark.split(';').any(|fact| fact.trim() == format);
    let method = match found.as_str() {
        "NaiveDate" if has("format date") || remark.contains("YYYY-MM-DD") => ".to_string()",
        other if other.starts_with("DateTime<") && has("format date-time") => ".to_rfc3339()",
        _ => return None,
    };
    let tokens = slip.tokens;
    let skipped = parameter.range.clone().take_while(|index| tokens.is_sign(*index, '&')).count();
    let start = tokens.range(parameter.range.start).start;
    let value = tokens.range(parameter.range.start + skipped).start;
    let end = tokens.range(parameter.range.end.checked_sub(1)?).end;
    let mut edits = vec![Edit::insert(end, method)];
    if skipped > 0 {
        edits.insert(0, Edit { start, end: value, text: String::new() });
    }
    let is_chain = arguments::is_chain(tokens, parameter.range.start + skipped..parameter.range.end);
    is_chain.then_some(edits)
}
