//! The state of a connection besides its messages: stray output, dropped messages, and why it was closed.

use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use super::rpc_error::RpcError;
use crate::{http::HttpFailure, text::shown};

/// Limit on output, in bytes, that is not part of the protocol between two messages: enough for banners and stray
/// prints, but not for a program that uses another protocol.
pub const MAX_STRAY_BYTES: usize = 1024 * 1024;

/// Maximum length of a stray line that is kept, in bytes.
const MAX_STRAY_LINE_BYTES: usize = 200;

/// The reason why this side closed a connection.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// The server broke the protocol in this way.
    Protocol(String),
    /// The server rejected the handshake.
    Refused(RpcError),
    /// The handshake failed at the HTTP level.
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

/// The state of a connection besides its messages.
pub(crate) struct Health {
    fault: OnceLock<Fault>,
    stray: Mutex<Stray>,
    /// Called with the first line that is not a protocol message.
    on_stray: Box<dyn Fn(&str) + Send + Sync>,
    /// Called when a message is first dropped, or first has an unpaired surrogate.
    on_altered: Box<dyn Fn(&str) + Send + Sync>,
    dropped: AtomicU64,
    halved: AtomicU64,
}

/// The warning for the first message that is dropped.
const DROPPED: &str = "messages from this server are being dropped: they are too long, or too many to answer";

/// The warning for the first message with an unpaired surrogate.
pub(crate) const HALVED: &str =
    "a text from this server contains half of a surrogate pair (UTF-16), which is read as U+FFFD";

#[derive(Default)]
struct Stray {
    lines: u64,
    first: Option<String>,
    bytes_in_a_row: usize,
}

impl Health {
    /// A new connection. `on_stray` is called with the first line that is not a protocol message, safe to show, and
    /// `on_altered` with the reason when a message is first dropped or altered.
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

    /// Records why the connection is closed. The first fault is the cause, later ones are consequences.
    pub(crate) fn set_fault(&self, fault: Fault) {
        let _ = self.fault.set(fault);
    }

    /// The number of stray lines and the first one.
    pub(crate) fn stray(&self) -> (u64, Option<String>) {
        let stray = self.stray.lock();
        (stray.lines, stray.first.clone())
    }

    /// The number of dropped messages.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Records a line that is not a message; returns false if there were too many bytes of them.
    pub(super) fn note_stray(&self, line: &str) -> bool {
        let mut stray = self.stray.lock();
        stray.lines += 1;
        stray.bytes_in_a_row += line.len() + 1;
        if stray.first.is_none() {
            let first = shown(line, MAX_STRAY_LINE_BYTES);
            (self.on_stray)(&first);
            stray.first = Some(first);
        }
        stray.bytes_in_a_row <= MAX_STRAY_BYTES
    }

    /// Records a message that was dropped as too long or too many; warns on the first one.
    pub(super) fn note_dropped(&self) {
        if self.dropped.fetch_add(1, Ordering::Relaxed) == 0 {
            (self.on_altered)(DROPPED);
        }
    }

    /// The number of messages with unpaired surrogates.
    pub(crate) fn halved(&self) -> u64 {
        self.halved.load(Ordering::Relaxed)
    }

    /// Warns of the parts of the handshake that were not in MCP's form.
    pub(super) fn note_repairs(&self, changes: &[String]) {
        if !changes.is_empty() {
            (self.on_altered)(&format!("the server's introduction was repaired: {}", changes.join("; ")));
        }
    }

    /// Records a message with an unpaired surrogate; warns on the first one.
    pub(super) fn note_halves(&self) {
        if self.halved.fetch_add(1, Ordering::Relaxed) == 0 {
            (self.on_altered)(HALVED);
        }
    }

    pub(super) fn note_message(&self) {
        self.stray.lock().bytes_in_a_row = 0;
    }
}
