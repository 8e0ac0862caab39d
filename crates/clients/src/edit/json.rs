//! Changes JSON files, and keeps their comments.

use config::tree::json_options;
use jsonc_parser::cst::{CstInputValue, CstObjectProp, CstRootNode};
use serde_json::Value as Json;

use super::change::{Change, ChangeError, Entry, SERVERS};
use super::line_json;

/// Returns the changed text, or the reason why it can't be changed.
pub(super) fn change(text: &str, name: &str, change: &Change) -> Result<String, ChangeError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    if let Change::Set(entry) = change {
        let entry = Json::Object(entry.iter().cloned().collect());
        if let Some(changed) = line_json::set(text, &[SERVERS], name, &entry) {
            return Ok(changed);
        }
    }
    let root = CstRootNode::parse(text, &json_options())?;
    let top = root.object_value_or_create().ok_or(ChangeError::NotAnObject)?;
    let servers = top.object_value_or_create(SERVERS).ok_or(ChangeError::Servers)?;
    let entry = servers.get(name);
    match (change, entry) {
        (Change::Set(value), Some(entry)) => entry.set_value(object(value)),
        (Change::Set(value), None) => drop(servers.append(name, object(value))),
        (Change::Remove, Some(entry)) => {
            entry.remove();
            if servers.properties().is_empty()
                && let Some(servers) = top.get(SERVERS)
            {
                servers.remove();
            }
        }
        (Change::Enabled(enabled), Some(entry)) => {
            put(&entry, "enabled", CstInputValue::Bool(*enabled))?;
        }
        (Change::Key(key, value), Some(entry)) => put(&entry, key, input(value))?,
        (Change::Remove | Change::Enabled(_) | Change::Key(..), None) => {
            return Err(ChangeError::NoEntry);
        }
    }
    Ok(root.to_string())
}

fn put(entry: &CstObjectProp, key: &str, value: CstInputValue) -> Result<(), ChangeError> {
    let entry = entry.object_value().ok_or(ChangeError::Entry)?;
    match entry.get(key) {
        Some(property) => property.set_value(value),
        None => drop(entry.append(key, value)),
    }
    Ok(())
}

fn object(entry: &Entry) -> CstInputValue {
    CstInputValue::Object(entry.iter().map(|(key, value)| (key.clone(), input(value))).collect())
}

/// Converts a value to the form that the editor writes.
pub(crate) fn input(value: &Json) -> CstInputValue {
    match value {
        Json::Null => CstInputValue::Null,
        Json::Bool(value) => CstInputValue::Bool(*value),
        Json::Number(number) => CstInputValue::Number(number.to_string()),
        Json::String(text) => CstInputValue::String(text.clone()),
        Json::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Json::Object(entries) => {
            CstInputValue::Object(entries.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
