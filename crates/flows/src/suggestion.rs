//! Proposes labels from the annotations of tools and from names, as YAML with a reason for each glob. Claims and names
//! prove nothing: a user reads the proposal, changes it and pastes it.

mod rules;
mod words;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use report::count;
use serde_json::Value;

use rules::{Label, Reason, reason};
use words::Words;

/// Limit on the reasons that are named for one glob.
const REASONS: usize = 3;

/// Limit on the tools without a label that are named.
const UNLABELLED: usize = 50;

/// Limit on the width of the column of globs, in characters.
const COLUMN: usize = 48;

/// The tools of a server, each as MCP's `Tool`.
#[derive(Debug)]
pub struct Offer<'a> {
    /// The server's name in the configuration.
    pub server: &'a str,
    /// Its tools.
    pub tools: Vec<Value>,
}

/// The proposed section `flows` as YAML.
#[must_use]
pub fn suggestion(offers: &[Offer<'_>]) -> String {
    let mut text = String::from(
        "# Proposed from the annotations of tools, which are claims of their servers, and from names.\n\
         # Check each line and what is missing, then paste it into your configuration.\n\
         flows:\n",
    );
    for label in Label::ALL {
        let globs: Vec<(String, String)> = offers.iter().flat_map(|offer| globs(offer, label)).collect();
        // Writing to a string does not fail.
        let _ = writeln!(text, "  # {}", label.meaning());
        if globs.is_empty() {
            let _ = writeln!(text, "  {}: []", label.key());
            continue;
        }
        let _ = writeln!(text, "  {}:", label.key());
        let width = globs.iter().map(|(glob, _)| glob.len()).max().unwrap_or_default().min(COLUMN);
        for (glob, why) in globs {
            let _ = writeln!(text, "    - {glob:<width$}  # {why}");
        }
    }
    text + &unlabelled(offers)
}

/// The globs of a server's tools with a label, each with the reason.
fn globs(offer: &Offer<'_>, label: Label) -> Vec<(String, String)> {
    let all: BTreeMap<&str, Option<Reason>> = named(offer)
        .map(|(name, tool)| (name, reason(label, &Words::of(offer.server), &Words::of(name), tool)))
        .collect();
    let mut globs: BTreeMap<String, Vec<Reason>> = BTreeMap::new();
    for (name, reason) in all.iter().filter_map(|(name, reason)| Some((name, reason.clone()?))) {
        let prefixes = ["", words::prefix(name)];
        let covers = |prefix: &&str| {
            let mut others = all.iter().filter(|(other, _)| other.starts_with(prefix));
            others.clone().count() > 1 && others.all(|(_, reason)| reason.is_some())
        };
        let glob = match prefixes.into_iter().find(covers) {
            Some(prefix) => format!("{}.{prefix}*", offer.server),
            None => format!("{}.{name}", offer.server),
        };
        globs.entry(glob).or_default().push(reason);
    }
    globs.into_iter().map(|(glob, reasons)| (scalar(&glob), why(&reasons))).collect()
}

/// The reasons for a glob, each once.
fn why(reasons: &[Reason]) -> String {
    let mut different: Vec<String> = Vec::new();
    for reason in reasons.iter().map(ToString::to_string) {
        if !different.contains(&reason) {
            different.push(reason);
        }
    }
    let more = different.len().saturating_sub(REASONS);
    different.truncate(REASONS);
    let tools = if reasons.len() > 1 { format!("{}: ", count(reasons.len(), "tool")) } else { String::new() };
    let more = if more > 0 { format!("; {more} more") } else { String::new() };
    format!("{tools}{}{more}", different.join("; "))
}

/// Names the tools that got no label, as a comment.
fn unlabelled(offers: &[Offer<'_>]) -> String {
    let has_label = |offer: &Offer<'_>, name: &str, tool: &Value| {
        let (server, words) = (Words::of(offer.server), Words::of(name));
        Label::ALL.into_iter().any(|label| reason(label, &server, &words, tool).is_some())
    };
    let mut names: Vec<String> = offers
        .iter()
        .flat_map(|offer| {
            let others = named(offer).filter(|(name, tool)| !has_label(offer, name, tool));
            others.map(|(name, _)| printable::name(&format!("{}.{name}", offer.server)))
        })
        .collect();
    if names.is_empty() {
        return String::new();
    }
    let mut text = format!("# {} without a label:\n", count(names.len(), "tool"));
    let more = names.len().saturating_sub(UNLABELLED);
    names.truncate(UNLABELLED);
    names.iter().for_each(|name| text.push_str(&format!("#   {name}\n")));
    if more > 0 {
        text.push_str(&format!("#   and {more} more, which `toolsmith mcp tools` lists\n"));
    }
    text
}

fn named<'a>(offer: &'a Offer<'_>) -> impl Iterator<Item = (&'a str, &'a Value)> {
    offer.tools.iter().filter_map(|tool| Some((tool["name"].as_str()?, tool)))
}

/// A glob as a YAML scalar: quoted if it has characters that could mean something else.
fn scalar(glob: &str) -> String {
    let is_plain =
        glob.chars().all(|character| character.is_ascii_alphanumeric() || "_-.*".contains(character));
    if is_plain && glob.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return glob.to_owned();
    }
    printable::json(&Value::from(glob).to_string()).into_owned()
}

#[cfg(test)]
mod tests;
