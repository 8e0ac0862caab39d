//! Names that exist, but are not in scope: of the crates on offer, of the standard library, of bindings.
//!
//! The compiler does not look into a crate that nothing has named yet, so the usual names are listed here.

use super::Slip;
use super::lookup::Known;
use crate::messages::Message;

/// The crates on offer.
pub(crate) const CRATES: [&str; 8] =
    ["anyhow", "chrono", "futures", "itertools", "regex", "serde", "serde_json", "tokio"];

/// Types and traits that can only mean those of one crate on offer.
const NAMES: [(&str, &str); 24] = [
    ("BoxFuture", "futures::future::BoxFuture"),
    ("Captures", "regex::Captures"),
    ("DateTime", "chrono::DateTime"),
    ("Datelike", "chrono::Datelike"),
    ("FixedOffset", "chrono::FixedOffset"),
    ("FutureExt", "futures::FutureExt"),
    ("FuturesUnordered", "futures::stream::FuturesUnordered"),
    ("Itertools", "itertools::Itertools"),
    ("JoinSet", "tokio::task::JoinSet"),
    ("Local", "chrono::Local"),
    ("NaiveDate", "chrono::NaiveDate"),
    ("NaiveDateTime", "chrono::NaiveDateTime"),
    ("NaiveTime", "chrono::NaiveTime"),
    ("Regex", "regex::Regex"),
    ("RegexBuilder", "regex::RegexBuilder"),
    ("Semaphore", "tokio::sync::Semaphore"),
    ("StreamExt", "futures::StreamExt"),
    ("TimeDelta", "chrono::TimeDelta"),
    ("TimeZone", "chrono::TimeZone"),
    ("Timelike", "chrono::Timelike"),
    ("TryStreamExt", "futures::TryStreamExt"),
    ("Utc", "chrono::Utc"),
    ("join_all", "futures::future::join_all"),
    ("try_join_all", "futures::future::try_join_all"),
];

/// Functions that are meant if what they give is awaited; the standard library has others of these names.
const AWAITED: [(&str, &str); 2] = [("sleep", "tokio::time::sleep"), ("timeout", "tokio::time::timeout")];

/// Methods that iterators have only by `Itertools`.
const ITERTOOLS: [&str; 40] = [
    "all_equal",
    "all_unique",
    "at_most_one",
    "cartesian_product",
    "chunk_by",
    "collect_tuple",
    "collect_vec",
    "combinations",
    "counts",
    "counts_by",
    "dedup",
    "dedup_by",
    "duplicates",
    "exactly_one",
    "find_position",
    "fold_while",
    "format",
    "format_with",
    "interleave",
    "into_group_map",
    "into_group_map_by",
    "join",
    "k_smallest",
    "merge",
    "minmax",
    "minmax_by_key",
    "partition_map",
    "permutations",
    "position_max",
    "position_min",
    "sorted",
    "sorted_by",
    "sorted_by_key",
    "sorted_unstable",
    "tuple_windows",
    "tuples",
    "unique",
    "unique_by",
    "with_position",
    "zip_eq",
];

/// Errors of names, and of methods, that an import may help.
const NAME_CODES: [&str; 5] = ["E0405", "E0412", "E0422", "E0425", "E0433"];
const METHOD_CODES: [&str; 2] = ["E0599", "E0624"];

/// What may be imported for a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Candidates {
    /// Paths for `use`.
    pub(crate) paths: Vec<String>,
    /// Whether only this one can be meant.
    pub(crate) sure: bool,
}

/// What may be imported for the name that a message does not find.
pub(crate) fn candidates(slip: &Slip<'_>) -> Option<Candidates> {
    let code = slip.message.code();
    let suggested = suggested(slip);
    let sure = |path: &str| Some(Candidates { paths: vec![path.to_owned()], sure: true });
    if METHOD_CODES.contains(&code) {
        let is_tools = |name: &&str| !matches!(slip.lookup.known(name), Known::Other | Known::List(_));
        if slip.message.quoted().iter().any(is_tools) {
            return None;
        }
        match &suggested[..] {
            [] if code == "E0599" && ITERTOOLS.contains(&slip.name) && !is_own_type(slip) => {
                return sure("itertools::Itertools");
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
    if let Some((_, path)) = NAMES.iter().find(|(name, _)| *name == slip.name) {
        return sure(path);
    }
    if let Some((_, path)) = AWAITED.iter().find(|(name, _)| *name == slip.name)
        && is_awaited(slip)
    {
        return sure(path);
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

/// Whether the function at the place is called, and the call awaited.
fn is_awaited(slip: &Slip<'_>) -> bool {
    let end = slip.tokens.close(slip.at + 1).unwrap_or(slip.tokens.len());
    slip.tokens.is_sign(end + 1, '.') && slip.tokens.word(end + 2) == "await"
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
    use super::{CRATES, ITERTOOLS, NAMES};

    #[test]
    fn the_crates_are_those_on_offer() {
        let manifest: toml::Table = crate::layer::OFFER_MANIFEST.parse().unwrap();
        let offered = manifest["dependencies"].as_table().unwrap().keys();
        assert_eq!(offered.filter(|name| *name != "bridge").collect::<Vec<_>>(), CRATES);
        for (name, path) in NAMES {
            assert!(path.ends_with(&format!("::{name}")), "{path}");
            assert!(CRATES.contains(&path.split("::").next().unwrap()), "{path}");
        }
        assert!(NAMES.is_sorted() && ITERTOOLS.is_sorted());
    }
}
