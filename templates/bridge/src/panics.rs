//! Records panics of a snippet in its own lines and columns, until it is known which one ended it.

use std::collections::VecDeque;
use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, PoisonError};

use crate::origin::{Origin, SNIPPET_FILE};
use crate::size::shortened;
use crate::wire::PanicReport;

/// The latest panics.
static PANICS: Mutex<VecDeque<PanicReport>> = Mutex::new(VecDeque::new());

/// Maximum number of panics to keep; the one that ended the program is among the latest.
const PANICS_KEPT: usize = 64;

/// The message of a panic whose payload is not a string.
const NO_MESSAGE: &str = "a panic without a message";

/// Prints and records all panics from now on; the snippet's position is `origin`.
pub(crate) fn keep(origin: Origin<'static>) {
    panic::set_hook(Box::new(move |panic| note(panic, origin)));
}

/// Prints a panic like the standard library, but in the snippet's lines and columns, and records it.
fn note(panic: &PanicHookInfo<'_>, origin: Origin<'_>) {
    let message = panic.payload_as_str().unwrap_or(NO_MESSAGE).to_owned();
    let place = panic.location().filter(|place| place.file() == SNIPPET_FILE);
    let line = place.map(panic::Location::line);
    let column = place.map(|place| origin.column(place.line(), place.column()));
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed");
    match (line, column) {
        (Some(line), Some(column)) => {
            eprintln!("thread '{name}' panicked at line {line}, column {column}:\n{message}");
        }
        _ => eprintln!("thread '{name}' panicked:\n{message}"),
    }
    let mut panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    if panics.len() == PANICS_KEPT {
        panics.pop_front();
    }
    panics.push_back(PanicReport { message: shortened(message), line, column });
}

/// The recorded panic that ended the snippet with `payload`; the others were caught, or ended other threads.
pub(crate) fn report(payload: &(dyn std::any::Any + Send)) -> PanicReport {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = shortened(text.unwrap_or(NO_MESSAGE).to_owned());
    let panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    match panics.iter().rev().find(|panic| panic.message == message) {
        Some(panic) => panic.clone(),
        None => PanicReport { message, line: None, column: None },
    }
}
