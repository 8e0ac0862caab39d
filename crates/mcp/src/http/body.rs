//! Reads response bodies within limits: whole bodies, and streams of server-sent events.

use std::{collections::VecDeque, sync::Arc};

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use reqwest::Response;
use sse_stream::{Error, Sse};
use system::event_loop::off_loop;

use super::{HttpFailure, event_stream::EventParser};
use crate::wire::{FREE_BYTES, LargePermit, MAX_MESSAGE_BYTES, MemoryBudget, SmallPermit, batch, too_large};

/// Reads the body of a response, up to `limit` bytes.
pub(crate) async fn read_bounded(response: Response, limit: usize) -> Result<Vec<u8>, HttpFailure> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| HttpFailure::unreachable(&error))?;
        if body.len() + chunk.len() > limit {
            return Err(HttpFailure::Protocol(too_large()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads a body that is one message. Of many that arrive at the same time, small ones share a memory budget and large
/// ones are read one at a time; the permit for that is returned with the body.
pub(crate) async fn read_in_turn(
    response: Response,
    room: &Arc<MemoryBudget>,
) -> Result<(Vec<u8>, Option<LargePermit>), HttpFailure> {
    let mut turn = MessagePermit::new(Arc::clone(room));
    let announced =
        response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
    let announced = announced.min(MAX_MESSAGE_BYTES);
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    turn.wait_for(announced).await;
    loop {
        turn.wait_for_more(body.len()).await;
        let Some(chunk) = chunks.next().await else { break };
        let chunk = chunk.map_err(|error| HttpFailure::unreachable(&error))?;
        if body.len() + chunk.len() > MAX_MESSAGE_BYTES {
            return Err(HttpFailure::Protocol(too_large()));
        }
        turn.wait_for(body.len() + chunk.len()).await;
        if turn.large.is_some() && body.capacity() < announced {
            // Growing step by step would copy it, with both copies in memory.
            body.reserve_exact(announced - body.len());
        }
        body.extend_from_slice(&chunk);
    }
    Ok((body, turn.large))
}

/// The events of a response, each of at most [`MAX_MESSAGE_BYTES`]; large ones are read one at a time.
pub(crate) fn events(response: Response, room: Arc<MemoryBudget>) -> BoxStream<'static, Result<Sse, Error>> {
    let reading = Reading {
        bytes: response.bytes_stream().boxed(),
        size: EventSize::default(),
        turn: MessagePermit::new(room),
        parser: EventParser::default(),
        read: VecDeque::new(),
        events: VecDeque::new(),
        failed: false,
    };
    stream::unfold(reading, Reading::next).boxed()
}

/// Splits a batch into one event per message; other events are unchanged. A caller that loses the stream resumes after
/// all of them.
pub(crate) fn one_by_one(mut event: Sse) -> Vec<Sse> {
    let bytes = event.data.as_ref().map_or(0, String::len);
    let messages = off_loop(bytes, || event.data.as_deref().and_then(batch));
    let Some(messages) = messages else { return vec![event] };
    let name = event.event.clone();
    let mut events: Vec<Sse> = messages
        .into_iter()
        .map(|data| Sse { event: name.clone(), data: Some(data), ..Sse::default() })
        .collect();
    event.data = None;
    events.push(event);
    events
}

/// The permit to have a message in memory: a share of the budget for small ones, or the turn of a large one.
struct MessagePermit {
    room: Arc<MemoryBudget>,
    small: Option<SmallPermit>,
    large: Option<LargePermit>,
}

impl MessagePermit {
    fn new(room: Arc<MemoryBudget>) -> Self {
        Self { room, small: None, large: None }
    }

    /// Waits until this many bytes of the message may be in memory.
    async fn wait_for(&mut self, bytes: usize) {
        if self.large.is_none() && !self.room.admit(&mut self.small, bytes) {
            self.large = Some(self.room.enter().await);
            self.small = None;
        }
    }

    /// Waits before the next chunk is requested, with `bytes` of the message received. Until it is requested, the
    /// connection holds one chunk ready and room for another, and each can be twice as long as the one before.
    async fn wait_for_more(&mut self, bytes: usize) {
        if bytes > FREE_BYTES {
            self.wait_for(2 * bytes).await;
        }
    }

    /// Releases the permit; the message has been passed on.
    fn end(&mut self) {
        (self.small, self.large) = (None, None);
    }
}

/// The reason why a stream of bytes ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("{0}")]
    Http(HttpFailure),
}

/// A stream of events that fails if an event is too large.
struct Reading<B> {
    bytes: BoxStream<'static, Result<B, reqwest::Error>>,
    size: EventSize,
    turn: MessagePermit,
    parser: EventParser,
    /// Events of the last chunk, as received.
    read: VecDeque<Sse>,
    /// Events not yet returned, one message each.
    events: VecDeque<Sse>,
    failed: bool,
}

impl<B: AsRef<[u8]> + Send + 'static> Reading<B> {
    async fn next(mut self) -> Option<(Result<Sse, Error>, Self)> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some((Ok(event), self));
            }
            if self.failed {
                return None;
            }
            if self.size.bytes <= FREE_BYTES {
                // The event before has ended, and was processed before the next one was requested.
                self.turn.end();
            }
            self.turn.wait_for_more(self.size.bytes).await;
            let failure = match self.bytes.next().await? {
                Ok(chunk) => match self.size.add(chunk.as_ref()) {
                    Some(bytes) => {
                        self.turn.wait_for(bytes).await;
                        self.parser.read(chunk.as_ref(), &mut self.read);
                        self.events.extend(self.read.drain(..).flat_map(one_by_one));
                        continue;
                    }
                    None => HttpFailure::Protocol(too_large()),
                },
                Err(error) => HttpFailure::unreachable(&error),
            };
            self.failed = true;
            return Some((Err(Error::Body(Box::new(Broken::Http(failure)))), self));
        }
    }
}

