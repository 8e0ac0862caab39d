//! Warnings about a snippet that runs: what is most likely wrong, and that the compiler could not see.

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::client;
use crate::origin::{Origin, SNIPPET_FILE};
use crate::wire::{PROGRESS_LIMIT, ToHost, WARNINGS_LIMIT, Warning};

/// Where the text of the snippet stands.
static ORIGIN: OnceLock<Origin<'static>> = OnceLock::new();

/// What was told, so that a loop tells it once.
static TOLD: Mutex<BTreeSet<(String, Option<u32>)>> = Mutex::new(BTreeSet::new());

/// Notes where the text of the snippet stands.
pub(crate) fn begin(origin: Origin<'static>) {
    // There is one snippet.
    let _ = ORIGIN.set(origin);
}

/// Tells the host of something at a place. Where there is no host there is no outcome to tell it in.
pub(crate) fn warn(mut message: String, place: Option<&Location<'_>>) {
    message.truncate(message.floor_char_boundary(PROGRESS_LIMIT));
    let own = place.filter(|place| place.file().ends_with(SNIPPET_FILE)).zip(ORIGIN.get());
    let line = own.map(|(place, _)| place.line());
    let column = own.map(|(place, origin)| origin.column(place.line(), place.column()));
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.len() < WARNINGS_LIMIT && told.insert((message.clone(), line)) {
        drop(told);
        let _ = client::send(&ToHost::Warn(Warning { message, line, column }));
    }
}
