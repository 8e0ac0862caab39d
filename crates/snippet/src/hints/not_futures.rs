//! Advice on `.await` after a value that is no future, but contains futures, or is the handle of a thread.

use super::advice::Advice;
use super::lookup::Known;
use super::shown::quoted;
use super::slip::Slip;
use crate::lexical::is_of_word;

/// Types whose items are awaited together.
const LISTS: [&str; 9] =
    ["BTreeSet", "Chain", "Filter", "FilterMap", "FlatMap", "HashSet", "Map", "Vec", "VecDeque"];

pub(super) fn advice<'a>(slip: &Slip<'a>) -> Option<Advice<'a>> {
    let name = *slip.message.quoted().first()?;
    if slip.message.code() != "E0277" || !slip.message.message.ends_with("is not a future") {
        return None;
    }
    let head = name.trim_start_matches('&').split('<').next().unwrap_or(name);
    let head = head.rsplit("::").next().unwrap_or(head);
    let all = "`futures::future::try_join_all(…).await?`, or `join_all(…).await` if they are no `Result`s";
    let line = match head {
        "JoinHandle" => "the handle of a thread is joined, not awaited: write `.join()`".to_owned(),
        "HashMap" | "BTreeMap" if has_work(slip, name) => {
            "await what is in the map: `futures::future::try_join_all(map.into_values()).await?`, or each in a `for` loop"
                .to_owned()
        }
        "Option" if has_work(slip, name) => {
            "await what is in it: `match value { Some(call) => Some(call.await?), None => None }`".to_owned()
        }
        _ if head.starts_with('(') && has_work(slip, name) => {
            "await its parts: `tokio::try_join!(a, b)?`, `.await` after each, or, if they have one type, \
             `futures::future::try_join_all(…).await?` with a list"
                .to_owned()
        }
        _ if (LISTS.contains(&head) || head.starts_with('[') || head == "Box") && has_work(slip, name) => {
            format!("await what is in it, all together: {all}; or each in a `for` loop")
        }
        _ if is_closure(name) => "it is a function: call it first, as in `f().await`".to_owned(),
        _ if has_work(slip, name) => {
            format!("{} is no future, but has futures in it: await each of them", quoted(name))
        }
        _ => return None,
    };
    Some(Advice::new(line))
}

/// Whether a type contains calls, futures, tasks or closures, which may make calls.
fn has_work(slip: &Slip<'_>, name: &str) -> bool {
    let is_call = |word: &str| matches!(slip.lookup.known(word), Known::Call(_) | Known::Input(_));
    let mut words = name.split(|c| !is_of_word(c)).filter(|word| !word.is_empty());
    words.any(|word| matches!(word, "Future" | "JoinHandle" | "async" | "closure") || is_call(word))
}

fn is_closure(name: &str) -> bool {
    name.starts_with("{closure@") || name.starts_with("fn ") || name.contains(") -> ")
}
