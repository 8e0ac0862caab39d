//! The names that snippets have in scope from the standard library and the crates for snippets, in addition to the
//! bridge's prelude.
//!
//! Only names that occur in a text are imported: the compiler reads a crate when something names it. They are imported
//! by glob, so that the snippet's own declarations and imports take precedence.

use std::collections::{BTreeMap, BTreeSet};

/// Names and their paths.
pub(crate) const NAMES: [(&str, &str); 43] = [
    ("Arc", "std::sync::Arc"),
    ("BinaryHeap", "std::collections::BinaryHeap"),
    ("BoxFuture", "futures::future::BoxFuture"),
    ("Captures", "regex::Captures"),
    ("Cell", "std::cell::Cell"),
    ("Cow", "std::borrow::Cow"),
    ("DateTime", "chrono::DateTime"),
    ("Datelike", "chrono::Datelike"),
    ("Display", "std::fmt::Display"),
    ("FixedOffset", "chrono::FixedOffset"),
    ("FromStr", "std::str::FromStr"),
    ("FutureExt", "futures::FutureExt"),
    ("FuturesUnordered", "futures::stream::FuturesUnordered"),
    ("Itertools", "itertools::Itertools"),
    ("JoinSet", "tokio::task::JoinSet"),
    ("LazyLock", "std::sync::LazyLock"),
    ("Local", "chrono::Local"),
    ("NaiveDate", "chrono::NaiveDate"),
    ("NaiveDateTime", "chrono::NaiveDateTime"),
    ("NaiveTime", "chrono::NaiveTime"),
    ("OnceLock", "std::sync::OnceLock"),
    ("Pin", "std::pin::Pin"),
    ("Rc", "std::rc::Rc"),
    ("RefCell", "std::cell::RefCell"),
    ("Regex", "regex::Regex"),
    ("RegexBuilder", "regex::RegexBuilder"),
    ("Reverse", "std::cmp::Reverse"),
    ("Semaphore", "tokio::sync::Semaphore"),
    ("StreamExt", "futures::StreamExt"),
    ("SystemTime", "std::time::SystemTime"),
    ("TimeDelta", "chrono::TimeDelta"),
    ("TimeZone", "chrono::TimeZone"),
    ("Timelike", "chrono::Timelike"),
    ("TryStreamExt", "futures::TryStreamExt"),
    ("UNIX_EPOCH", "std::time::UNIX_EPOCH"),
    ("Utc", "chrono::Utc"),
    ("Weekday", "chrono::Weekday"),
    ("join_all", "futures::future::join_all"),
    ("max", "std::cmp::max"),
    ("min", "std::cmp::min"),
    ("sleep", "tokio::time::sleep"),
    ("timeout", "tokio::time::timeout"),
    ("try_join_all", "futures::future::try_join_all"),
];

/// A name with two meanings: the usual one, and another one that parts of a text show.
struct Ambiguous {
    name: &'static str,
    usual: &'static str,
    other: &'static str,
    /// The signs of the usual meaning, and those of the other one, in a text without white space.
    signs: [&'static [&'static str]; 2],
}

/// Names whose meaning the text shows.
const AMBIGUOUS: [Ambiguous; 3] = [
    Ambiguous {
        name: "Mutex",
        usual: "std::sync::Mutex",
        other: "tokio::sync::Mutex",
        signs: [&[".lock().unwrap()", ".lock().expect("], &[".lock().await"]],
    },
    Ambiguous {
        name: "Ordering",
        usual: "std::cmp::Ordering",
        other: "std::sync::atomic::Ordering",
        signs: [
            &["Ordering::Equal", "Ordering::Greater", "Ordering::Less"],
            &["Ordering::Ac", "Ordering::Relaxed", "Ordering::Release", "Ordering::SeqCst"],
        ],
    },
    Ambiguous {
        name: "RwLock",
        usual: "std::sync::RwLock",
        other: "tokio::sync::RwLock",
        signs: [&[".read().unwrap()", ".write().unwrap()"], &[".read().await", ".write().await"]],
    },
];

