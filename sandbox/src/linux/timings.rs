//! When the steps of a start ended, for the bench `steps`. Only with the feature `timings`, which nothing enables but that
//! bench; without it, everything here does nothing.
//!
//! A fork copies the readings, so the process that becomes the command has those of the processes before it. It sends
//! them before its report. The parent adds its own.

#[cfg(feature = "timings")]
pub use readings::now;
pub(super) use readings::{Timings, mark, send};

#[cfg(feature = "timings")]
mod readings {
    use std::fs::File;
    use std::io::Write;
    use std::sync::{Mutex, PoisonError};

    use super::super::control::{self, Reading, Status};
    use crate::error::failed;
    use crate::{Failure, Step};

    /// The readings of a helper.
    static READINGS: Mutex<Vec<Reading>> = Mutex::new(Vec::new());

    /// Records in a helper that a step has ended.
    pub(in crate::platform) fn mark(step: &str) {
        READINGS.lock().unwrap_or_else(PoisonError::into_inner).push((step.to_owned(), now()));
    }

    /// Sends the readings so far.
    pub(in crate::platform) fn send(mut channel: &File) -> Result<(), Failure> {
        let readings = READINGS.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sent = control::frame(&Status::Timed(readings)).and_then(|frame| channel.write_all(&frame));
        sent.map_err(failed(Step::Handover, "the readings of the clock"))
    }

    /// The present time of that clock.
    #[must_use]
    pub fn now() -> u64 {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel writes one structure through the pointer.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        let part = |number: i64| u64::try_from(number).unwrap_or_default();
        part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
    }

    /// The readings of a child's start.
    #[derive(Debug, Default)]
    pub(in crate::platform) struct Timings(Vec<Reading>);

    impl Timings {
        /// Adds those that the helper sent.
        pub(in crate::platform) fn receive(&mut self, readings: Vec<Reading>) {
            self.0.extend(readings);
        }

        /// Records in the parent that a step has ended.
        pub(in crate::platform) fn mark(&mut self, step: &str) {
            self.0.push((step.to_owned(), now()));
        }

        pub(in crate::platform) fn all(&self) -> &[Reading] {
            &self.0
        }
    }
}

#[cfg(not(feature = "timings"))]
mod readings {
    use std::fs::File;

    use crate::Failure;

    pub(in crate::platform) fn mark(_step: &str) {}

    pub(in crate::platform) fn send(_channel: &File) -> Result<(), Failure> {
        Ok(())
    }

    #[derive(Debug, Default)]
    pub(in crate::platform) struct Timings {}

    impl Timings {
        pub(in crate::platform) fn mark(&mut self, _step: &str) {}
    }
}
