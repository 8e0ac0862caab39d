//! Which of the user's own servers may be called without asking: looked up, and written where a person says so.

use std::path::PathBuf;

use gateway::failure::Failure;
use serde_json::{Map, Value as Json, json};

use super::change::Change;
use super::file::Editable;
use super::{describe, save, tell};
use crate::arguments::Scope;

/// A server about whose tools a person is asked at every execution.
#[derive(Debug)]
pub(crate) struct Untrusted {
    pub(crate) name: String,
    /// What it starts or calls.
    pub(crate) does: String,
}

/// The servers in the user's own file that are switched on and have neither trust nor rules of their own.
///
/// # Errors
/// Where the file can't be read.
pub(crate) fn untrusted() -> Result<Vec<Untrusted>, Failure> {
    let file = Editable::open(Scope::User).map_err(Failure::configuration)?;
    let entries = file.entries().map_err(Failure::configuration)?;
    let asked = entries.into_iter().filter_map(|(name, entry)| {
        let Json::Object(entry) = entry else { return None };
        asks(&entry).then(|| {
            let entry: Vec<_> = entry.into_iter().collect();
            Untrusted { does: describe(&name, &entry), name }
        })
    });
    let mut asked: Vec<_> = asked.collect();
    asked.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(asked)
}

/// Whether all tools of a server are asked about, and nothing else is said of them.
pub(crate) fn asks(entry: &Map<String, Json>) -> bool {
    let is = |key: &str, value: Json| entry.get(key) == Some(&value);
    let permission = entry.get("permission").and_then(Json::as_str).unwrap_or("ask");
    permission == "ask"
        && !is("trust", json!(true))
        && !is("enabled", json!(false))
        && entry.get("permissions").is_none_or(Json::is_null)
}

/// Writes that all tools of these servers may be called; gives the file.
///
/// # Errors
/// Where the file has no such server or rules for it already, and where it can't be changed.
pub(crate) fn trust(names: &[String]) -> Result<PathBuf, Failure> {
    let mut file = Editable::open(Scope::User).map_err(Failure::configuration)?;
    for name in names {
        let Some(Json::Object(entry)) = file.entry(name).map_err(Failure::configuration)? else {
            return Err(super::unknown(&file, name));
        };
        if !asks(&entry) {
            tell(&format!("{name} has permissions of its own, which stay as they are"));
            continue;
        }
        // `trust` and `permission` in one entry contradict each other.
        let (key, value) = if entry.contains_key("permission") {
            ("permission", json!("allow"))
        } else {
            ("trust", json!(true))
        };
        file.change(name, &Change::Trusted(key, value)).map_err(Failure::configuration)?;
    }
    save(&file)?;
    Ok(file.path)
}
