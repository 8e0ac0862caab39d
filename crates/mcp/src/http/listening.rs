//! The session's own event stream: when calls wait for it, when it is reopened, and when no longer.
//!
//! A server may drop requests to the client during a call while that stream is not open (the TypeScript SDK does), and
//! the library opens it concurrently with the first requests. So calls wait until the server has responded to the
//! request for the stream.
//!
//! The library reopens a stream that has ended, at once and without limit. A server that closes it each time would get
//! several requests a second for the whole session.

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::watch, time::timeout};

/// The number of times that a stream may end without an event before it is abandoned.
const MAX_EMPTY: u32 = 6;

/// The wait before the third opening of a stream without events; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Limit on remembered streams; the server chooses the ids of resumed ones.
const MAX_STREAMS: usize = 256;

/// The number of times that each stream was opened without receiving an event.
#[derive(Debug, Default)]
pub(crate) struct Openings(Mutex<HashMap<Option<String>, u32>>);

/// The decision on opening a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Open it after this time.
    After(Duration),
    /// It ended without an event too often.
    GiveUp,
}

impl Openings {
    /// Records that a stream is to be opened: the session's own, or one that is resumed after an event.
    pub(crate) fn note(&self, last_event: Option<&str>) -> Opening {
        let mut openings = self.0.lock();
        if openings.len() >= MAX_STREAMS {
            openings.retain(|event, _| event.is_none());
        }
        let empty = openings.entry(last_event.map(str::to_owned)).or_default();
        *empty += 1;
        match *empty {
            // For the first resumption, the server's own `retry` applies.
            0..=2 => Opening::After(Duration::ZERO),
            times if times > MAX_EMPTY => Opening::GiveUp,
            times => Opening::After(FIRST_WAIT * 2_u32.pow(times - 3)),
        }
    }

    /// Records that a stream has received an event.
    pub(crate) fn received_event(&self, last_event: Option<&str>) {
        let mut openings = self.0.lock();
        openings.remove(&last_event.map(str::to_owned));
    }
}

/// Limit on the time a call waits for the stream: some servers send nothing on it before its first event.
const MAX_STREAM_WAIT: Duration = Duration::from_secs(2);

/// The session whose own stream is open, or known not to open.
#[derive(Debug)]
pub(crate) struct OwnStream {
    settled: watch::Sender<Option<String>>,
    longest_wait: Duration,
}

impl OwnStream {
    /// `request_timeout` is the limit for a whole request.
    pub(crate) fn new(request_timeout: Duration) -> Self {
        let longest_wait = MAX_STREAM_WAIT.min(request_timeout / 2);
        Self { settled: watch::Sender::new(None), longest_wait }
    }

    /// Records that the server has responded to the request for a session's stream, in any way.
    pub(crate) fn settle(&self, session: Option<&str>) {
        self.settled.send_replace(session.map(str::to_owned));
    }

    /// Waits until the stream of a session is settled; after the time limit, later calls of the session no longer wait.
    pub(crate) async fn wait(&self, session: Option<&str>) {
        let Some(session) = session else { return };
        let mut settled = self.settled.subscribe();
        let settled = settled.wait_for(|settled| settled.as_deref() == Some(session));
        if timeout(self.longest_wait, settled).await.is_err() {
            self.settle(Some(session));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, time::Duration};

    use futures::poll;
    use tokio::time::Instant;

    use super::{MAX_STREAM_WAIT, Opening, Openings, OwnStream};

    #[tokio::test(start_paused = true)]
    async fn a_call_waits_for_the_stream_of_its_own_session() {
        let stream = OwnStream::new(Duration::from_secs(30));
        stream.settle(Some("before"));
        let mut call = pin!(stream.wait(Some("now")));
        assert!(poll!(call.as_mut()).is_pending());
        stream.settle(Some("now"));
        assert!(poll!(call.as_mut()).is_ready());
        // Without a session there is no such stream.
        assert!(poll!(pin!(stream.wait(None))).is_ready());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_wait_only_once_for_a_stream_that_never_opens() {
        let stream = OwnStream::new(Duration::from_secs(30));
        let start = Instant::now();
        stream.wait(Some("now")).await;
        assert_eq!(start.elapsed(), MAX_STREAM_WAIT);
        stream.wait(Some("now")).await;
        assert_eq!(start.elapsed(), MAX_STREAM_WAIT);
    }

    #[test]
    fn streams_without_events_are_given_up() {
        let openings = Openings::default();
        let waits: Vec<Opening> = (0..7).map(|_| openings.note(None)).collect();
        let after = |milliseconds| Opening::After(Duration::from_millis(milliseconds));
        let expected =
            [after(0), after(0), after(500), after(1000), after(2000), after(4000), Opening::GiveUp];
        assert_eq!(waits, expected);
        assert_eq!(openings.note(Some("7")), after(0));
        openings.received_event(None);
        assert_eq!(openings.note(None), after(0));
    }
}
