//! Limits the number of connections, and decides which one to close for another.
//!
//! A connection counts as a stranger's until a request on it is accepted. Strangers' connections are few and short, in
//! total and for each address, and the oldest is closed first, so half-open connections do not keep others out. Other
//! connections have a holder. One holder can't have all of them, and if there are too many, an idle one of the holder
//! that has the most is closed.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use prometheus_client::metrics::counter::Counter;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::holder::{Holder, Origin};
use crate::execution_slots::share;

/// Limits on connections without an accepted request, in total and for one address. Well below the 1024 files that a
/// process may have open by default, and above what a browser or a burst of clients opens at once.
pub(super) const STRANGERS: usize = 256;
pub(super) const STRANGERS_OF_ADDRESS: usize = 128;

/// Limit on connections with an accepted request.
pub(crate) const ADMITTED: usize = 512;

/// The connections.
#[derive(Debug, Default)]
pub(super) struct Table(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The next number for a connection or a time; numbers increase.
    next: u64,
    connections: HashMap<u64, Connection>,
    /// Counts the connections that were closed for others.
    closed: Counter,
}

#[derive(Debug)]
struct Connection {
    origin: Origin,
    /// Whose last request on it was accepted.
    holder: Option<Holder>,
    /// When its last request ended, as a number that increases; `None` during a request.
    idle_since: Option<u64>,
    /// Ends the connection.
    end: CancellationToken,
}

/// The reason why a request on a connection can't be accepted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooMany {
    /// All connections are busy.
    InAll,
    /// The holder has as many as one may have, and all of them are busy.
    OfHolder,
}

/// A request on a connection. Dropping it makes the connection idle.
#[derive(Debug)]
pub(super) struct Busy(Arc<Entry>);

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.table.state();
        let now = state.tick();
        if let Some(connection) = state.connections.get_mut(&self.0.number) {
            connection.idle_since = Some(now);
        }
    }
}

/// A connection in the table. Dropping it removes the connection.
#[derive(Debug)]
pub(super) struct Entry {
    table: Arc<Table>,
    number: u64,
    /// When it was accepted.
    pub(super) since: Instant,
    /// Cancelled when the connection must end.
    pub(super) end: CancellationToken,
}

impl Table {
    /// No connections; counts those that are closed for others.
    pub(super) fn new(closed: Counter) -> Self {
        Table(Mutex::new(State { closed, ..State::default() }))
    }

