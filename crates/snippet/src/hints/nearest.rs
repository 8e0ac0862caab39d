//! Finds names similar to one that does not exist.
//!
//! The results are only used in advice; nothing is ever replaced by them.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of names to suggest.
pub(crate) const NEAR_KEPT: usize = 3;
/// Maximum length of a compared name, in bytes; generated names are not longer.
const LONGEST: usize = 100;
/// Minimum similarity of letters, and of words, from 0 to 1.
const LIKE_LETTERS: f64 = 0.65;
const LIKE_WORDS: f64 = 0.5;
/// The weight of a word that says little about a tool.
const LIGHT: f64 = 0.3;
/// Such words.
const LIGHT_WORDS: [&str; 22] = [
    "a", "add", "all", "by", "create", "delete", "fetch", "find", "for", "from", "get", "in", "list", "make",
    "new", "of", "query", "read", "search", "set", "the", "to",
];

/// The `candidates` most similar to `name`, best first.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let candidates: BTreeSet<&str> = candidates.into_iter().filter(|name| name.len() <= LONGEST).collect();
    if name.len() > LONGEST {
        return Vec::new();
    }
    let words: Vec<BTreeSet<String>> = candidates.iter().map(|name| words(name)).collect();
    let mut common: BTreeMap<&str, f64> = BTreeMap::new();
    for word in words.iter().flatten() {
        *common.entry(word).or_default() += 1.0;
    }
    // A word common to many names distinguishes little between them.
    let weight = |word: &str| {
        let weight = if LIGHT_WORDS.contains(&word) { LIGHT } else { 1.0 };
        weight / (1.0 + common.get(word).copied().unwrap_or(1.0).ln())
    };
    let (letters, own_words) = (letters(name), self::words(name));
    let mut near: Vec<(f64, &str)> = Vec::new();
    for (name, words) in candidates.iter().zip(&words) {
        let like_letters = strsim::normalized_damerau_levenshtein(&letters, &self::letters(name));
        let like_words = overlap(&own_words, words, weight);
        if like_letters >= LIKE_LETTERS || like_words >= LIKE_WORDS {
            near.push((like_letters.max(like_words), name));
        }
    }
    near.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
    // A near-exact match leaves no doubt.
    let sure = near.first().is_some_and(|(best, _)| *best >= 0.99);
    near.into_iter().map(|(_, name)| name).take(if sure { 1 } else { NEAR_KEPT }).collect()
}

/// The weighted share of common words (Dice's coefficient).
fn overlap(one: &BTreeSet<String>, other: &BTreeSet<String>, weight: impl Fn(&str) -> f64) -> f64 {
    let sum = |words: &BTreeSet<String>| words.iter().map(|word| weight(word)).sum::<f64>();
    let both: f64 = one.intersection(other).map(|word| weight(word)).sum();
    2.0 * both / (sum(one) + sum(other)).max(f64::MIN_POSITIVE)
}

/// Letters and digits, in lower case.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a name in snake_case or camelCase, without a plural `s`.
fn words(name: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut lower = false;
    for character in name.chars().chain(['_']) {
        if !character.is_alphanumeric() || (character.is_uppercase() && lower) {
            let stem = word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(&word);
            if !stem.is_empty() {
                words.insert(stem.to_owned());
            }
            word.clear();
        }
        lower = character.is_lowercase() || character.is_numeric();
        word.extend(character.to_lowercase().filter(|c| c.is_alphanumeric()));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const TOOLS: [&str; 9] = [
        "create_note",
        "echo",
        "fail",
        "get_customer",
        "image",
        "json_response",
        "list_orders",
        "search_products",
        "slow",
    ];

    #[test]
    fn similar_names_are_found_by_letters_and_by_words() {
        for (name, best) in [
            ("list_order", "list_orders"),
            ("listOrders", "list_orders"),
            ("ListOrders", "list_orders"),
            ("listorders", "list_orders"),
            ("orders_list", "list_orders"),
            ("get_orders", "list_orders"),
            ("lsit_orders", "list_orders"),
            ("orders", "list_orders"),
            ("customer", "get_customer"),
            ("get_customers", "get_customer"),
            ("find_product", "search_products"),
            ("add_note", "create_note"),
            ("ehco", "echo"),
        ] {
            assert_eq!(nearest(name, TOOLS).first(), Some(&best), "{name}");
        }
    }

    #[test]
    fn dissimilar_names_are_not_suggested() {
        for name in ["delete_everything", "get_weather", "list_files", "x", "", "send_mail", "get"] {
            let near = nearest(name, TOOLS);
            assert!(near.is_empty(), "{name}: {near:?}");
        }
        assert!(nearest(&"list_orders".repeat(100), TOOLS).is_empty());
        assert!(nearest("list_orders", []).is_empty());
    }

    #[test]
    fn a_word_common_to_all_names_counts_little() {
        let tools = ["git_add", "git_branch", "git_commit", "git_diff", "git_log", "git_show", "git_status"];
        assert_eq!(nearest("git_commits", tools), ["git_commit"]);
        assert!(nearest("git_push_force", tools).is_empty(), "{:?}", nearest("git_push_force", tools));
    }

    #[test]
    fn the_order_is_deterministic() {
        let near = nearest("read", ["read_b", "read_c", "read_a", "read_d"]);
        assert_eq!(near.len(), 3, "{near:?}");
        assert_eq!(near, nearest("read", ["read_d", "read_c", "read_b", "read_a"]));
    }
}
