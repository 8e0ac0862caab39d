//! The amount that this process writes to standard error. The command line sets it once, before any terminal is
//! created.

use std::sync::atomic::{AtomicU8, Ordering};

/// The amount that a process writes to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Verbosity {
    /// Neither notes nor progress (`--quiet`).
    Quiet,
    /// Notes and progress.
    #[default]
    Normal,
    /// Details as well, such as what servers write to standard error (`--verbose`).
    Verbose,
}

static CHOSEN: AtomicU8 = AtomicU8::new(Verbosity::Normal as u8);

/// Sets how much this process writes from now on.
pub fn set_verbosity(verbosity: Verbosity) {
    CHOSEN.store(verbosity as u8, Ordering::Relaxed);
}

/// Whether the process shows neither notes nor progress.
pub(crate) fn is_quiet() -> bool {
    CHOSEN.load(Ordering::Relaxed) == Verbosity::Quiet as u8
}

/// Whether the process shows details.
pub(crate) fn is_verbose() -> bool {
    CHOSEN.load(Ordering::Relaxed) == Verbosity::Verbose as u8
}