    /// Adds a connection. If there are too many strangers from its origin, closes the oldest of them; if there are too
    /// many in total, closes the oldest of the origin that has the most.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Arc<Entry> {
        let (origin, end) = (Origin::of(address), CancellationToken::new());
        let mut state = self.state();
        let number = state.tick();
        let connection = Connection { origin, holder: None, idle_since: None, end: end.clone() };
        state.connections.insert(number, connection);
        while let Some(oldest) = state.too_many(origin) {
            state.close(oldest);
        }
        Arc::new(Entry { table: self.clone(), number, since: Instant::now(), end })
    }

    /// Closes the oldest stranger's connection; `false` if there was none.
    pub(super) fn make_room(&self) -> bool {
        let mut state = self.state();
        let oldest = state.strangers().min();
        oldest.inspect(|oldest| state.close(*oldest)).is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl State {
    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Closes a connection for another one. From now on it does not count.
    fn close(&mut self, number: u64) {
        if let Some(connection) = self.connections.remove(&number) {
            connection.end.cancel();
            self.closed.inc();
        }
    }

    fn strangers(&self) -> impl Iterator<Item = u64> {
        self.connections
            .iter()
            .filter(|(_, connection)| connection.holder.is_none())
            .map(|(number, _)| *number)
    }

    /// Makes room for one more connection of `holder`: closes an idle one if there are too many.
    fn make_room_for(&mut self, holder: &Holder) -> Result<(), TooMany> {
        let mut counts: HashMap<&Holder, usize> = HashMap::new();
        for other in self.connections.values().filter_map(|connection| connection.holder.as_ref()) {
            *counts.entry(other).or_default() += 1;
        }
        let of_holder = counts.get(holder).copied().unwrap_or_default();
        let is_over = of_holder >= share(ADMITTED);
        if !is_over && counts.values().sum::<usize>() < ADMITTED {
            return Ok(());
        }
        let idle = self.connections.iter().filter_map(|(number, connection)| {
            let (other, since) = (connection.holder.as_ref()?, connection.idle_since?);
            let may_close = if is_over { other == holder } else { counts[other] >= of_holder };
            may_close.then_some((counts[other], Reverse(since), *number))
        });
        let Some((.., oldest)) = idle.max() else {
            return Err(if is_over { TooMany::OfHolder } else { TooMany::InAll });
        };
        self.close(oldest);
        Ok(())
    }

    /// The connection to close, if any, after one from `origin` was added.
    fn too_many(&self, origin: Origin) -> Option<u64> {
        let mut counts: HashMap<Origin, usize> = HashMap::new();
        for connection in self.connections.values().filter(|connection| connection.holder.is_none()) {
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
    /// Accepts a request of the current subject on this connection, which is busy until the returned value is dropped.
    ///
    /// # Errors
    /// If there are too many such connections.
    pub(super) fn admit(self: &Arc<Self>) -> Result<Busy, TooMany> {
        let mut state = self.table.state();
        let Some(connection) = state.connections.get(&self.number) else { return Err(TooMany::InAll) };
        let holder = Holder::current(connection.origin);
        if connection.holder.as_ref() != Some(&holder) {
            state.make_room_for(&holder)?;
        }
        let Some(connection) = state.connections.get_mut(&self.number) else { return Err(TooMany::InAll) };
        connection.holder = Some(holder);
        connection.idle_since = None;
        Ok(Busy(self.clone()))
    }

    /// Whether a request on it was accepted.
    pub(super) fn is_admitted(&self) -> bool {
        self.table.state().connections.get(&self.number).is_some_and(|connection| connection.holder.is_some())
    }

    /// Where it comes from, if it has not ended.
    pub(super) fn origin(&self) -> Option<Origin> {
        Some(self.table.state().connections.get(&self.number)?.origin)
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
        let busy = admitted.admit().unwrap();
        assert!(admitted.is_admitted());
        let many: Vec<_> = (0..1_100).map(|_| table.enter(address(1))).collect();
        assert_eq!(open(&many), STRANGERS_OF_ADDRESS);
        let last = &many[many.len() - STRANGERS_OF_ADDRESS..];
        assert_eq!(open(last), STRANGERS_OF_ADDRESS, "the newest remain");
        assert!(!other.end.is_cancelled() && !admitted.end.is_cancelled());
        assert!(many[0].admit().is_err(), "it has ended");
        drop((many, other, busy, admitted));
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
    }

    /// Connections with a request that is being answered.
    fn busy(table: &Arc<Table>, last: u8, count: usize) -> Vec<Busy> {
        (0..count).map_while(|_| table.enter(address(last)).admit().ok()).collect()
    }

    #[test]
    fn one_holder_leaves_connections_to_the_others() {
        let table = Arc::new(Table::default());
        let of_one = busy(&table, 1, ADMITTED);
        assert_eq!(of_one.len(), share(ADMITTED));
        assert_eq!(table.enter(address(1)).admit().err(), Some(TooMany::OfHolder));
        let of_others: Vec<_> = busy(&table, 2, 100).into_iter().chain(busy(&table, 3, 100)).collect();
        assert_eq!(of_one.len() + of_others.len(), ADMITTED);
        assert_eq!(table.enter(address(4)).admit().err(), Some(TooMany::InAll));
        assert!(of_one.iter().chain(&of_others).all(|busy| !busy.0.end.is_cancelled()));
        drop((of_one, of_others));
        assert!(table.state().connections.is_empty());
    }

    #[test]
    fn idle_connections_of_the_largest_holder_are_closed_first() {
        let table = Arc::new(Table::default());
        // Each is idle after a request.
        let used = |last: u8, count: usize| -> Vec<_> {
            let entries = (0..count).map(|_| table.enter(address(last)));
            entries.inspect(|entry| drop(entry.admit().unwrap())).collect()
        };
        let (small, large, larger, others) = (used(2, 100), used(1, 100), used(1, 284), used(3, 38));
        assert_eq!(open(&small), 100, "of a smaller holder");
        assert_eq!((open(&large), open(&larger)), (90, 284), "the longest idle are closed");
        // A holder that has the most loses its own.
        let more = used(1, 20);
        assert_eq!((open(&small), open(&others), open(&more)), (100, 38, 20));
    }
}
