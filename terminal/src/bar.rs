//! The one line of a terminal that shows how far long work has come, and overwrites itself.
//!
//! It is written through the queue of the writing thread, so it never mixes with questions or a program's output:
//! everything else that is written clears it first.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::termios::tcgetwinsize;

/// Length of a bar, in characters.
const BAR: usize = 24;

/// How long work must have been in progress before the rest is estimated.
const BEFORE_ESTIMATE: Duration = Duration::from_secs(3);

/// Columns of a terminal that does not say how wide it is.
const USUAL_WIDTH: usize = 80;

/// Clears the line of the terminal.
pub(crate) const CLEAR: &str = "\r\x1b[K";

/// The state of the line.
#[derive(Debug, Default)]
pub(crate) struct ProgressLine(Mutex<Shown>);

#[derive(Debug, Default)]
struct Shown {
    is_shown: bool,
    /// When the current work started, and its steps so far.
    work: Option<(Instant, usize)>,
}

impl ProgressLine {
    /// The text that shows a message on the line.
    pub(crate) fn message(&self, message: &str) -> String {
        self.shown().is_shown = true;
        format!("{CLEAR}{}", fitting(&format!("toolsmith: {message}"), width()))
    }

    /// The text that shows a bar on the line: `done` of about `total` steps.
    pub(crate) fn step(&self, done: usize, total: usize, message: &str) -> String {
        let mut shown = self.shown();
        // Fewer steps than before belong to other work.
        let started = match shown.work {
            Some((started, before)) if before <= done => started,
            _ => Instant::now(),
        };
        shown.work = Some((started, done));
        shown.is_shown = true;
        let line = line(done, total, message, started.elapsed());
        format!("{CLEAR}{}", fitting(&line, width()))
    }

    /// Forgets the line; returns whether it was shown and has to be cleared.
    pub(crate) fn take(&self) -> bool {
        std::mem::take(&mut self.shown().is_shown)
    }

    /// Ends the work that the bar shows.
    pub(crate) fn end(&self) -> bool {
        self.shown().work = None;
        self.take()
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `toolsmith: [======>      ] 12/45 compiled serde, about 40 s left`.
fn line(done: usize, total: usize, message: &str, elapsed: Duration) -> String {
    let total = total.max(done).max(1);
    let filled = BAR * done.min(total) / total;
    let head = if filled > 0 && filled < BAR { ">" } else { "" };
    let bar = format!("{}{head}", "=".repeat(filled - head.len()));
    let rest = rest(done, total, elapsed).map(|rest| format!(", about {rest} left")).unwrap_or_default();
    format!("toolsmith: [{bar:BAR$}] {done}/{total} {message}{rest}")
}

/// How long the rest takes if it is as fast as what is done.
fn rest(done: usize, total: usize, elapsed: Duration) -> Option<String> {
    if done == 0 || done >= total || elapsed < BEFORE_ESTIMATE {
        return None;
    }
    #[allow(clippy::cast_precision_loss, reason = "an estimate of some seconds")]
    let seconds = elapsed.as_secs_f64() * (total - done) as f64 / done as f64;
    Some(match seconds.ceil() {
        seconds if seconds < 90.0 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds / 60.0).ceil()),
    })
}

/// A line that leaves the last column of the terminal free: a longer one would continue on a second row, which clearing
/// the line does not clear.
fn fitting(line: &str, width: usize) -> String {
    let most = width.saturating_sub(1);
    if line.chars().count() <= most {
        return line.to_owned();
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// The columns of the terminal on standard error.
fn width() -> usize {
    let size = tcgetwinsize(io::stderr()).ok().map(|size| usize::from(size.ws_col));
    size.filter(|columns| *columns > 0).unwrap_or(USUAL_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(done: usize, total: usize, seconds: u64) -> String {
        line(done, total, "compiled serde", Duration::from_secs(seconds))
    }

    #[test]
    fn a_bar_shows_what_is_done_and_estimates_the_rest() {
        assert_eq!(shown(0, 45, 0), "toolsmith: [                        ] 0/45 compiled serde");
        assert_eq!(
            shown(15, 45, 20),
            "toolsmith: [=======>                ] 15/45 compiled serde, about 40 s left"
        );
        assert_eq!(
            shown(1, 10, 20),
            "toolsmith: [=>                      ] 1/10 compiled serde, about 3 min left"
        );
        assert_eq!(shown(45, 45, 60), "toolsmith: [========================] 45/45 compiled serde");
        // The total was only a guess.
        assert_eq!(shown(46, 45, 60), "toolsmith: [========================] 46/46 compiled serde");
        assert_eq!(shown(0, 0, 60), "toolsmith: [                        ] 0/1 compiled serde");
    }

    #[test]
    fn a_line_is_cut_to_the_width_of_the_terminal() {
        assert_eq!(fitting("toolsmith: one", 15), "toolsmith: one");
        assert_eq!(fitting("toolsmith: one", 14), "toolsmith: o…");
        assert_eq!(fitting("abc", 0), "…");
    }

    #[test]
    fn what_was_shown_is_cleared_once() {
        let line = ProgressLine::default();
        assert!(!line.take());
        assert!(line.message("building").starts_with(CLEAR));
        assert!(line.take() && !line.take());
        assert!(line.step(1, 2, "built").contains(" 1/2 built"));
        assert!(line.end() && !line.end());
    }
}
