//! Which names may be meant by one that does not exist.
//!
//! Only for advice: nothing is ever replaced by what is found here.

use std::collections::{BTreeMap, BTreeSet};

/// Most names that are told.
pub(crate) const NEAR_KEPT: usize = 3;
/// The longest name that is compared, in bytes; generated names are not longer.
const LONGEST: usize = 100;
/// The least likeness of letters, and of words, from 0 to 1.
const LIKE_LETTERS: f64 = 0.65;
const LIKE_WORDS: f64 = 0.5;
/// The weight of a word that says little of what a tool is about.
const LIGHT: f64 = 0.3;
/// Such words.
const LIGHT_WORDS: [&str; 22] = [
    "a", "add", "all", "by", "create", "delete", "fetch", "find", "for", "from", "get", "in", "list", "make",
    "new", "of", "query", "read", "search", "set", "the", "to",
];

/// Those of `candidates` that are most like `wanted`, the best first.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let candidates: BTreeSet<&str> = candidates.into_iter().filter(|name| name.len() <= LONGEST).collect();
    if wanted.len() > LONGEST {
        return Vec::new();
    }
    let words: Vec<BTreeSet<String>> = candidates.iter().map(|name| words(name)).collect();
    let mut common: BTreeMap<&str, f64> = BTreeMap::new();
    for word in words.iter().flatten() {
        *common.entry(word).or_default() += 1.0;
    }
    // A word of many names tells little between them.
    let weight = |word: &str| {
        let weight = if LIGHT_WORDS.contains(&word) { LIGHT } else { 1.0 };
        weight / (1.0 + common.get(word).copied().unwrap_or(1.0).ln())
    };
    let (letters, wanted) = (letters(wanted), self::words(wanted));
    let mut near: Vec<(f64, &str)> = Vec::new();
    for (name, words) in candidates.iter().zip(&words) {
        let like_letters = strsim::normalized_damerau_levenshtein(&letters, &self::letters(name));
        let like_words = overlap(&wanted, words, weight);
        if like_letters >= LIKE_LETTERS || like_words >= LIKE_WORDS {
            near.push((like_letters.max(like_words), name));
        }
    }
    near.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
    // What is hardly different leaves no doubt.
    let sure = near.first().is_some_and(|(best, _)| *best >= 0.99);
    near.into_iter().map(|(_, name)| name).take(if sure { 1 } else { NEAR_KEPT }).collect()
}

/// The share of the words that both have, by weight (Dice's coefficient).
fn overlap(one: &BTreeSet<String>, other: &BTreeSet<String>, weight: impl Fn(&str) -> f64) -> f64 {
    let sum = |words: &BTreeSet<String>| words.iter().map(|word| weight(word)).sum::<f64>();
    let both: f64 = one.intersection(other).map(|word| weight(word)).sum();
    2.0 * both / (sum(one) + sum(other)).max(f64::MIN_POSITIVE)
}

/// Letters and digits, lower case.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a name in snake_case or camelCase, in the singular as far as an `s` shows it.
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
    fn names_are_near_by_letters_and_by_words() {
        for (wanted, best) in [
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
            assert_eq!(nearest(wanted, TOOLS).first(), Some(&best), "{wanted}");
        }
    }

    #[test]
    fn what_is_not_near_is_not_told() {
        for wanted in ["delete_everything", "get_weather", "list_files", "x", "", "send_mail", "get"] {
            let near = nearest(wanted, TOOLS);
            assert!(near.is_empty(), "{wanted}: {near:?}");
        }
        assert!(nearest(&"list_orders".repeat(100), TOOLS).is_empty());
        assert!(nearest("list_orders", []).is_empty());
    }

    #[test]
    fn a_word_that_all_names_have_tells_nothing() {
        let tools = ["git_add", "git_branch", "git_commit", "git_diff", "git_log", "git_show", "git_status"];
        assert_eq!(nearest("git_commits", tools), ["git_commit"]);
        assert!(nearest("git_push_force", tools).is_empty(), "{:?}", nearest("git_push_force", tools));
    }

    #[test]
    fn the_order_is_always_the_same() {
        let near = nearest("read", ["read_b", "read_c", "read_a", "read_d"]);
        assert_eq!(near.len(), 3, "{near:?}");
        assert_eq!(near, nearest("read", ["read_d", "read_c", "read_b", "read_a"]));
    }
}
