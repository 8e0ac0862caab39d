//! Limits a resource in total and for each client.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use prometheus_client::metrics::counter::Counter;

use super::execution_slots::Client;

/// A count, and a size in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
}

/// The amounts in use, by client.
#[derive(Debug)]
pub(crate) struct Quota {
    /// The name of the resource in errors, in the plural.
    what: &'static str,
    /// The limit for all clients together, and that for one client among several.
    all: Amount,
    share: Amount,
    held: Mutex<HashMap<Client, Amount>>,
    /// Counts refusals.
    refused: Counter,
}

/// A reserved part of a quota. Dropping it releases it.
#[derive(Debug)]
pub(crate) struct Reserved {
    quota: Arc<Quota>,
    client: Client,
    bytes: usize,
}

/// The quota is used up. The text says whether it is the total or the client's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("busy: {0}")]
pub struct Exceeded(String);

impl Amount {
    fn plus(self, bytes: usize) -> Self {
        Amount { count: self.count + 1, bytes: self.bytes.saturating_add(bytes) }
    }

    fn fits(self, bound: Amount) -> bool {
        self.count <= bound.count && self.bytes <= bound.bytes
    }
}

impl Quota {
    pub(crate) fn new(what: &'static str, (all, share): (Amount, Amount), refused: Counter) -> Arc<Self> {
        Arc::new(Quota { what, all, share, held: Mutex::default(), refused })
    }

    /// Reserves one more item of this size for `client`.
    ///
    /// # Errors
    /// If all clients together, or this one, would exceed the limit.
    pub(crate) fn reserve(self: &Arc<Self>, client: &Client, bytes: usize) -> Result<Reserved, Exceeded> {
        let reserved = self.try_reserve(client, bytes);
        if reserved.is_err() {
            self.refused.inc();
        }
        reserved
    }

    /// Like [`Quota::reserve`], for a client that is not refused anything then.
    pub(crate) fn try_reserve(self: &Arc<Self>, client: &Client, bytes: usize) -> Result<Reserved, Exceeded> {
        let mut held = self.held();
        let all = held.values().fold(Amount::default(), |all, one| Amount {
            count: all.count + one.count,
            bytes: all.bytes.saturating_add(one.bytes),
        });
        let what = self.what;
        if !all.plus(bytes).fits(self.all) {
            let Amount { count, bytes } = self.all;
            let bound = format!("the limit of {count} {what} with {bytes} bytes is reached; try again later");
            return Err(Exceeded(bound));
        }
        let own = held.get(client).copied().unwrap_or_default();
        if !client.alone && !own.plus(bytes).fits(self.share) {
            let Amount { count, bytes } = self.share;
            return Err(Exceeded(format!(
                "the limit of {count} {what} with {bytes} bytes for one client is reached; answer the open ones, or \
                 try again later"
            )));
        }
        held.insert(client.clone(), own.plus(bytes));
        Ok(Reserved { quota: self.clone(), client: client.clone(), bytes })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Client, Amount>> {
        self.held.lock()
    }
}

impl Reserved {
    /// Releases what exceeds this size.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let freed = self.bytes.saturating_sub(bytes);
        self.bytes -= freed;
        if let Some(own) = self.quota.held().get_mut(&self.client) {
            own.bytes = own.bytes.saturating_sub(freed);
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut held = self.quota.held();
        if let Some(own) = held.get_mut(&self.client) {
            own.count -= 1;
            own.bytes = own.bytes.saturating_sub(self.bytes);
            if own.count == 0 {
                held.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(key: &str) -> Client {
        Client { key: key.to_owned(), alone: false, is_subject: false }
    }

    #[test]
    fn one_client_is_limited_to_its_share() {
        let refused = Counter::default();
        let limits = (Amount { count: 3, bytes: 100 }, Amount { count: 2, bytes: 60 });
        let quota = Quota::new("things", limits, refused.clone());
        let (a, b) = (client("a"), client("b"));
        let first = quota.reserve(&a, 10).unwrap();
        let too_large = quota.reserve(&a, 51).unwrap_err().to_string();
        assert!(
            too_large.starts_with("busy: the limit of 2 things with 60 bytes for one client"),
            "{too_large}"
        );
        let _second = quota.reserve(&a, 50).unwrap();
        assert!(quota.reserve(&a, 0).is_err());
        let third = quota.reserve(&b, 40).unwrap();
        let full = quota.reserve(&b, 0).unwrap_err().to_string();
        assert_eq!(refused.get(), 3);
        assert!(full.starts_with("busy: the limit of 3 things with 100 bytes is reached"), "{full}");
        drop(first);
        quota.reserve(&b, 10).unwrap();
        drop(third);
        assert_eq!(quota.held().len(), 1);
    }

    #[test]
    fn a_single_client_may_use_the_whole_quota() {
        let quota = Quota::new(
            "things",
            (Amount { count: 2, bytes: 9 }, Amount { count: 1, bytes: 1 }),
            Counter::default(),
        );
        let alone = Client { key: String::new(), alone: true, is_subject: false };
        let _held = [quota.reserve(&alone, 4).unwrap(), quota.reserve(&alone, 5).unwrap()];
        assert!(quota.reserve(&alone, 0).is_err());
    }
}
