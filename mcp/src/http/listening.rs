//! When a stream of events is opened again, and when no more.
//!
//! The library opens a stream that has ended once more, at once and for ever. A server that closes it each time would be
//! asked several times a second for as long as the session lasts.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// How often a stream may end without an event before it is given up.
const MAX_EMPTY: u32 = 6;

/// The wait before the third opening of a stream that has brought nothing; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// How many streams are remembered; a server makes up the names of those that are resumed.
const MAX_STREAMS: usize = 256;

/// How often streams were opened without an event on them.
#[derive(Debug, Default)]
pub(crate) struct Openings(Mutex<HashMap<Option<String>, u32>>);

/// What to do with one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Open it after this time.
    After(Duration),
    /// It has brought nothing too often.
    GiveUp,
}

impl Openings {
    /// Notes that a stream is to be opened: the session's own, or one that is resumed after an event.
    pub(crate) fn note(&self, last_event: Option<&str>) -> Opening {
        let mut openings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if openings.len() >= MAX_STREAMS {
            openings.retain(|event, _| event.is_none());
        }
        let empty = openings.entry(last_event.map(str::to_owned)).or_default();
        *empty += 1;
        match *empty {
            // The server's own `retry` holds for the first time that a stream is resumed.
            0..=2 => Opening::After(Duration::ZERO),
            times if times > MAX_EMPTY => Opening::GiveUp,
            times => Opening::After(FIRST_WAIT * 2_u32.pow(times - 3)),
        }
    }

    /// Notes that the session's own stream has brought an event.
    pub(crate) fn brought(&self, last_event: Option<&str>) {
        let mut openings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        openings.remove(&last_event.map(str::to_owned));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Opening, Openings};

    #[test]
    fn streams_that_bring_nothing_are_given_up() {
        let openings = Openings::default();
        let waits: Vec<Opening> = (0..7).map(|_| openings.note(None)).collect();
        let after = |milliseconds| Opening::After(Duration::from_millis(milliseconds));
        let expected =
            [after(0), after(0), after(500), after(1000), after(2000), after(4000), Opening::GiveUp];
        assert_eq!(waits, expected);
        assert_eq!(openings.note(Some("7")), after(0));
        openings.brought(None);
        assert_eq!(openings.note(None), after(0));
    }
}