impl Ambiguous {
    /// The path that a text means; `None` if it seems to mean both.
    fn path(&self, text: &str) -> Option<&'static str> {
        let [usual, other] = self.signs.map(|signs| signs.iter().any(|sign| text.contains(sign)));
        match (usual, other) {
            (true, true) => None,
            (_, false) => Some(self.usual),
            (false, true) => Some(self.other),
        }
    }
}

/// Methods and macros that need one of the traits called `Write`. No type has both, so that both are imported.
const WRITES: [&str; 7] = ["flush", "write", "write_all", "write_char", "write_fmt", "write_str", "writeln"];
const WRITE: [&str; 2] = ["std::fmt::Write", "std::io::Write"];

/// Traits of `chrono` whose methods are needed with any of its types.
const OF_CHRONO: [&str; 3] = ["chrono::Datelike", "chrono::TimeZone", "chrono::Timelike"];
/// The trait with the [`METHODS`].
pub(crate) const ITERTOOLS: &str = "itertools::Itertools";

/// Methods that iterators have only through `Itertools`.
#[rustfmt::skip]
pub(crate) const METHODS: [&str; 130] = [
    "all_equal", "all_equal_value", "all_unique", "array_combinations", "array_combinations_with_replacement",
    "at_most_one", "batching", "cartesian_product", "chunk_by", "chunks", "circular_array_windows",
    "circular_tuple_windows", "coalesce", "collect_array", "collect_tuple", "collect_vec", "combinations",
    "combinations_with_replacement", "concat", "contains", "counts", "counts_by", "dedup", "dedup_by",
    "dedup_by_with_count", "dedup_with_count", "dropping", "dropping_back", "duplicates", "duplicates_by",
    "exactly_one", "filter_map_ok", "filter_ok", "find_or_first", "find_or_last", "find_position",
    "flatten_ok", "fold_ok", "fold_while", "format", "format_with", "get", "interleave",
    "interleave_shortest", "intersperse", "intersperse_with", "into_group_map", "into_group_map_by",
    "into_grouping_map", "into_grouping_map_by", "join", "k_largest", "k_largest_by", "k_largest_by_key",
    "k_largest_relaxed", "k_largest_relaxed_by", "k_largest_relaxed_by_key", "k_smallest", "k_smallest_by",
    "k_smallest_by_key", "k_smallest_relaxed", "k_smallest_relaxed_by", "k_smallest_relaxed_by_key", "kmerge",
    "kmerge_by", "map_into", "map_ok", "max_set", "max_set_by", "max_set_by_key", "merge", "merge_by",
    "merge_join_by", "min_set", "min_set_by", "min_set_by_key", "minmax", "minmax_by", "minmax_by_key",
    "multi_cartesian_product", "multipeek", "multiunzip", "next_array", "next_tuple", "pad_using",
    "partition_map", "partition_result", "peeking_take_while", "permutations", "position_max",
    "position_max_by", "position_max_by_key", "position_min", "position_min_by", "position_min_by_key",
    "position_minmax", "position_minmax_by", "position_minmax_by_key", "positions", "powerset",
    "process_results", "product1", "set_from", "sorted", "sorted_by", "sorted_by_cached_key", "sorted_by_key",
    "sorted_unstable", "sorted_unstable_by", "sorted_unstable_by_key", "strip_prefix", "strip_prefix_by",
    "sum1", "tail", "take_while_inclusive", "take_while_ref", "tee", "tree_reduce", "try_collect", "try_len",
    "tuple_combinations", "tuple_windows", "tuples", "unique", "unique_by", "update", "while_some",
    "with_position", "zip_eq", "zip_longest",
];

