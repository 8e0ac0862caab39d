//! What is known about a connection beside its messages: output that was none, and why it was given up.

use std::{
    fmt,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::rpc_error::RpcError;
use crate::{http::HttpFailure, text::shown};

/// How many bytes of output that is no protocol a server may write between two messages: room for banners and stray
/// prints, but not for a program that speaks something else.
pub const MAX_STRAY_BYTES: usize = 1024 * 1024;

/// How many bytes of a stray line are kept.
const MAX_STRAY_LINE_BYTES: usize = 200;

/// Why a connection was given up by this side.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// The server broke the protocol in this way.
    Protocol(String),
    /// The server refused the handshake.
    Refused(RpcError),
    /// The handshake could not be carried over HTTP.
    Http(HttpFailure),
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(reason) => formatter.write_str(reason),
            Self::Refused(error) => write!(formatter, "error {}: {}", error.code, error.message),
            Self::Http(failure) => failure.fmt(formatter),
        }
    }
}

/// What is known about a connection beside its messages.
pub(crate) struct Health {
    fault: OnceLock<Fault>,
    stray: Mutex<Stray>,
    /// Told the first line that is no protocol.
    on_stray: Box<dyn Fn(&str) + Send + Sync>,
    /// Told why messages are not as they were sent: a first one was dropped, or had halves of characters.
    on_altered: Box<dyn Fn(&str) + Send + Sync>,
    dropped: AtomicU64,
    halved: AtomicU64,
}

/// What is told of a first message that was dropped.
const DROPPED: &str =
    "messages of this server are dropped from here on: they are too long, or too many to answer";

/// What is told of a first message with halves of characters.
pub(crate) const HALVED: &str =
    "a text of this server holds half of a surrogate pair (UTF-16), which is read as U+FFFD";

#[derive(Default)]
struct Stray {
    lines: u64,
    first: Option<String>,
    bytes_in_a_row: usize,
}

impl Health {
    /// Nothing is known yet; `on_stray` is told the first line that is no protocol, fit to be shown, and `on_altered` why
    /// messages are not as they were sent.
    pub(crate) fn new(
        on_stray: impl Fn(&str) + Send + Sync + 'static,
        on_altered: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self {
            fault: OnceLock::new(),
            stray: Mutex::default(),
            on_stray: Box::new(on_stray),
            on_altered: Box::new(on_altered),
            dropped: AtomicU64::new(0),
            halved: AtomicU64::new(0),
        }
    }

    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.get()
    }

    /// Notes why the connection is given up. The first fault is the cause, later ones are consequences.
    pub(crate) fn set_fault(&self, fault: Fault) {
        let _ = self.fault.set(fault);
    }

    /// The number of stray lines and the first of them.
    pub(crate) fn stray(&self) -> (u64, Option<String>) {
        let stray = self.stray.lock().unwrap_or_else(PoisonError::into_inner);
        (stray.lines, stray.first.clone())
    }

    /// How many messages were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Notes a line that is no message; false if there were too many.
    pub(super) fn note_stray(&self, line: &str) -> bool {
        let mut stray = self.stray.lock().unwrap_or_else(PoisonError::into_inner);
        stray.lines += 1;
        stray.bytes_in_a_row += line.len() + 1;
        if stray.first.is_none() {
            let first = shown(line, MAX_STRAY_LINE_BYTES);
            (self.on_stray)(&first);
            stray.first = Some(first);
        }
        stray.bytes_in_a_row <= MAX_STRAY_BYTES
    }

    /// Notes a message that was dropped because of its length, or because there were too many; says so for the first one.
    pub(super) fn note_dropped(&self) {
        if self.dropped.fetch_add(1, Ordering::Relaxed) == 0 {
            (self.on_altered)(DROPPED);
        }
    }

    /// How many messages had halves of characters.
    pub(crate) fn halved(&self) -> u64 {
        self.halved.load(Ordering::Relaxed)
    }

    /// Notes a message with halves of characters; says so for the first one.
    pub(super) fn note_halves(&self) {
        if self.halved.fetch_add(1, Ordering::Relaxed) == 0 {
            (self.on_altered)(HALVED);
        }
    }

    pub(super) fn note_message(&self) {
        self.stray.lock().unwrap_or_else(PoisonError::into_inner).bytes_in_a_row = 0;
    }
}
