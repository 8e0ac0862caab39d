//! The spare sessions of all servers: which there are, which are missing, and which must end. Opens and closes none.

mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use config::{Config, SessionMode, Spares};
use mcp::ServerConfig;
use terminal::Masker;
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;

use super::credentials::CredentialsVersion;
use super::host::{Declared, SpareHost};
use crate::sessions::attempt::{Attempt, Opening};
use users::Users;

/// The pause after an execution before anything is started for the next one: by then the answer has been sent.
pub const QUIET: Duration = Duration::from_millis(20);

/// Limit on waiting for other executions to end.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Interval of checks whether the other executions have ended.
const BUSY_INTERVAL: Duration = Duration::from_millis(20);

/// Interval of checks for ended processes and short memory while there are spare sessions or compilers.
pub const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Maximum spare sessions that are being opened at the same time, each with another server. So a slow server does not
/// delay the others, and the starts leave processors for executions.
const MAX_OPENING: usize = 3;

/// Maximum spare sessions in a row that end without being used, until the server is used again.
const MAX_LOST: usize = 2;

/// The pause after a change of a list before it is read again.
const LIST_QUIET: Duration = Duration::from_millis(200);

/// Maximum readings of one session's changed list in the background. After later changes, the execution that adopts
/// the session reads the list.
const MAX_READINGS: usize = 3;

/// Whether a process may be started now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Nothing else is going on.
    Free,
    /// Executions are in progress: they come first.
    Busy,
    /// Memory is short: no spare session may exist.
    NoMemory,
}

/// Everything that a server can observe of its client before the first call.
#[derive(Clone)]
pub(super) struct Key {
    pub(super) config: ServerConfig,
    pub(super) declared: Declared,
}

impl Key {
    fn is(&self, config: &ServerConfig, declared: Declared) -> bool {
        self.declared == declared && is_same(&self.config, config)
    }
}

/// Whether sessions with these settings can't be distinguished. Equal settings may still declare different extensions.
fn is_same(one: &ServerConfig, other: &ServerConfig) -> bool {
    one == other && one.experimental.0 == other.experimental.0
}

/// A session that no execution has used.
pub(super) struct Spare {
    pub(super) attempt: Attempt,
    pub(super) host: Arc<SpareHost>,
    pub(super) credentials: CredentialsVersion,
    /// Reads its list of tools again after a change.
    pub(super) reading: Option<AbortOnDropHandle<()>>,
    /// The number of times that its list was read again.
    pub(super) readings: usize,
}

impl Spare {
    /// A session that is being opened.
    pub(super) fn new(attempt: Attempt, host: Arc<SpareHost>, credentials: CredentialsVersion) -> Self {
        Spare { attempt, host, credentials, reading: None, readings: 0 }
    }

    /// Starts reading the list of tools again if the server has announced a change.
    fn refresh(&mut self) {
        let Some(opened) = self.attempt.opened() else { return };
        let is_reading = self.reading.as_ref().is_some_and(|reading| !reading.is_finished());
        if is_reading || self.readings >= MAX_READINGS || !self.host.has_changed() {
            return;
        }
        self.readings += 1;
        let (opened, host) = (opened.clone(), self.host.clone());
        self.reading = Some(AbortOnDropHandle::new(tokio::spawn(async move {
            // Changes come in bursts.
            sleep(LIST_QUIET).await;
            // If this fails, the execution that adopts the session reads the list.
            let _ = host.list_again(&opened).await;
        })));
    }

    /// Whether the attempt has ended.
    pub(super) fn is_settled(&self) -> bool {
        self.attempt.ended().is_some()
    }

    /// Whether it can't be adopted.
    fn is_lost(&self) -> bool {
        match self.attempt.ended() {
            Some(Ok(opened)) => opened.session.is_closed(),
            Some(Err(_)) => true,
            None => false,
        }
    }
}

/// Interchangeable spare sessions.
struct Kind {
    key: Key,
    /// When an execution last used such a session.
    used: Instant,
    /// When a missing session may be opened: soon after the first execution that left one missing. `None` if none is
    /// missing, or none may be opened before the next execution.
    due: Option<Instant>,
    /// The number lost since the server was last used.
    lost: usize,
    spares: Vec<Spare>,
    users: Users,
}

impl Kind {
    fn is_of(&self, server: &str) -> bool {
        self.key.config.name == server
    }

    /// Whether a missing session may be opened now. While executions are in progress, it waits, but not if one client could
    /// keep another from finding any.
    fn is_due(&self, now: Instant, room: Room) -> bool {
        let Some(due) = self.due else { return false };
        match room {
            Room::Free => now >= due,
            Room::Busy if self.spares.is_empty() && self.users.are_several(now) => now >= due,
            Room::Busy => now >= due + MAX_WAIT,
            Room::NoMemory => false,
        }
    }

    fn is_opening(&self) -> bool {
        self.spares.iter().any(|spare| !spare.is_settled())
    }

    /// Counts sessions that were lost. Further ones are opened only if there were few.
    fn lose(&mut self, lost: usize, now: Instant) {
        self.lost += lost;
        if self.lost >= MAX_LOST {
            self.due = None;
        } else if lost > 0 {
            self.due.get_or_insert(now + QUIET);
        }
    }
}

