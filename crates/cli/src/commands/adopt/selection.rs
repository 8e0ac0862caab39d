//! The selection of the servers to move: names that Toolsmith's configuration already has need a decision.

use std::collections::BTreeMap;

use clients::edit::{Editable, Entry};
use gateway::failure::Failure;
use gateway::terminal_prompter;
use serde_json::Value as Json;
use terminal::say;

use crate::arguments::AdoptArguments;

/// A server to move.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) entry: Entry,
    /// The different entry of this name that it replaces.
    pub(super) replaced: Option<Json>,
    /// Whether Toolsmith's configuration already has the server.
    pub(super) is_there: bool,
}

/// Chooses the servers. On a terminal, the user decides about each different server of the same name.
///
/// # Errors
/// If there are such servers, and neither a terminal nor `--replace`.
pub(super) async fn choose(
    arguments: &AdoptArguments,
    servers: Vec<(String, Entry)>,
    config: &Editable,
) -> Result<Vec<Chosen>, Failure> {
    let (mut chosen, mut clashes) = (Vec::new(), Vec::new());
    for (name, entry) in servers {
        let present = config.entry(&name)?;
        let is_there = present.as_ref().is_some_and(|present| is_same(present, &entry));
        let replaced = present.filter(|_| !is_there);
        if replaced.is_some() && !arguments.replace && !may_replace(&name, config).await {
            clashes.push(name);
            continue;
        }
        chosen.push(Chosen { name, entry, replaced, is_there });
    }
    if !clashes.is_empty() && terminal_prompter::of_command().is_none() {
        let (names, place) = (clashes.join(", "), config.path.display());
        let message = format!("{place} already has a different {names}; nothing is changed");
        return Err(Failure::command_line(message)
            .hint("replace existing servers: --replace")
            .hint("or rename them in the client"));
    }
    for name in clashes {
        say(format_args!("toolsmith: {name} stays in the client\n"));
    }
    Ok(chosen)
}

async fn may_replace(name: &str, config: &Editable) -> bool {
    let Some(user) = terminal_prompter::of_command() else { return false };
    let place = config.path.display();
    user.confirm(&format!("{place} already has a different {name}. Replace it?")).await
}

/// Whether an entry of Toolsmith's configuration describes the same server. Its permissions may differ, and either may
/// leave the transport open.
fn is_same(present: &Json, entry: &Entry) -> bool {
    const ACCESS: [&str; 4] = ["trust", "permission", "permissions", "sandbox"];
    let Json::Object(present) = present else { return false };
    let mut present: BTreeMap<_, _> =
        present.iter().filter(|(key, _)| !ACCESS.contains(&key.as_str())).collect();
    let mut entry: BTreeMap<_, _> = entry.iter().map(|(key, value)| (key, value)).collect();
    let kind = "type".to_owned();
    if !present.contains_key(&kind) || !entry.contains_key(&kind) {
        present.remove(&kind);
        entry.remove(&kind);
    }
    present == entry
}
