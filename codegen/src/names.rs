//! Rust names of servers, tools, properties and values of schemas.
//!
//! The rules, the same for all:
//! 1. A name is split into words at each character that is not an ASCII letter or digit, and where the case
//!    changes (`listHTTPOrders` is `list`, `http`, `orders`). `+` is the word `plus`, a `-` before a
//!    number is the word `minus`, another character that is a letter or digit is `u` and its code point
//!    in hexadecimal; other characters only separate words.
//! 2. The words are joined as `snake_case` or `UpperCamelCase`. A name without words is `empty`; a name that would
//!    begin with a digit gets an `n` in front.
//! 3. A keyword or reserved name gets a `_` at its end.
//! 4. If two names collide, the one whose own spelling is the Rust name keeps it, then the one that
//!    sorts first (for properties: that comes first); the others get the suffix 2, 3, …, with a `_`
//!    between if the name ends in a digit.

use std::collections::{BTreeMap, BTreeSet};

/// The longest Rust name before a suffix, in bytes. Longer ones are cut.
const LONGEST: usize = 80;

const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield", "Self",
];

/// Crates in scope of a snippet, and modules and functions of its prelude.
const RESERVED_MODULES: &[&str] = &[
    "alloc",
    "anyhow",
    "args",
    "bail",
    "bridge",
    "chrono",
    "concurrently",
    "core",
    "describe_tools",
    "emit",
    "futures",
    "indexmap",
    "itertools",
    "json",
    "main",
    "mcp_resource_read",
    "mcp_resources_list",
    "proc_macro",
    "progress",
    "regex",
    "run",
    "search_tools",
    "serde",
    "serde_json",
    "snippet",
    "std",
    "test",
    "tokio",
    "tools",
];

/// Type names that generated code and snippets use for something else.
const RESERVED_TYPES: &[&str] = &[
    "Args",
    "BTreeMap",
    "BTreeSet",
    "Box",
    "Clone",
    "Content",
    "Debug",
    "Default",
    "Duration",
    "Err",
    "Eq",
    "F",
    "From",
    "Future",
    "HashMap",
    "HashSet",
    "Hash",
    "IndexMap",
    "Input",
    "Instant",
    "Into",
    "None",
    "Ok",
    "Option",
    "Other",
    "Output",
    "PartialEq",
    "Result",
    "Scalar",
    "Some",
    "String",
    "ToolError",
    "ToolErrorKind",
    "ToolResult",
    "Value",
    "Vec",
    "VecDeque",
];

/// The words of a name, lower case.
fn words(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().take(2 * LONGEST).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (index, &character) in characters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| characters.get(index)).copied();
        let after = characters.get(index + 1).copied();
        if starts_word(before, character, after) {
            words.push(std::mem::take(&mut word));
        }
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' => word.push(character.to_ascii_lowercase()),
            '+' => words.push("plus".to_owned()),
            '-' if is_sign(before, after) => words.push("minus".to_owned()),
            other if other.is_alphanumeric() => words.push(format!("u{:x}", u32::from(other))),
            _ => {}
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a new word starts at `character`.
fn starts_word(before: Option<char>, character: char, after: Option<char>) -> bool {
    if !character.is_ascii_alphanumeric() {
        return true;
    }
    let Some(before) = before else { return false };
    let lower_before = before.is_ascii_lowercase() || before.is_ascii_digit();
    let acronym_ends = before.is_ascii_uppercase() && after.is_some_and(|after| after.is_ascii_lowercase());
    character.is_ascii_uppercase() && (lower_before || acronym_ends)
}

fn is_sign(before: Option<char>, after: Option<char>) -> bool {
    before.is_none_or(|before| !before.is_alphanumeric()) && after.is_some_and(|after| after.is_ascii_digit())
}

/// The name in `snake_case`, not yet checked against keywords.
fn join_snake(name: &str) -> String {
    finish(words(name).join("_"), 'n')
}

fn finish(mut joined: String, digit_prefix: char) -> String {
    joined.truncate(LONGEST);
    while joined.ends_with('_') {
        joined.pop();
    }
    if joined.is_empty() {
        joined = if digit_prefix == 'N' { "Empty" } else { "empty" }.to_owned();
    }
    if joined.starts_with(|first: char| first.is_ascii_digit()) {
        joined.insert(0, digit_prefix);
    }
    joined
}

/// The name in `snake_case`, usable for a field, a function or an argument.
pub(crate) fn snake(name: &str) -> String {
    guard(join_snake(name), &[])
}

/// The name in `UpperCamelCase`, usable for a type or a variant.
pub(crate) fn camel(name: &str) -> String {
    let joined = words(name).iter().map(|word| capitalise(word)).collect();
    guard(finish(joined, 'N'), &[])
}

