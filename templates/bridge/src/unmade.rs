//! Tracks calls that were built but never polled: nothing was sent for them, and nothing else would report it.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use crate::origin::{Origin, SNIPPET_FILE};
use crate::wire::{UNMADE_KEPT, UnmadeReport};

/// A place in the code that builds calls of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Site {
    place: &'static Location<'static>,
    server: &'static str,
    tool: &'static str,
}

/// The number of unpolled calls at each place.
static WAITING: Mutex<BTreeMap<Site, u64>> = Mutex::new(BTreeMap::new());

impl Site {
    /// Counts a call built by the caller.
    #[track_caller]
    pub(crate) fn built(server: &'static str, tool: &'static str) -> Self {
        let site = Site { place: Location::caller(), server, tool };
        *WAITING.lock().unwrap_or_else(PoisonError::into_inner).entry(site).or_default() += 1;
        site
    }

    /// Counts that the call is polled.
    pub(crate) fn polled(self) {
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = waiting.get_mut(&self) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(&self);
            }
        }
    }
}

/// The calls that were never polled, by their places in the snippet, whose text is at `origin`.
pub(crate) fn report(origin: Origin<'_>) -> Vec<UnmadeReport> {
    let waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    let report = |(site, count): (&Site, &u64)| {
        let place = Some(site.place).filter(|place| place.file() == SNIPPET_FILE);
        UnmadeReport {
            server: site.server.to_owned(),
            tool: site.tool.to_owned(),
            count: *count,
            line: place.map(Location::line),
            column: place.map(|place| origin.column(place.line(), place.column())),
        }
    };
    waiting.iter().take(UNMADE_KEPT).map(report).collect()
}
