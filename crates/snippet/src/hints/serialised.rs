//! Advice on values that can't be serialized to JSON, and types that can't be deserialized from it.

use super::advice::Advice;
use super::shown::quoted;
use super::slip::Slip;

/// Iterators of the standard library that a snippet is likely to return.
const ITERATORS: [&str; 16] = [
    "Chain",
    "Cloned",
    "Copied",
    "Enumerate",
    "Filter",
    "FilterMap",
    "FlatMap",
    "IntoIter",
    "Iter",
    "Map",
    "Peekable",
    "Rev",
    "Skip",
    "Take",
    "TakeWhile",
    "Zip",
];

pub(super) fn advice<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    if slip.message.code() != "E0277" {
        return None;
    }
    let (subject, derived) = subject(slip)?;
    let subject = subject.trim_start_matches('&');
    let head = subject.split('<').next().unwrap_or(subject);
    let head = head.rsplit("::").next().unwrap_or(head);
    if let Some(keyword) = slip.tokens.definition(head) {
        return Some(Advice::new(format!(
            "{} does not implement `{derived}`: write `#[derive({derived})]` before `{keyword} {head}`",
            quoted(head)
        )));
    }
    if derived != "Serialize" {
        return None;
    }
    let is_future =
        subject.starts_with("{async ") || subject.contains("impl Future") || subject.contains("dyn Future");
    Some(Advice::new(if is_future {
        "it is a future: add `.await`".to_owned()
    } else if subject.starts_with("{closure@") {
        "a closure can't be serialized: call it".to_owned()
    } else if ITERATORS.contains(&head) {
        "an iterator can't be serialized: end it with `.collect::<Vec<_>>()`".to_owned()
    } else {
        format!(
            "{} can't be serialized: write `format!(\"{{value:?}}\")`, or `json!({{ … }})` with the parts that can",
            quoted(subject)
        )
    }))
}

/// The type that a message is about, and the trait it should derive.
fn subject<'a>(slip: &Slip<'a>) -> Option<(&'a str, &'static str)> {
    let first = *slip.message.quoted().first()?;
    if slip.message.message.ends_with("cannot be turned into JSON") {
        return Some((first, "Serialize"));
    }
    let (subject, bound) = first.rsplit_once(": ")?;
    let bound = bound.split('<').next().unwrap_or(bound);
    match bound.rsplit("::").next()? {
        "Serialize" => Some((subject, "Serialize")),
        "Deserialize" | "DeserializeOwned" => Some((subject, "Deserialize")),
        _ => None,
    }
}
