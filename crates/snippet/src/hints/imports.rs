//! Names that exist but are not in scope: of the crates for snippets, the standard library and bindings.
//!
//! The usual names are in scope already ([`crate::in_scope`]); the compiler suggests imports for the others.

use super::lookup::Known;
use super::slip::Slip;
use crate::in_scope::{ITERTOOLS, METHODS};
use crate::messages::Message;

/// The crates available to snippets.
pub(crate) const CRATES: [&str; 9] =
    ["anyhow", "chrono", "futures", "indexmap", "itertools", "regex", "serde", "serde_json", "tokio"];

/// Errors about names and about methods that an import may fix.
const NAME_CODES: [&str; 5] = ["E0405", "E0412", "E0422", "E0425", "E0433"];
const METHOD_CODES: [&str; 2] = ["E0599", "E0624"];
/// Errors about a name that two glob imports bring into scope.
const AMBIGUOUS: [&str; 2] = ["E0659", "ambiguous_glob_imports"];

/// The possible imports for a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Candidates {
    /// Paths for `use`.
    pub(crate) paths: Vec<String>,
    /// Whether only this path can be meant.
    pub(crate) sure: bool,
}

/// The possible imports for a name that is not found, or is ambiguous.
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
        return sure(&format!("{}::{}", owner.module.name(), slip.name));
    }
    // A function like `sleep` may be meant from elsewhere, and still compile.
    let is_type = slip.name.starts_with(char::is_uppercase);
    let is_module = slip.message.children.iter().any(|child| child.message.contains("importing this module"));
    let sure = suggested.len() == 1 && (is_type || is_module);
    (!suggested.is_empty()).then_some(Candidates { paths: suggested, sure })
}

/// Whether the type that lacks the method is defined in the snippet.
fn is_own_type(slip: &Slip<'_>) -> bool {
    let name = slip.message.quoted().last().copied().unwrap_or("");
    let name = name.trim_start_matches('&').split('<').next().unwrap_or("");
    let mut words = slip.tokens.words();
    words.any(|(index, word)| matches!(word, "struct" | "enum") && slip.tokens.word(index + 1) == name)
}

/// The path of a name that the snippet's own glob import brings in; it takes precedence over what is in scope by
/// default.
fn own_glob(slip: &Slip<'_>) -> Option<String> {
    let spans = slip.message.children.iter().flat_map(|child: &Message| &child.spans);
    let mut globs = spans.filter(|span| span.is_primary).filter_map(|span| slip.source.range(span));
    let glob = globs.next().filter(|_| globs.next().is_none())?;
    let before = slip.tokens.at(glob.start).checked_sub(1)?;
    let path = slip.source.text.get(glob)?.strip_suffix('*')?;
    (slip.tokens.word(before) == "use").then(|| format!("{path}{}", slip.name))
}

/// The paths that the compiler suggests importing, except those that snippets can't name.
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
    fn crates_match_the_manifest() {
        const OFFER: &str = include_str!("../../../../runner/layer/offer/Cargo.toml");
        let manifest: toml::Table = OFFER.parse().unwrap();
        let offered = manifest["dependencies"].as_table().unwrap().keys();
        assert_eq!(offered.filter(|name| *name != "bridge").collect::<Vec<_>>(), CRATES);
    }
}