/// Counts the bytes of the current event. An empty line ends an event; a line ends with `\n`, `\r` or both (WHATWG
/// HTML, "Interpreting an event stream").
#[derive(Default)]
struct EventSize {
    bytes: usize,
    /// Whether the current line is not empty.
    line_has_bytes: bool,
    /// Whether the last byte was `\r`: an `\n` after it is part of the same line end.
    after_return: bool,
}

impl EventSize {
    /// Counts a chunk; returns the size of the current event, or `None` if an event is too large.
    fn add(&mut self, chunk: &[u8]) -> Option<usize> {
        for byte in chunk {
            self.bytes += 1;
            let ends_same_line = *byte == b'\n' && self.after_return;
            self.after_return = *byte == b'\r';
            match byte {
                b'\n' if ends_same_line => {}
                b'\n' | b'\r' if self.line_has_bytes => self.line_has_bytes = false,
                b'\n' | b'\r' => self.bytes = 0,
                _ => self.line_has_bytes = true,
            }
            if self.bytes > MAX_MESSAGE_BYTES {
                return None;
            }
        }
        Some(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_bounded_for_all_line_ends() {
        let line = "x".repeat(1 << 16);
        for end in ["\n", "\r", "\r\n"] {
            let mut size = EventSize::default();
            let line = format!("data: {line}{end}");
            let lines = (0..).take_while(|_| size.add(line.as_bytes()).is_some()).take(1_000).count();
            assert_eq!(lines, MAX_MESSAGE_BYTES / line.len(), "{end:?}");
        }
    }

    #[test]
    fn an_empty_line_ends_an_event_for_all_line_ends() {
        for end in ["\n", "\r", "\r\n"] {
            let mut size = EventSize::default();
            let event = format!("data: {}{end}{end}", "x".repeat(MAX_MESSAGE_BYTES / 2));
            for _ in 0..5 {
                assert!(size.add(event.as_bytes()).is_some_and(|bytes| bytes <= 1), "{end:?}");
            }
        }
    }
}
