//! What executions printed and returned beyond what an answer holds: kept in memory for a while, read by range.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use url::Url;

/// What the addresses begin with.
const SCHEME: &str = "toolsmith";
const HOST: &str = "executions";

/// The template of the addresses (RFC 6570).
pub(crate) const TEMPLATE: &str = "toolsmith://executions/{id}/{part}{?offset,length}";

/// How many texts are kept, and how many bytes of them in all (32 MiB). The client that has most makes room, with its
/// oldest: nobody loses anything to a client that has more.
const TEXTS_KEPT: usize = 512;
const BYTES_KEPT: usize = 32 << 20;

/// Bytes that one reading gives unless it asks for less (256 KiB), and at the most (1 MiB).
const LENGTH: usize = 256 << 10;
const LONGEST: usize = 1 << 20;

/// The texts.
#[derive(Debug, Default)]
pub(crate) struct OutputStore(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    texts: VecDeque<Text>,
    bytes: usize,
}

#[derive(Debug)]
struct Text {
    /// Whose it is.
    client: String,
    address: String,
    text: Arc<str>,
}

impl State {
    /// The place of the oldest text of the client that has most of them, or most bytes.
    fn oldest_of_most(&self, by_bytes: bool) -> Option<usize> {
        let mut held: HashMap<&str, usize> = HashMap::new();
        for text in &self.texts {
            *held.entry(&text.client).or_default() += if by_bytes { text.text.len() } else { 1 };
        }
        let most = held.values().max().copied()?;
        self.texts.iter().position(|text| held.get(text.client.as_str()) == Some(&most))
    }
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) offset: usize,
    pub(crate) total: usize,
}

impl OutputStore {
    /// Keeps a part of an execution for a client; gives its address.
    pub(crate) fn keep(&self, client: &str, id: &str, part: &str, text: &str) -> String {
        let address = format!("{SCHEME}://{HOST}/{id}/{part}");
        let mut state = self.state();
        state.bytes += text.len();
        let (client, text) = (client.to_owned(), Arc::from(text));
        state.texts.push_back(Text { client, address: address.clone(), text });
        while state.texts.len() > TEXTS_KEPT || state.bytes > BYTES_KEPT {
            let by_bytes = state.bytes > BYTES_KEPT;
            let Some(oldest) = state.oldest_of_most(by_bytes).and_then(|index| state.texts.remove(index))
            else {
                break;
            };
            state.bytes -= oldest.text.len();
        }
        address
    }

    /// Whether an address is one of these, whatever it leads to.
    pub(crate) fn is_address(uri: &str) -> bool {
        Url::parse(uri).is_ok_and(|url| url.scheme() == SCHEME && url.host_str() == Some(HOST))
    }

    /// The addresses of a client's texts with their sizes, the oldest first.
    pub(crate) fn addresses(&self, client: &str) -> Vec<(String, usize)> {
        let state = self.state();
        let own = state.texts.iter().filter(|text| text.client == client);
        own.map(|text| (text.address.clone(), text.text.len())).collect()
    }

    /// Reads what an address names: all of it or a range, as far as one reading goes.
    ///
    /// # Errors
    /// What is wrong with the address, and what to do.
    pub(crate) fn read(&self, client: &str, uri: &str) -> Result<Part, String> {
        let url = Url::parse(uri).map_err(|error| format!("{uri:?} is no address: {error}"))?;
        let number = |name: &str| -> Result<Option<usize>, String> {
            let value = url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
            value.map_or(Ok(None), |value| {
                let wrong = |_| format!("{name}={value:?} is no number of bytes; write {TEMPLATE}");
                value.parse().map(Some).map_err(wrong)
            })
        };
        let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?.unwrap_or(LENGTH));
        let mut address = url.clone();
        address.set_query(None);
        let state = self.state();
        let found =
            state.texts.iter().rev().find(|text| text.client == client && text.address == address.as_str());
        let Some(text) = found.map(|text| text.text.clone()) else {
            return Err(format!(
                "there is no {address} (any more): outputs are kept for the session that they belong to, the last \
                 {TEXTS_KEPT} of them; run the snippet again"
            ));
        };
        drop(state);
        let start = text.floor_char_boundary(offset.min(text.len()));
        let mut end = text.floor_char_boundary(start.saturating_add(length.min(LONGEST)).min(text.len()));
        if end == start && length > 0 {
            // A character is longer than what was asked for.
            end = text.ceil_char_boundary((start + 1).min(text.len()));
        }
        let part = text.get(start..end).unwrap_or_default().to_owned();
        Ok(Part { text: part, offset: start, total: text.len() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_by_range_by_whom_they_belong_to() {
        let kept = OutputStore::default();
        let address = kept.keep("a", "7", "stdout", "0123456789äöü");
        assert_eq!(address, "toolsmith://executions/7/stdout");
        assert!(OutputStore::is_address(&address) && !OutputStore::is_address("file:///etc/passwd"));
        let read =
            |query: &str| kept.read("a", &format!("{address}{query}")).map(|part| (part.text, part.offset));
        assert_eq!(read(""), Ok(("0123456789äöü".to_owned(), 0)));
        assert_eq!(read("?offset=3&length=2"), Ok(("34".to_owned(), 3)));
        assert_eq!(read("?offset=11&length=1"), Ok(("ä".to_owned(), 10)));
        assert_eq!(read("?offset=99"), Ok((String::new(), 16)));
        assert!(read("?offset=-1").is_err());
        assert!(kept.read("b", &address).is_err());
        assert_eq!(kept.addresses("a"), [(address, 16)]);
        assert!(kept.addresses("b").is_empty());
    }

    #[test]
    fn the_oldest_make_room() {
        let kept = OutputStore::default();
        let first = kept.keep("a", "0", "stdout", "x");
        for id in 1..=TEXTS_KEPT {
            kept.keep("a", &id.to_string(), "stdout", "x");
        }
        assert!(kept.read("a", &first).is_err());
        let large = "y".repeat(BYTES_KEPT);
        kept.keep("a", "large", "stdout", &large);
        assert_eq!(kept.addresses("a").len(), 1);
    }

    #[test]
    fn the_client_that_has_most_makes_room() {
        let kept = OutputStore::default();
        let first = kept.keep("modest", "0", "stdout", "x");
        for id in 0..2 * TEXTS_KEPT {
            kept.keep("greedy", &id.to_string(), "stdout", "y");
        }
        assert_eq!(kept.addresses("greedy").len(), TEXTS_KEPT - 1);
        let half = "z".repeat(BYTES_KEPT / 2);
        for id in 0..4 {
            kept.keep("greedy", &format!("large-{id}"), "stdout", &half);
        }
        assert_eq!(kept.addresses("modest"), [(first, 1)]);
        assert_eq!(kept.addresses("greedy").len(), 1);
    }
}
