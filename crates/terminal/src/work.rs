//! The text of a terminal's status line: how far long work has come, and what is awaited.
//!
//! The writing thread shows it below everything else, and clears it before it writes anything else.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use rustix::termios::tcgetwinsize;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Length of a bar, in characters.
const BAR: usize = 24;

/// Time for which something is awaited before it is named.
pub(crate) const BEFORE_NAMED: Duration = Duration::from_secs(1);

/// Time for which work must have been in progress before the rest is estimated.
const BEFORE_ESTIMATE: Duration = Duration::from_secs(3);

/// Columns of a terminal that does not say how wide it is.
const USUAL_WIDTH: usize = 80;

/// Maximum number of awaited things that are named at once.
const NAMED: usize = 3;

/// The state of the work that the line shows.
#[derive(Debug, Default)]
pub(crate) struct Work(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// When the work with steps started, and its steps so far.
    steps: Option<(Instant, usize)>,
    /// The phase of a run, and its start.
    phase: Option<(&'static str, Instant)>,
    /// The open waits, by number.
    awaited: BTreeMap<u64, Awaited>,
    next: u64,
}

/// Something that is awaited: `starting git (uvx)`.
#[derive(Debug)]
struct Awaited {
    action: &'static str,
    name: String,
    since: Instant,
}

impl Work {
    /// A message, which replaces the steps of earlier work.
    pub(crate) fn message(&self, message: &str) -> String {
        self.end_steps();
        fitting(&format!("toolsmith: {message}"))
    }

    /// A bar: `done` of about `total` steps.
    pub(crate) fn step(&self, done: usize, total: usize, message: &str) -> String {
        let mut state = self.state();
        // Fewer steps than before belong to other work.
        let started = match state.steps {
            Some((started, before)) if before <= done => started,
            _ => Instant::now(),
        };
        state.steps = (done < total).then_some((started, done));
        fitting(&line(done, total, message, started.elapsed()))
    }

    /// Ends the work with steps.
    pub(crate) fn end_steps(&self) {
        self.state().steps = None;
    }

    /// Begins a phase of a run.
    pub(crate) fn begin_phase(&self, phase: Option<&'static str>) {
        self.state().phase = phase.map(|phase| (phase, Instant::now()));
    }

    /// Begins a wait until the result is dropped.
    pub(crate) fn await_for(&self, action: &'static str, name: &str) -> Waiting<'_> {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.awaited.insert(number, Awaited { action, name: name.to_owned(), since: Instant::now() });
        Waiting { work: self, number }
    }

    /// Begins all waits anew, because the user has answered a question meanwhile.
    pub(crate) fn restart(&self) {
        let (now, mut state) = (Instant::now(), self.state());
        state.awaited.values_mut().for_each(|awaited| awaited.since = now);
        if let Some((_, since)) = &mut state.phase {
            *since = now;
        }
    }

    /// Describes the long waits, or the phase of the run if it takes long, unless steps are shown.
    pub(crate) fn awaited(&self) -> Option<String> {
        let state = self.state();
        if state.steps.is_some() {
            return None;
        }
        let late: Vec<&Awaited> =
            state.awaited.values().filter(|awaited| awaited.since.elapsed() >= BEFORE_NAMED).collect();
        let (line, since) = match (&late[..], state.phase) {
            ([], Some((phase, since))) if since.elapsed() >= BEFORE_NAMED => (phase.to_owned(), since),
            ([], _) => return None,
            (late, _) => (named(late), late.iter().map(|awaited| awaited.since).min()?),
        };
        let seconds = format!(", {} s", since.elapsed().as_secs());
        let width = columns(io::stderr()).saturating_sub(seconds.width());
        Some(format!("{}{seconds}", cut(&format!("toolsmith: {line}"), width)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

/// A wait. It ends when this is dropped.
pub(crate) struct Waiting<'a> {
    work: &'a Work,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.work.state().awaited.remove(&self.number);
    }
}

/// `starting git (uvx)`, or `waiting for git (uvx), shop and 2 more`.
fn named(awaited: &[&Awaited]) -> String {
    let names: Vec<&str> = awaited.iter().take(NAMED).map(|awaited| awaited.name.as_str()).collect();
    let more = match awaited.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let action = match awaited {
        [only] => only.action,
        _ => "waiting for",
    };
    format!("{action} {}{more}", names.join(", "))
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

/// Estimates the time of the rest from the time of the steps that are done.
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

/// A line that fits the terminal.
fn fitting(line: &str) -> String {
    cut(line, columns(io::stderr()))
}

/// A line that leaves the last column of the terminal free: a longer one would continue on a second row, which clearing
/// the line does not clear.
fn cut(line: &str, width: usize) -> String {
    let most = width.saturating_sub(1);
    if line.width() <= most {
        return line.to_owned();
    }
    fitting_columns(line.chars(), most.saturating_sub(1)).chain(['…']).collect()
}

/// The first characters that fit into some columns; of a reversed text the last ones.
pub fn fitting_columns(characters: impl Iterator<Item = char>, columns: usize) -> impl Iterator<Item = char> {
    let mut used = 0;
    characters.take_while(move |character| {
        used += character.width().unwrap_or_default();
        used <= columns
    })
}

/// The columns of a terminal.
pub fn columns(terminal: impl AsFd) -> usize {
    let size = tcgetwinsize(terminal).ok().map(|size| usize::from(size.ws_col));
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
        assert_eq!(cut("toolsmith: one", 15), "toolsmith: one");
        assert_eq!(cut("toolsmith: one", 14), "toolsmith: o…");
        assert_eq!(cut("abc", 0), "…");
        assert_eq!(cut("日本語", 7), "日本語");
        assert_eq!(cut("日本語", 6), "日本…");
    }

    #[test]
    fn what_is_awaited_is_named_in_a_bounded_line() {
        let awaited = |name: &str, seconds: u64| Awaited {
            action: "starting",
            name: name.to_owned(),
            since: Instant::now() - Duration::from_secs(seconds),
        };
        let all =
            [("git (uvx)", 3), ("shop", 7), ("a", 1), ("b", 1), ("c", 1)].map(|(name, s)| awaited(name, s));
        let all: Vec<&Awaited> = all.iter().collect();
        assert_eq!(named(&all[..1]), "starting git (uvx)");
        assert_eq!(named(&all[..2]), "waiting for git (uvx), shop");
        assert_eq!(named(&all), "waiting for git (uvx), shop, a and 2 more");
    }

    #[test]
    fn a_short_wait_and_one_that_has_ended_are_not_named() {
        let work = Work::default();
        let waiting = work.await_for("starting", "git");
        assert_eq!(work.awaited(), None);
        work.state().awaited.values_mut().for_each(|awaited| awaited.since -= BEFORE_NAMED);
        assert_eq!(work.awaited().as_deref(), Some("toolsmith: starting git, 1 s"));
        let name = "名".repeat(100);
        let long = work.await_for("starting", &name);
        work.state().awaited.values_mut().for_each(|awaited| awaited.since -= BEFORE_NAMED);
        let line = work.awaited().unwrap();
        assert!(line.ends_with("…, 2 s") && line.width() < columns(io::stderr()), "{line}");
        drop(long);
        // The steps say more.
        assert!(work.step(1, 2, "built").contains(" 1/2 built"));
        assert_eq!(work.awaited(), None);
        work.end_steps();
        drop(waiting);
        assert_eq!(work.awaited(), None);
        work.begin_phase(Some("compiling"));
        assert_eq!(work.awaited(), None);
        work.state().phase.iter_mut().for_each(|(_, since)| *since -= BEFORE_NAMED);
        assert_eq!(work.awaited().as_deref(), Some("toolsmith: compiling, 1 s"));
        work.restart();
        assert_eq!(work.awaited(), None);
    }
}
