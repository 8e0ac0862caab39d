//! Names that exist, but are not in scope: of the crates on offer, of the standard library, of bindings.
//!
//! The usual names of crates are in scope ([`crate::in_scope`]); what the compiler suggests here is the rest.

use super::lookup::Known;
use super::slip::Slip;
use crate::in_scope::{ITERTOOLS, METHODS};
use crate::messages::Message;

/// The crates on offer.
pub(crate) const CRATES: [&str; 8] =
    ["anyhow", "chrono", "futures", "itertools", "regex", "serde", "serde_json", "tokio"];

/// Errors of names, and of methods, that an import may help.
const NAME_CODES: [&str; 5] = ["E0405", "E0412", "E0422", "E0425", "E0433"];
const METHOD_CODES: [&str; 2] = ["E0599", "E0624"];
/// The errors of a name that two glob imports bring.
const AMBIGUOUS: [&str; 2] = ["E0659", "ambiguous_glob_imports"];

/// What may be imported for a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Candidates {
    /// Paths for `use`.
    pub(crate) paths: Vec<String>,
    /// Whether only this one can be meant.
    pub(crate) sure: bool,
}

/// What may be imported for the name that a message does not find, or finds twice.
pub(crate) fn candidates(slip: &Slip<'_>) -> Option<Candidates> {
    let code = slip.message.code();
    if AMBIGUOUS.contains(&code) {
        return own_glob(slip).map(|path| Candidates { paths: vec![path], sure: true });
    }
    let suggested = suggested(slip);
    let sure = |path: &str| Some(Candidates { paths: vec![path.to_owned()], sure: true });
    if METHOD_CODES.contains(&code) {
        let is_tools = |name: &&str| !matches!(slip.lookup.known(name), Known::Other | Known::List(_));
        if slip.message.quoted().iter().any(is_tools) {
            return None;
        }
        match &suggested[..] {
            [] if code == "E0599" && METHODS.contains(&slip.name) && !is_own_type(slip) => {
                return sure(ITERTOOLS);
            }
            [] => return None,
            [only] => return sure(only),
            _ => return Some(Candidates { paths: suggested, sure: false }),
        }
    }
    let is_bare = slip.message.quoted().len() == 1 && slip.is_bare();
    if !NAME_CODES.contains(&code) || !is_bare || !slip.lookup.functions(slip.name).is_empty() {
        return None;
    }
    if let [owner] = slip.lookup.owners(slip.name)[..]
        && slip.lookup.is_named(owner.module)
    {
        return sure(&format!("{}::{}", owner.module.module, slip.name));
    }
    // A function such as `sleep` may be meant from elsewhere, and still compile.
    let is_type = slip.name.starts_with(char::is_uppercase);
    let is_module = slip.message.children.iter().any(|child| child.message.contains("importing this module"));
    let sure = suggested.len() == 1 && (is_type || is_module);
    (!suggested.is_empty()).then_some(Candidates { paths: suggested, sure })
}

/// Whether the type that a method is missed on is one of the snippet's.
fn is_own_type(slip: &Slip<'_>) -> bool {
    let name = slip.message.quoted().last().copied().unwrap_or("");
    let name = name.trim_start_matches('&').split('<').next().unwrap_or("");
    let mut words = slip.tokens.words();
    words.any(|(index, word)| matches!(word, "struct" | "enum") && slip.tokens.word(index + 1) == name)
}

/// Where a name comes from by a glob import of the snippet's own, which is meant if what is in scope anyway has it too.
fn own_glob(slip: &Slip<'_>) -> Option<String> {
    let spans = slip.message.children.iter().flat_map(|child: &Message| &child.spans);
    let mut globs = spans.filter(|span| span.is_primary).filter_map(|span| slip.source.range(span));
    let glob = globs.next().filter(|_| globs.next().is_none())?;
    let before = slip.tokens.at(glob.start).checked_sub(1)?;
    let path = slip.source.text.get(glob)?.strip_suffix('*')?;
    (slip.tokens.word(before) == "use").then(|| format!("{path}{}", slip.name))
}

/// The paths that the compiler suggests to import, without those that snippets can't name.
fn suggested(slip: &Slip<'_>) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let spans = slip.message.children.iter().flat_map(|child: &Message| &child.spans);
    for replacement in spans.filter_map(|span| span.suggested_replacement.as_deref()) {
        let path = replacement.trim().strip_prefix("use ").and_then(|rest| rest.strip_suffix(';'));
        let Some(path) = path.filter(|path| !path.contains(['\n', ';', '{'])) else { continue };
        let root = path.split("::").next().unwrap_or("");
        let is_known = matches!(root, "std" | "core" | "alloc") || CRATES.contains(&root);
        let is_known = is_known || slip.lookup.module(root).is_some();
        if is_known && !paths.iter().any(|other| other == path) {
            paths.push(path.to_owned());
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::CRATES;

    #[test]
    fn the_crates_are_those_on_offer() {
        let manifest: toml::Table = crate::layer::OFFER_MANIFEST.parse().unwrap();
        let offered = manifest["dependencies"].as_table().unwrap().keys();
        assert_eq!(offered.filter(|name| *name != "bridge").collect::<Vec<_>>(), CRATES);
    }
}
