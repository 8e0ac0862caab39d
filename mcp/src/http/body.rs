//! Bodies of answers, read within bounds: whole ones, and streams of server-sent events.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt, stream::BoxStream};
use reqwest::Response;
use sse_stream::{Error, Sse, SseStream};

use super::HttpFailure;
use crate::wire::{MAX_MESSAGE_BYTES, too_large};

/// The body of an answer, up to `limit` bytes.
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

/// The events of an answer, each of at most [`MAX_MESSAGE_BYTES`].
pub(crate) fn events(response: Response) -> BoxStream<'static, Result<Sse, Error>> {
    let bytes = response.bytes_stream().boxed();
    SseStream::from_bytes_stream(Bounded { bytes, event: 0, line_is_empty: true, failed: false }).boxed()
}

type Bytes<B> = BoxStream<'static, Result<B, reqwest::Error>>;

/// Ends a stream of bytes in whose events there is too much.
struct Bounded<B> {
    bytes: Bytes<B>,
    /// How many bytes the event under way has.
    event: usize,
    line_is_empty: bool,
    failed: bool,
}

/// Why a stream of bytes ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("{0}")]
    Http(HttpFailure),
}

impl<B: AsRef<[u8]>> Bounded<B> {
    /// Counts the bytes of a chunk; false if an event has too many. An empty line ends an event.
    fn admit(&mut self, chunk: &[u8]) -> bool {
        for byte in chunk {
            self.event += 1;
            match byte {
                b'\n' | b'\r' if self.line_is_empty => self.event = 0,
                b'\n' | b'\r' => self.line_is_empty = true,
                _ => self.line_is_empty = false,
            }
            if self.event > MAX_MESSAGE_BYTES {
                return false;
            }
        }
        true
    }
}

impl<B: AsRef<[u8]>> Stream for Bounded<B> {
    type Item = Result<B, Broken>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.failed {
            return Poll::Ready(None);
        }
        let Poll::Ready(next) = self.bytes.poll_next_unpin(context) else { return Poll::Pending };
        let failure = match next {
            Some(Ok(chunk)) if self.admit(chunk.as_ref()) => return Poll::Ready(Some(Ok(chunk))),
            Some(Ok(_)) => HttpFailure::Protocol(too_large()),
            Some(Err(error)) => HttpFailure::unreachable(&error),
            None => return Poll::Ready(None),
        };
        self.failed = true;
        Poll::Ready(Some(Err(Broken::Http(failure))))
    }
}
