//! Warnings of a running snippet about likely mistakes that the compiler could not see.

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::client;
use crate::origin::{Origin, SNIPPET_FILE};
use crate::wire::{PROGRESS_LIMIT, ToHost, WARNINGS_LIMIT, Warning};

/// The position of the snippet's text.
static ORIGIN: OnceLock<Origin<'static>> = OnceLock::new();

/// Warnings sent so far, so that a loop sends each once.
static SENT: Mutex<BTreeSet<(String, Option<u32>)>> = Mutex::new(BTreeSet::new());

/// Records the position of the snippet's text.
pub(crate) fn begin(origin: Origin<'static>) {
    // There is only one snippet.
    let _ = ORIGIN.set(origin);
}

/// Sends a warning about a place to the host. Without a host, it is ignored.
pub(crate) fn warn(mut message: String, place: Option<&Location<'_>>) {
    message.truncate(message.floor_char_boundary(PROGRESS_LIMIT));
    let own = place.filter(|place| place.file().ends_with(SNIPPET_FILE)).zip(ORIGIN.get());
    let line = own.map(|(place, _)| place.line());
    let column = own.map(|(place, origin)| origin.column(place.line(), place.column()));
    let mut sent = SENT.lock().unwrap_or_else(PoisonError::into_inner);
    if sent.len() < WARNINGS_LIMIT && sent.insert((message.clone(), line)) {
        drop(sent);
        let _ = client::send(&ToHost::Warn(Warning { message, line, column }));
    }
}
