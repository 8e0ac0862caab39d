//! The clients that have lately used a kind of session, and how often: its last spare session is for another client than
//! the one that has used the most.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// Time that a client counts after its last use.
const RECENT: Duration = Duration::from_secs(30);

/// Number of uses from which all are halved, so that the latest count most.
const MOST_USES: u32 = 64;

/// Maximum number of clients. Others have no spare session kept for them.
const MOST_CLIENTS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Users(BTreeMap<String, User>);

#[derive(Debug)]
struct User {
    uses: u32,
    last: Instant,
}

impl Users {
    /// Counts a use.
    pub(super) fn count(&mut self, client: &str, now: Instant) {
        self.0.retain(|_, user| now < user.last + RECENT);
        if self.0.len() >= MOST_CLIENTS && !self.0.contains_key(client) {
            return;
        }
        let user = self.0.entry(client.to_owned()).or_insert(User { uses: 0, last: now });
        (user.uses, user.last) = (user.uses + 1, now);
        if self.0.values().map(|user| user.uses).sum::<u32>() >= MOST_USES {
            self.0.values_mut().for_each(|user| user.uses /= 2);
        }
    }

    /// Whether another client has used fewer.
    pub(super) fn prefer_another(&self, client: &str, now: Instant) -> bool {
        let own = self.0.get(client).map_or(0, |user| user.uses);
        self.0.values().any(|user| now < user.last + RECENT && user.uses < own)
    }

    /// Whether there are several clients.
    pub(super) fn are_several(&self, now: Instant) -> bool {
        self.0.values().filter(|user| now < user.last + RECENT).nth(1).is_some()
    }
}