/// The imports for a `text` that has these `identifiers` and declares `functions` itself; may be empty.
pub(crate) fn imports(text: &str, identifiers: &BTreeSet<String>, functions: &BTreeSet<String>) -> String {
    let mut paths: BTreeMap<&str, &str> = NAMES
        .into_iter()
        .filter(|(name, _)| identifiers.contains(*name))
        .map(|(name, path)| (path, name))
        .collect();
    for ambiguous in AMBIGUOUS.iter().filter(|ambiguous| identifiers.contains(ambiguous.name)) {
        let text: String = text.split_whitespace().collect();
        paths.extend(ambiguous.path(&text).map(|path| (path, ambiguous.name)));
    }
    let writes = WRITES.iter().any(|name| identifiers.contains(*name));
    if writes && WRITES.iter().all(|name| !functions.contains(*name)) {
        paths.extend(WRITE.map(|path| (path, "_")));
    }
    let names_chrono =
        identifiers.contains("chrono") || paths.keys().any(|path| path.starts_with("chrono::"));
    for path in OF_CHRONO.into_iter().filter(|_| names_chrono) {
        paths.entry(path).or_insert("_");
    }
    // A snippet's own method may have the name of one of the trait's, which would be ambiguous or wrong.
    let calls = METHODS.iter().any(|method| identifiers.contains(*method));
    if calls && METHODS.iter().all(|method| !functions.contains(*method)) {
        paths.entry(ITERTOOLS).or_insert("_");
    }
    if paths.is_empty() {
        return String::new();
    }
    let uses = paths.into_iter().map(|(path, name)| match name {
        "_" => format!("pub use ::{path} as _; "),
        _ => format!("pub use ::{path}; "),
    });
    let uses: String = uses.collect();
    format!("#[allow(unused_imports)] use self::__in_scope::*; mod __in_scope {{ {uses}}} ")
}

/// All imports, as the items of a module, for a program compiled on its own.
#[must_use]
pub fn all() -> String {
    let paths = NAMES.iter().map(|(_, path)| *path).chain(AMBIGUOUS.iter().map(|name| name.usual));
    let named = paths.map(|path| format!("    pub use {path};\n"));
    named.chain(WRITE.map(|path| format!("    pub use {path} as _;\n"))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{METHODS, NAMES, imports};
    use crate::hints::imports::CRATES;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_are_from_available_crates() {
        for (name, path) in NAMES {
            assert!(path.ends_with(&format!("::{name}")), "{path}");
            let root = path.split("::").next().unwrap();
            assert!(root == "std" || CRATES.contains(&root), "{path}");
        }
        assert!(NAMES.is_sorted() && METHODS.is_sorted());
    }

    #[test]
    fn only_names_in_the_text_are_imported() {
        let imports =
            |identifiers: &[&str], functions: &[&str]| imports("", &set(identifiers), &set(functions));
        assert_eq!(imports(&["println", "iter", "map"], &[]), "");
        assert!(imports(&["Regex"], &[]).contains("{ pub use ::regex::Regex; }"));
        assert!(imports(&["Utc"], &[]).contains("pub use ::chrono::Datelike as _;"));
        assert!(imports(&["sorted"], &[]).contains("pub use ::itertools::Itertools as _;"));
        assert_eq!(imports(&["sorted", "unique"], &["unique"]), "");
        assert!(imports(&["writeln"], &[]).contains("pub use ::std::fmt::Write as _;"));
        assert_eq!(imports(&["write"], &["write"]), "");
    }

    #[test]
    fn a_name_with_two_meanings_is_imported_as_the_text_means_it() {
        for (text, path) in [
            ("a.cmp(&b) == Ordering::Less", "{ pub use ::std::cmp::Ordering; }"),
            ("n.load(Ordering :: SeqCst)", "{ pub use ::std::sync::atomic::Ordering; }"),
            ("Ordering::Less; Ordering::SeqCst", ""),
            ("Mutex::new(1).lock().unwrap()", "{ pub use ::std::sync::Mutex; }"),
            ("m: Mutex<i32>; m.lock()\n.await", "{ pub use ::tokio::sync::Mutex; }"),
        ] {
            let name = if text.contains("Mutex") { "Mutex" } else { "Ordering" };
            let found = imports(text, &set(&[name]), &set(&[]));
            assert_eq!(found.split("mod __in_scope ").nth(1).unwrap_or("").trim(), path, "{text}");
        }
    }
}
