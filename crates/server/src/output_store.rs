//! Keeps outputs and results of executions that exceed an answer in memory for a while, readable by range.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use prometheus_client::metrics::counter::Counter;
use tokio::time::Instant;
use url::Url;

/// The prefix of the addresses.
const SCHEME: &str = "toolsmith";
const HOST: &str = "executions";

/// The template of the addresses (RFC 6570).
pub(crate) const TEMPLATE: &str = "toolsmith://executions/{id}/{part}{?offset,length}";

/// Limit on the count of texts. When a limit is exceeded, the client that holds the most loses its oldest text, so no
/// client loses texts to a larger one.
pub const TEXTS_KEPT: usize = 512;
/// Limit on the total size of texts, in bytes (32 MiB).
pub const BYTES_KEPT: usize = 32 << 20;

/// Default (256 KiB) and maximum (1 MiB) size of one reading, in bytes.
const LENGTH: usize = 256 << 10;
const LONGEST: usize = 1 << 20;

/// The texts.
#[derive(Debug, Default)]
pub(crate) struct OutputStore {
    state: Mutex<State>,
    /// Counts texts that made room for others.
    displaced: Counter,
}

#[derive(Debug, Default)]
struct State {
    texts: VecDeque<Text>,
    bytes: usize,
}

#[derive(Debug)]
struct Text {
    /// The client that it belongs to.
    client: String,
    address: String,
    text: Arc<str>,
    /// When it may no longer be read; `None` for no limit.
    expires: Option<Instant>,
}

impl State {
    /// The index of the oldest text of the client that has the most texts, or the most bytes.
    fn oldest_of_most(&self, by_bytes: bool) -> Option<usize> {
        let mut held: HashMap<&str, usize> = HashMap::new();
        for text in &self.texts {
            *held.entry(&text.client).or_default() += if by_bytes { text.text.len() } else { 1 };
        }
        let most = held.values().max().copied()?;
        self.texts.iter().position(|text| held.get(text.client.as_str()) == Some(&most))
    }
}

/// The reason why there is no text at an address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    #[error("{uri:?} is not a valid URI: {source}")]
    Uri { uri: String, source: url::ParseError },
    #[error("{name}={value:?} is not a number of bytes; use {TEMPLATE}")]
    Number { name: &'static str, value: String },
    #[error(
        "{0} was not found: the last {TEXTS_KEPT} outputs are kept, for their session only; run the snippet again"
    )]
    NotFound(Url),
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) offset: usize,
    pub(crate) total: usize,
}

impl OutputStore {
    /// Counts the texts that make room for others.
    pub(crate) fn new(displaced: Counter) -> Self {
        OutputStore { state: Mutex::default(), displaced }
    }

    /// Stores a part of an execution for a client; returns its address.
    pub(crate) fn keep(&self, client: &str, id: &str, part: &str, text: &str) -> String {
        let address = format!("{SCHEME}://{HOST}/{id}/{part}");
        self.insert(client, &address, text, None);
        address
    }

    /// Stores a text that another replica has kept, until it expires.
    pub(crate) fn insert(&self, client: &str, address: &str, text: &str, expires: Option<Instant>) {
        let mut state = self.state();
        state.bytes += text.len();
        let (client, address, text) = (client.to_owned(), address.to_owned(), Arc::from(text));
        state.texts.push_back(Text { client, address, text, expires });
        while state.texts.len() > TEXTS_KEPT || state.bytes > BYTES_KEPT {
            let by_bytes = state.bytes > BYTES_KEPT;
            let Some(oldest) = state.oldest_of_most(by_bytes).and_then(|index| state.texts.remove(index))
            else {
                break;
            };
            state.bytes -= oldest.text.len();
            self.displaced.inc();
        }
    }

    /// A whole text.
    pub(crate) fn text(&self, client: &str, address: &str) -> Option<Arc<str>> {
        let state = self.state();
        let is_live = |text: &&Text| text.expires.is_none_or(|expires| expires > Instant::now());
        let mut texts = state.texts.iter().rev().filter(is_live);
        texts.find(|text| text.client == client && text.address == address).map(|text| text.text.clone())
    }

    /// The address of a text without its range; `None` if it is no URI.
    pub(crate) fn whole(uri: &str) -> Option<String> {
        let mut url = Url::parse(uri).ok()?;
        url.set_query(None);
        Some(url.into())
    }

    /// Whether a URI has the form of these addresses.
    pub(crate) fn is_address(uri: &str) -> bool {
        Url::parse(uri).is_ok_and(|url| url.scheme() == SCHEME && url.host_str() == Some(HOST))
    }

    /// The addresses of a client's texts with their sizes, the oldest first.
    pub(crate) fn addresses(&self, client: &str) -> Vec<(String, usize)> {
        let state = self.state();
        let own = state.texts.iter().filter(|text| text.client == client);
        own.map(|text| (text.address.clone(), text.text.len())).collect()
    }

    /// Reads the text at an address, whole or a range, up to the maximum size.
    ///
    /// # Errors
    /// If the address is wrong, or its text is gone.
    pub(crate) fn read(&self, client: &str, uri: &str) -> Result<Part, AddressError> {
        let url = Url::parse(uri).map_err(|source| AddressError::Uri { uri: uri.to_owned(), source })?;
        let number = |name: &'static str| -> Result<Option<usize>, AddressError> {
            let value = url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
            let Some(value) = value else { return Ok(None) };
            value.parse().map(Some).map_err(|_| AddressError::Number { name, value })
        };
        let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?.unwrap_or(LENGTH));
        let mut address = url.clone();
        address.set_query(None);
        let Some(text) = self.text(client, address.as_str()) else {
            return Err(AddressError::NotFound(address));
        };
        let start = text.floor_char_boundary(offset.min(text.len()));
        let mut end = text.floor_char_boundary(start.saturating_add(length.min(LONGEST)).min(text.len()));
        if end == start && length > 0 {
            // The first character is longer than the requested length.
            end = text.ceil_char_boundary((start + 1).min(text.len()));
        }
        let part = text.get(start..end).unwrap_or_default().to_owned();
        Ok(Part { text: part, offset: start, total: text.len() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_by_range_by_their_client() {
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
    fn the_oldest_are_dropped() {
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
    fn the_client_with_the_most_loses_its_oldest() {
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
