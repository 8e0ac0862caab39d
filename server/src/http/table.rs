//! Limits the number of connections, and decides which one to close for another.
//!
//! A connection counts as a stranger's until a request on it is accepted. Strangers' connections are few and short, in
//! total and for each address, and the oldest is closed first, so half-open connections do not keep others out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Limits on connections without an accepted request, in total and for one address. Well below the 1024 files that a
/// process may have open by default, and above what a browser or a burst of clients opens at once.
pub(super) const STRANGERS: usize = 256;
pub(super) const STRANGERS_OF_ADDRESS: usize = 128;

/// Limit on connections with an accepted request. More are refused.
pub(super) const ADMITTED: usize = 512;

/// The connections.
#[derive(Debug, Default)]
pub(super) struct Table(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The number of the next connection; numbers increase.
    next: u64,
    connections: HashMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    origin: Origin,
    is_admitted: bool,
    /// Ends the connection.
    end: CancellationToken,
}

/// The origin of a connection: an address, or the network of one home (RFC 6177: a /64 at least).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Origin(IpAddr);

impl Origin {
    fn of(address: IpAddr) -> Self {
        Origin(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into()),
            address => address,
        })
    }
}

/// A connection in the table. Dropping it removes the connection.
#[derive(Debug)]
pub(super) struct Entry {
    table: Arc<Table>,
    number: u64,
    /// Cancelled when the connection must end.
    pub(super) end: CancellationToken,
}

impl Table {
    /// Adds a connection. If there are too many strangers from its origin, closes the oldest of them; if there are too
    /// many in total, closes the oldest of the origin that has the most.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Arc<Entry> {
        let (origin, end) = (Origin::of(address), CancellationToken::new());
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.connections.insert(number, Connection { origin, is_admitted: false, end: end.clone() });
        while let Some(oldest) = state.too_many(origin) {
            // A closing connection no longer counts.
            if let Some(connection) = state.connections.remove(&oldest) {
                connection.end.cancel();
            }
        }
        Arc::new(Entry { table: self.clone(), number, end })
    }

    /// Closes the oldest stranger's connection; `false` if there was none.
    pub(super) fn make_room(&self) -> bool {
        let mut state = self.state();
        let oldest = state.strangers().min();
        let connection = oldest.and_then(|oldest| state.connections.remove(&oldest));
        connection.inspect(|connection| connection.end.cancel()).is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn strangers(&self) -> impl Iterator<Item = u64> {
        self.connections.iter().filter(|(_, connection)| !connection.is_admitted).map(|(number, _)| *number)
    }

    /// The connection to close, if any, after one from `origin` was added.
    fn too_many(&self, origin: Origin) -> Option<u64> {
        let mut counts: HashMap<Origin, usize> = HashMap::new();
        for connection in self.connections.values().filter(|connection| !connection.is_admitted) {
            *counts.entry(connection.origin).or_default() += 1;
        }
        let of_origin = if counts.get(&origin).is_some_and(|count| *count > STRANGERS_OF_ADDRESS) {
            origin
        } else if counts.values().sum::<usize>() > STRANGERS {
            *counts.iter().max_by_key(|(_, count)| **count)?.0
        } else {
            return None;
        };
        let is_one = |number: &u64| self.connections.get(number).is_some_and(|one| one.origin == of_origin);
        self.strangers().filter(is_one).min()
    }
}

impl Entry {
    /// Accepts a request on this connection; `false` if there are too many such connections.
    pub(super) fn admit(&self) -> bool {
        let mut state = self.table.state();
        let admitted = state.connections.values().filter(|connection| connection.is_admitted).count();
        let Some(connection) = state.connections.get_mut(&self.number) else { return false };
        let has_room = connection.is_admitted || admitted < ADMITTED;
        connection.is_admitted |= has_room;
        has_room
    }

    /// Whether a request on it was accepted.
    pub(super) fn is_admitted(&self) -> bool {
        self.table.state().connections.get(&self.number).is_some_and(|connection| connection.is_admitted)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.table.state().connections.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn open(connections: &[Arc<Entry>]) -> usize {
        connections.iter().filter(|connection| !connection.end.is_cancelled()).count()
    }

    #[test]
    fn the_oldest_stranger_of_an_address_is_closed() {
        let table = Arc::new(Table::default());
        let other = table.enter(address(2));
        let admitted = table.enter(address(1));
        assert!(admitted.admit() && admitted.is_admitted());
        let many: Vec<_> = (0..1_100).map(|_| table.enter(address(1))).collect();
        assert_eq!(open(&many), STRANGERS_OF_ADDRESS);
        let last = &many[many.len() - STRANGERS_OF_ADDRESS..];
        assert_eq!(open(last), STRANGERS_OF_ADDRESS, "the newest remain");
        assert!(!other.end.is_cancelled() && !admitted.end.is_cancelled());
        assert!(!many[0].admit(), "it has ended");
        drop((many, other, admitted));
        assert!(table.state().connections.is_empty());
    }

    #[test]
    fn the_address_with_the_most_strangers_loses_them_first() {
        let table = Arc::new(Table::default());
        let modest = table.enter(address(0));
        let many: Vec<_> = (1..=20)
            .flat_map(|last| (0..60).map(move |_| last))
            .map(|last| table.enter(address(last)))
            .collect();
        assert_eq!(open(&many) + 1, STRANGERS);
        assert!(!modest.end.is_cancelled());
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let table = Arc::new(Table::default());
        let inside = |last: u64| IpAddr::V6((0x2001_0db8_u128 << 96 | u128::from(last)).into());
        let many: Vec<_> = (0..200).map(|last| table.enter(inside(last))).collect();
        assert_eq!(open(&many), STRANGERS_OF_ADDRESS);
        assert_eq!(Origin::of("::ffff:192.0.2.7".parse().unwrap()), Origin(address(7)));
    }

    #[test]
    fn admitted_connections_are_limited() {
        let table = Arc::new(Table::default());
        let many: Vec<_> = (0..ADMITTED).map(|_| table.enter(address(1))).collect();
        let admitted = many.iter().filter(|connection| connection.admit()).count();
        // Connections that were closed before can't be admitted; the others have room.
        assert_eq!(admitted, STRANGERS_OF_ADDRESS);
        let more: Vec<_> = (admitted..ADMITTED)
            .map(|_| {
                let connection = table.enter(address(2));
                assert!(connection.admit());
                connection
            })
            .collect();
        let one_more = table.enter(address(3));
        assert!(!one_more.admit() && !one_more.end.is_cancelled());
        drop(more);
        assert!(one_more.admit());
        assert!(table.make_room() || table.state().strangers().count() == 0);
    }
}