/// The spare sessions of all servers.
#[derive(Default)]
pub(super) struct Pool {
    limits: Spares,
    /// The servers that may have spare sessions.
    servers: Vec<ServerConfig>,
    pub(super) masker: Masker,
    kinds: Vec<Kind>,
    pub(super) is_closed: bool,
}

impl Pool {
    /// Applies a configuration. Sessions with other settings end with the next [`Pool::prune`].
    pub(super) fn configure(&mut self, config: &Config, masker: Masker) {
        let may = |server: &&config::Server| server.spare && server.session != SessionMode::Shared;
        self.servers = config.servers.iter().filter(may).map(|server| server.connection.clone()).collect();
        self.limits = config.serve.spares.clone();
        self.masker = masker;
    }

    /// Takes a session for an execution of `client`, if possible one that is open. The last one is kept for another client
    /// if that has used fewer.
    pub(super) fn take(
        &mut self,
        config: &ServerConfig,
        declared: Declared,
        client: &str,
        now: Instant,
    ) -> Option<Spare> {
        let kind = self.kind(config, declared)?;
        kind.used = now;
        kind.users.count(client, now);
        let usable = |spare: &Spare| !spare.is_lost();
        if kind.spares.iter().filter(|spare| usable(spare)).count() == 1
            && kind.users.prefer_another(client, now)
        {
            return None;
        }
        let open = kind.spares.iter().position(|spare| usable(spare) && spare.is_settled());
        let at = open.or_else(|| kind.spares.iter().position(usable))?;
        Some(kind.spares.remove(at))
    }

    /// Takes back a session that no execution has used. Returns it if there is no place for it any more.
    pub(super) fn put_back(
        &mut self,
        config: &ServerConfig,
        declared: Declared,
        spare: Spare,
    ) -> Option<Spare> {
        let has_room =
            self.count_of(&config.name) < self.limits.per_server && self.count() < self.limits.total;
        match self.kind(config, declared) {
            Some(kind) if has_room => kind.spares.push(spare),
            _ => return Some(spare),
        }
        self.satisfied(config, declared);
        None
    }

    /// Whether an execution has used such a session.
    pub(super) fn knows(&mut self, config: &ServerConfig, declared: Declared) -> bool {
        self.kind(config, declared).is_some()
    }

    /// An execution that used such a session, or was about to, has ended: another one may follow. Returns whether there
    /// may be a spare session for it.
    pub(super) fn used(&mut self, config: &ServerConfig, declared: Declared, now: Instant) -> bool {
        if self.is_closed || !self.may_have(config) {
            return false;
        }
        let due = now + QUIET;
        match self.kind(config, declared) {
            Some(kind) => {
                (kind.used, kind.lost) = (now, 0);
                // Executions that follow each other quickly must not postpone it for ever.
                kind.due.get_or_insert(due);
            }
            None => {
                let key = Key { config: config.clone(), declared };
                let (spares, users) = (Vec::new(), Users::default());
                self.kinds.push(Kind { key, used: now, due: Some(due), lost: 0, spares, users });
            }
        }
        self.satisfied(config, declared);
        true
    }

    fn kind(&mut self, config: &ServerConfig, declared: Declared) -> Option<&mut Kind> {
        self.kinds.iter_mut().find(|kind| kind.key.is(config, declared))
    }

    /// Forgets when a session may be opened if none is missing.
    fn satisfied(&mut self, config: &ServerConfig, declared: Declared) {
        let is_full = self.count_of(&config.name) >= self.limits.per_server;
        if let Some(kind) = self.kind(config, declared).filter(|kind| is_full && !kind.spares.is_empty()) {
            kind.due = None;
        }
    }

    fn may_have(&self, config: &ServerConfig) -> bool {
        let has_limits = self.limits.per_server > 0 && self.limits.total > 0;
        has_limits && self.servers.iter().any(|server| is_same(server, config))
    }

    /// Reads the lists that servers have changed again.
    pub(super) fn refresh(&mut self) {
        self.kinds.iter_mut().flat_map(|kind| &mut kind.spares).for_each(Spare::refresh);
    }

    /// Removes the sessions that must end: idle, ended, or beyond the limits.
    pub(super) fn prune(&mut self, now: Instant, room: Room) -> Vec<Spare> {
        let mut removed = Vec::new();
        let (servers, limits) = (&self.servers, &self.limits);
        for kind in &mut self.kinds {
            let is_current = servers.iter().any(|server| is_same(server, &kind.key.config));
            if !is_current || now >= kind.used + limits.idle_time || room == Room::NoMemory {
                removed.append(&mut kind.spares);
            }
            if room == Room::NoMemory {
                // Until the server is used again: otherwise, the freed memory would be a reason to start it.
                kind.due = None;
            }
            let lost: Vec<Spare> = kind.spares.extract_if(.., |spare| spare.is_lost()).collect();
            kind.lose(lost.len(), now);
            removed.extend(lost);
        }
        self.kinds.retain(|kind| {
            let is_current = servers.iter().any(|server| is_same(server, &kind.key.config));
            is_current && now < kind.used + limits.idle_time
        });
        removed.extend(self.beyond_limits());
        removed
    }

