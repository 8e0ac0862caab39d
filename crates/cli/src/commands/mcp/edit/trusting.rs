//! Finds the user's servers whose calls need permission, and writes the user's trust into their entries.

use std::path::PathBuf;

use clients::edit::{Change, Editable, Scope};
use gateway::failure::Failure;
use serde_json::{Map, Value as Json, json};

use super::{describe, report, save};

/// A server whose calls need the user's permission.
#[derive(Debug)]
pub(crate) struct Untrusted {
    pub(crate) name: String,
    /// Its command or URL, as text.
    pub(crate) description: String,
}

/// The enabled servers in the user's own file that have neither trust nor permissions.
///
/// # Errors
/// If the file can't be read.
pub(crate) fn untrusted() -> Result<Vec<Untrusted>, Failure> {
    let file = Editable::open(Scope::User)?;
    let entries = file.entries()?;
    let untrusted = entries.into_iter().filter_map(|(name, entry)| {
        let Json::Object(entry) = entry else { return None };
        asks(&entry).then(|| {
            let entry: Vec<_> = entry.into_iter().collect();
            Untrusted { description: describe(&name, &entry), name }
        })
    });
    let mut untrusted: Vec<_> = untrusted.collect();
    untrusted.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(untrusted)
}

/// Whether all tools of a server need permission, without rules for single tools.
pub(crate) fn asks(entry: &Map<String, Json>) -> bool {
    let is = |key: &str, value: Json| entry.get(key) == Some(&value);
    let permission = entry.get("permission").and_then(Json::as_str).unwrap_or("ask");
    permission == "ask"
        && !is("trust", json!(true))
        && !is("enabled", json!(false))
        && entry.get("permissions").is_none_or(Json::is_null)
}

/// Allows calls to all tools of these servers in the user's file, and returns its path. Servers with permissions are
/// reported and left unchanged.
///
/// # Errors
/// If the file has no such server or can't be changed.
pub(crate) fn trust(names: &[String]) -> Result<PathBuf, Failure> {
    let mut file = Editable::open(Scope::User)?;
    for name in names {
        let Some(Json::Object(entry)) = file.entry(name)? else {
            return Err(super::unknown(&file, name, None));
        };
        if !asks(&entry) {
            report(&format!("{name} already has permissions, which are unchanged"));
            continue;
        }
        // `trust` and `permission` in one entry contradict each other.
        let (key, value) = if entry.contains_key("permission") {
            ("permission", json!("allow"))
        } else {
            ("trust", json!(true))
        };
        file.change(name, &Change::Key(key.to_owned(), value))?;
    }
    save(&file)?;
    Ok(file.path)
}
