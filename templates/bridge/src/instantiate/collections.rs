//! Lists and maps of the most common types.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use serde_json::Value;

use crate::{ToolError, ToolResult};

/// Does the most frequent operations of snippets on a list.
fn list<T: Clone>(items: &[T], item: &T) -> Vec<T> {
    let mut list = Vec::with_capacity(items.len());
    for item in items {
        list.push(item.clone());
    }
    let mut rest = Vec::new();
    for item in list.clone() {
        rest.push(item);
    }
    rest.extend_from_slice(items);
    list.extend(rest);
    list.sort_by(|_, _| std::cmp::Ordering::Equal);
    list.truncate(list.len().min(10));
    list.first().cloned().into_iter().chain(list.iter().take(2).cloned()).chain([item.clone()]).collect()
}

/// Does the most frequent operations on a map that is sorted by its keys.
fn sorted<K: Ord + Clone, V: Clone + Default>(key: &K, value: &V) -> Vec<(K, V)> {
    let mut map = BTreeMap::new();
    map.insert(key.clone(), value.clone());
    *map.entry(key.clone()).or_default() = value.clone();
    *map.entry(key.clone()).or_insert(value.clone()) = value.clone();
    let mut pairs: Vec<(K, V)> = Vec::new();
    for (key, value) in &map {
        pairs.push((key.clone(), value.clone()));
    }
    if let (Some(value), true) = (map.get(key).cloned(), map.contains_key(key)) {
        pairs.push((key.clone(), value));
        return pairs;
    }
    map.into_iter().collect()
}

/// Does the most frequent operations on a hash map.
fn hashed<K: Hash + Eq + Clone, V: Clone + Default>(key: &K, value: &V) -> Vec<(K, V)> {
    let mut map = HashMap::new();
    map.insert(key.clone(), value.clone());
    *map.entry(key.clone()).or_default() = value.clone();
    *map.entry(key.clone()).or_insert(value.clone()) = value.clone();
    let mut pairs: Vec<(K, V)> = Vec::new();
    for (key, value) in &map {
        pairs.push((key.clone(), value.clone()));
    }
    if let (Some(value), true) = (map.get(key).cloned(), map.contains_key(key)) {
        pairs.push((key.clone(), value));
        return pairs;
    }
    map.into_iter().collect()
}

/// Never called: it only has to be compiled.
pub fn collections(word: &'static str, value: &Value, result: &ToolResult) -> usize {
    let answer = Result::<_, ToolError>::Ok(result.clone());
    let name = word.to_owned();
    let mut names = [name.clone()];
    names.sort();
    let mut words = [word];
    words.sort();
    let mut length = words.join(", ").len() + names.join(", ").len();
    macro_rules! lists {
        ($($item:expr),+ $(,)?) => {
            $({
                let item = $item;
                length += list(std::slice::from_ref(&item), &item).len();
            })+
        };
    }
    lists!(
        name.clone(),
        word,
        1_i32,
        1_i64,
        1_usize,
        1.0_f64,
        value.clone(),
        answer.clone(),
        result.clone(),
        (name.clone(), 1_usize),
        (name.clone(), 1_i32),
        (name.clone(), 1_f64),
        (name.clone(), value.clone()),
        (name.clone(), answer.clone()),
        (word, 1_usize),
    );
    macro_rules! maps {
        ($($key:expr => $($value:expr),+;)*) => {
            $($(length += sorted(&$key, &$value).len() + hashed(&$key, &$value).len();)+)*
        };
    }
    maps! {
        name.clone() => 1_i32, 1_usize, 1.0_f64, vec![name.clone()], vec![value.clone()];
    }
    length + hashed(&name, &name).len() + hashed(&word, &1_i32).len() + hashed(&word, &1_usize).len()
}