    /// Removes the least recently used sessions beyond the limits for each server and for all.
    fn beyond_limits(&mut self) -> Vec<Spare> {
        let mut removed = Vec::new();
        let names: BTreeSet<String> = self.kinds.iter().map(|kind| kind.key.config.name.clone()).collect();
        for name in names {
            while self.count_of(&name) > self.limits.per_server {
                removed.extend(self.least_used(|kind| kind.is_of(&name)).and_then(|kind| kind.spares.pop()));
            }
        }
        while self.count() > self.limits.total {
            removed.extend(self.least_used(|_| true).and_then(|kind| kind.spares.pop()));
        }
        removed
    }

    /// All sessions.
    pub(super) fn clear(&mut self) -> Vec<Spare> {
        self.is_closed = true;
        std::mem::take(&mut self.kinds).into_iter().flat_map(|kind| kind.spares).collect()
    }

    /// Returns the number of sessions that can be adopted, by server.
    pub(super) fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for kind in &self.kinds {
            let usable = kind.spares.iter().filter(|spare| spare.is_settled() && !spare.is_lost()).count();
            *counts.entry(kind.key.config.name.clone()).or_default() += usable;
        }
        counts
    }

    fn count(&self) -> usize {
        self.kinds.iter().map(|kind| kind.spares.len()).sum()
    }

    fn count_of(&self, server: &str) -> usize {
        self.kinds.iter().filter(|kind| kind.is_of(server)).map(|kind| kind.spares.len()).sum()
    }

    fn least_used(&mut self, of: impl Fn(&Kind) -> bool) -> Option<&mut Kind> {
        let having = self.kinds.iter_mut().filter(|kind| !kind.spares.is_empty() && of(kind));
        having.min_by_key(|kind| kind.used)
    }

    /// The sessions that are being opened.
    pub(super) fn opening(&self) -> Vec<Opening> {
        let spares = self.kinds.iter().flat_map(|kind| &kind.spares);
        spares.filter(|spare| !spare.is_settled()).map(|spare| spare.attempt.opening.clone()).collect()
    }

    /// Whether a session of this kind is missing, now or later.
    fn is_missing(&self, kind: &Kind) -> bool {
        let limits = &self.limits;
        let name = &kind.key.config.name;
        // A kind without any takes the place of one that was used less recently.
        let may_displace = |of: &dyn Fn(&Kind) -> bool| {
            let older = |other: &Kind| !other.spares.is_empty() && other.used < kind.used && of(other);
            kind.spares.is_empty() && limits.per_server > 0 && self.kinds.iter().any(older)
        };
        let has_room = if self.count_of(name) >= limits.per_server {
            may_displace(&|other| other.is_of(name))
        } else {
            self.count() < limits.total || limits.total > 0 && may_displace(&|_| true)
        };
        kind.due.is_some() && kind.lost < MAX_LOST && has_room
    }

    /// Whether a session of this kind may be opened as soon as it is due. If not, it may when another one is open.
    fn may_open(&self, kind: &Kind) -> bool {
        let name = &kind.key.config.name;
        self.is_missing(kind)
            && !self.kinds.iter().any(|other| other.is_of(name) && other.is_opening())
            && self.kinds.iter().filter(|other| other.is_opening()).count() < MAX_OPENING
    }

    /// The kind of the session to open now: that of the most recently used server.
    pub(super) fn due(&self, now: Instant, room: Room) -> Option<Key> {
        let due = |kind: &&Kind| kind.is_due(now, room) && self.may_open(kind);
        self.kinds.iter().filter(due).max_by_key(|kind| kind.used).map(|kind| kind.key.clone())
    }

    /// Adds a session that is being opened; returns one that had to make room.
    pub(super) fn add(&mut self, key: &Key, spare: Spare) -> Option<Spare> {
        let name = &key.config.name;
        let displaced = if self.count_of(name) >= self.limits.per_server {
            self.least_used(|kind| kind.is_of(name))
        } else if self.count() >= self.limits.total {
            self.least_used(|_| true)
        } else {
            None
        };
        let displaced = displaced.and_then(|kind| kind.spares.pop());
        if let Some(kind) = self.kind(&key.config, key.declared) {
            kind.spares.push(spare);
        }
        self.satisfied(&key.config, key.declared);
        displaced
    }

    /// When to look again; `None` if nothing will happen without a notification.
    pub(super) fn next_look(&self, now: Instant) -> Option<Instant> {
        let missing = self.kinds.iter().filter(|kind| self.may_open(kind)).filter_map(|kind| kind.due);
        let missing = missing.map(|due| if due > now { due } else { now + BUSY_INTERVAL });
        let check = (self.count() > 0).then(|| now + CHECK_INTERVAL);
        let ends = self.kinds.iter().map(|kind| kind.used + self.limits.idle_time);
        missing.chain(check).chain(ends).min()
    }
}

#[cfg(test)]
mod tests;
