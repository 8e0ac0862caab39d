//! A user of this process whose access token is exchanged for tokens of servers (RFC 8693).
//!
//! The user's own token goes to the configured token endpoint only, never to a server. The tokens that it is exchanged
//! for are kept in memory, apart for each user, and used until they expire.

use std::{any::Any, collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

/// A user on whose behalf servers are used. Two values with the same key are equal.
pub struct TokenSubject {
    key: String,
    /// The latest token that the user has shown; `None` if it can't be exchanged.
    token: Mutex<Option<String>>,
    /// The tokens of servers, by server and client.
    kept: Mutex<BTreeMap<String, Arc<dyn Any + Send + Sync>>>,
}

impl TokenSubject {
    /// A user with a key that no other one has, and without a token.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), token: Mutex::default(), kept: Mutex::default() }
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Exchanges this token from now on.
    pub fn show(&self, token: &str) {
        let mut known = self.token.lock();
        if known.as_deref() != Some(token) {
            *known = Some(token.to_owned());
        }
    }

    /// The token to exchange.
    pub(crate) fn token(&self) -> Option<String> {
        self.token.lock().clone()
    }

    /// The value that all sessions of the user share under a key.
    pub(crate) fn kept<T: Any + Send + Sync>(&self, key: &str, make: impl Fn() -> T) -> Arc<T> {
        let mut kept = self.kept.lock();
        let value = kept.entry(key.to_owned()).or_insert_with(|| Arc::new(make())).clone();
        // Each key stands for one type.
        value.downcast().unwrap_or_else(|_| Arc::new(make()))
    }
}

impl PartialEq for TokenSubject {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for TokenSubject {}

// The tokens are secrets.
impl std::fmt::Debug for TokenSubject {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TokenSubject").field("key", &self.key).finish_non_exhaustive()
    }
}