fn capitalise(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

fn guard(mut name: String, reserved: &[&str]) -> String {
    if KEYWORDS.contains(&name.as_str()) || reserved.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// The singular of an English plural, if the ending shows it.
pub(crate) fn singular(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let cut = |ending: usize, with: &str| format!("{}{with}", &name[..name.len() - ending]);
    match () {
        () if lower.ends_with("children") => cut(3, ""),
        () if lower.ends_with("people") => cut(4, "rson"),
        () if lower.ends_with("ies") && lower.len() > 4 && !lower.ends_with("series") => cut(3, "y"),
        () if ["sses", "xes", "ches", "shes", "zzes"].iter().any(|end| lower.ends_with(end)) => cut(2, ""),
        () if ["ss", "us", "is", "series", "species"].iter().any(|end| lower.ends_with(end)) => {
            name.to_owned()
        }
        () if lower.ends_with('s') && lower.len() > 1 => cut(1, ""),
        () => name.to_owned(),
    }
}

/// Whether the name in JSON follows from the field's name: it is the same, or the same in camel case.
pub(crate) fn is_guessable_key(key: &str, name: &str) -> bool {
    let is_camel = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric());
    is_same(key, name) || is_camel && snake(key) == name
}

/// Whether the text follows from the variant's name: it is the same, or the same in snake case.
pub(crate) fn is_guessable_text(text: &str, variant: &str) -> bool {
    is_same(text, variant) || is_same(text, &join_snake(variant)) && camel(text) == variant
}

/// Whether the function's name follows from the tool's, so that the latter says nothing more.
pub(crate) fn is_guessable_function(tool: &str, function: &str) -> bool {
    tool.is_ascii() && snake(tool) == function
}

/// Whether a name is the same in Rust, apart from a `_` that a keyword gets.
fn is_same(name: &str, rust: &str) -> bool {
    rust == name || rust.strip_suffix('_').is_some_and(|bare| bare == name && KEYWORDS.contains(&bare))
}

/// A set of names, each used once.
#[derive(Debug, Default)]
pub(crate) struct Namespace {
    taken: BTreeSet<String>,
}

impl Namespace {
    /// A namespace for types, with the names used by generated code reserved.
    pub(crate) fn of_types() -> Self {
        Namespace { taken: RESERVED_TYPES.iter().map(|&name| name.to_owned()).collect() }
    }

    /// Returns `preferred` if it is free, otherwise with the first free number appended.
    pub(crate) fn take(&mut self, preferred: &str) -> String {
        if self.taken.insert(preferred.to_owned()) {
            return preferred.to_owned();
        }
        let between = if preferred.ends_with(|last: char| last.is_ascii_digit()) { "_" } else { "" };
        let mut number = 2_u64;
        loop {
            let name = format!("{preferred}{between}{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }

    /// Whether the name is free.
    pub(crate) fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(name)
    }
}

/// Assigns every name in `names` a unique Rust name. Names that are valid in Rust already come first.
///
/// Within the two groups, the order of `names` decides.
pub(crate) fn assign<'a>(
    names: impl IntoIterator<Item = &'a str>,
    namespace: &mut Namespace,
    rust: impl Fn(&str) -> String,
) -> BTreeMap<String, String> {
    let names: Vec<&str> = names.into_iter().collect();
    let mut assigned = BTreeMap::new();
    for exact in [true, false] {
        for name in names.iter().copied() {
            let preferred = rust(name);
            if (preferred == name) == exact && !assigned.contains_key(name) {
                assigned.insert(name.to_owned(), namespace.take(&preferred));
            }
        }
    }
    assigned
}

/// The Rust name of each server's module, which is also the name of its crate.
///
/// Depends only on the set of names. Reserved are Rust's keywords, the crates that a snippet can use, and the
/// names of its prelude.
pub fn module_names<'a>(servers: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let sorted: BTreeSet<&str> = servers.into_iter().collect();
    assign(sorted.iter().copied(), &mut Namespace::default(), |name| {
        guard(join_snake(name), &[KEYWORDS, RESERVED_MODULES].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rust: impl Fn(&str) -> String, pairs: &[(&str, &str)]) {
        for (name, expected) in pairs {
            assert_eq!(rust(name), *expected, "{name:?}");
        }
    }

    #[test]
    fn names_become_words() {
        check(
            snake,
            &[
                ("read_text_file", "read_text_file"),
                ("listHTTPOrders", "list_http_orders"),
                ("type", "type_"),
                ("self", "self_"),
                ("$ref", "ref_"),
                ("@id", "id"),
                ("Foo Bar", "foo_bar"),
                ("1st", "n1st"),
                ("reactions-+1", "reactions_plus_1"),
                ("reactions--1", "reactions_minus_1"),
                ("", "empty"),
                ("__", "empty"),
                ("日本", "u65e5_u672c"),
                ("base64Data", "base64_data"),
            ],
        );
        check(camel, &[("foo_bar", "FooBar"), ("1", "N1"), ("Self", "Self_"), ("", "Empty"), ("a.b", "AB")]);
        check(
            singular,
            &[
                ("edits", "edit"),
                ("entities", "entity"),
                ("addresses", "address"),
                ("children", "child"),
                ("people", "person"),
                ("status", "status"),
                ("series", "series"),
                ("data", "data"),
                ("s", "s"),
            ],
        );
    }

    #[test]
    fn modules_are_distinct_and_do_not_depend_on_the_order() {
        let names = ["web-api", "web_api", "Web API", "tokio", "type", "1", "", "n1", "bridge"];
        let modules = module_names(names);
        let expected = [
            ("web_api", "web_api"),
            ("Web API", "web_api2"),
            ("web-api", "web_api3"),
            ("tokio", "tokio_"),
            ("type", "type_"),
            ("n1", "n1"),
            ("1", "n1_2"),
            ("", "empty"),
            ("bridge", "bridge_"),
        ];
        for (name, module) in expected {
            assert_eq!(modules[name], module, "{name:?}");
        }
        assert_eq!(module_names(names.into_iter().rev()), modules);
    }
}
