//! Inspects heads as they arrive, and refuses an ambiguous body length: two lengths, or a length and chunks.
//!
//! The library accepts such a request and decides how to read it. An intermediary may decide differently, and take a
//! part of one request for the next (RFC 9112, section 11.2).

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Limits on the size in bytes (64 KiB) and the number of lines of a request's head.
pub(super) const HEAD_BYTES: usize = 64 << 10;
pub(super) const HEAD_LINES: usize = 100;

/// The reason why requests of a connection are refused, once there is one.
pub(super) type Verdict = Arc<OnceLock<&'static str>>;

/// A connection whose heads are inspected.
#[derive(Debug)]
pub(super) struct InspectedConnection<S> {
    stream: S,
    framing: Framing,
    verdict: Verdict,
}

/// The position in the stream of requests.
#[derive(Debug)]
enum Framing {
    /// In a head, of which this much has arrived.
    Head(Vec<u8>),
    /// In a body, with this many bytes left.
    Body(u64),
    /// The connection ends with this request, and nothing more is inspected.
    Last,
}

impl<S> InspectedConnection<S> {
    pub(super) fn new(stream: S) -> (Self, Verdict) {
        let verdict = Verdict::default();
        (
            InspectedConnection { stream, framing: Framing::Head(Vec::new()), verdict: verdict.clone() },
            verdict,
        )
    }

    fn inspect(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match &mut self.framing {
                Framing::Last => return,
                Framing::Body(rest) => {
                    let here = usize::try_from(*rest).unwrap_or(usize::MAX).min(bytes.len());
                    *rest -= here as u64;
                    bytes = bytes.get(here..).unwrap_or_default();
                    if *rest == 0 {
                        self.framing = Framing::Head(Vec::new());
                    }
                }
                Framing::Head(head) => {
                    let before = head.len();
                    let Some(end) = end_of_head(head, bytes) else {
                        head.extend_from_slice(bytes);
                        if head.len() > HEAD_BYTES {
                            // The library refuses it.
                            self.framing = Framing::Last;
                        }
                        return;
                    };
                    head.extend_from_slice(bytes.get(..end).unwrap_or_default());
                    let read = framing(head);
                    debug_assert!(head.len() == before + end);
                    bytes = bytes.get(end..).unwrap_or_default();
                    self.framing = read.unwrap_or_else(|why| {
                        let _ = self.verdict.set(why);
                        Framing::Last
                    });
                }
            }
        }
    }
}

/// Returns how many of the further bytes complete this head, if they contain the empty line at its end.
fn end_of_head(head: &[u8], more: &[u8]) -> Option<usize> {
    // Empty lines before a request do not end it (RFC 9112, section 2.2).
    let mut started = head.iter().any(|byte| !matches!(byte, b'\r' | b'\n'));
    let mut line_is_empty = match head {
        [.., b'\n'] | [.., b'\n', b'\r'] => started,
        _ => false,
    };
    for (index, byte) in more.iter().enumerate() {
        match byte {
            b'\n' if line_is_empty => return Some(index + 1),
            b'\n' => line_is_empty = started,
            b'\r' => {}
            _ => (started, line_is_empty) = (true, false),
        }
    }
    None
}

/// The framing after a complete head.
fn framing(head: &[u8]) -> Result<Framing, &'static str> {
    let mut headers = [httparse::EMPTY_HEADER; HEAD_LINES];
    let mut request = httparse::Request::new(&mut headers);
    if !request.parse(head).is_ok_and(|read| read.is_complete()) {
        // The library refuses it with its own status.
        return Ok(Framing::Last);
    }
    let values = |name: &str| {
        let fits = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case(name);
        request.headers.iter().filter(fits).map(|header| header.value).collect::<Vec<_>>()
    };
    let (lengths, codings) = (values("content-length"), values("transfer-encoding"));
    match (lengths.as_slice(), codings.as_slice()) {
        ([], []) => Ok(Framing::Head(Vec::new())),
        ([], [_]) => Ok(Framing::Last),
        ([length], []) => {
            let length =
                std::str::from_utf8(length).ok().filter(|text| text.bytes().all(|c| c.is_ascii_digit()));
            let length = length.and_then(|length| length.parse().ok());
            length.map(Framing::Body).ok_or("its Content-Length is not a number of bytes")
        }
        ([_, ..], [_, ..]) => Err("it has both a Content-Length and a Transfer-Encoding; send one of them"),
        ([], _) => Err("it has more than one Transfer-Encoding; send one"),
        (_, []) => Err("it has more than one Content-Length; send one"),
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for InspectedConnection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.inspect(buffer.filled().get(before..).unwrap_or_default());
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for InspectedConnection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(bytes: &str, split: usize) -> Option<&'static str> {
        let (mut watched, verdict) = InspectedConnection::new(());
        for piece in bytes.as_bytes().chunks(split) {
            watched.inspect(piece);
        }
        verdict.get().copied()
    }

    #[test]
    fn every_request_of_a_connection_has_one_body_length() {
        let post =
            |headers: &str, body: &str| format!("POST /mcp HTTP/1.1\r\nHost: a\r\n{headers}\r\n{body}");
        let valid = [
            post("Content-Length: 4\r\n", "\r\n\r\n"),
            "\r\n\nGET / HTTP/1.1\nHost: a\n\n".to_owned(),
            post("content-length: 37\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n"),
        ]
        .concat();
        let invalid = [
            ("Content-Length: 1\r\nContent-Length: 1\r\n", "more than one Content-Length"),
            ("Content-Length: 1\r\nContent-Length: 2\r\n", "more than one Content-Length"),
            ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "both"),
            ("Transfer-Encoding: chunked\r\ncontent-LENGTH: 1\r\n", "both"),
            (
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                "more than one Transfer-Encoding",
            ),
            ("Content-Length: +1\r\n", "not a number"),
            ("Content-Length: 1, 1\r\n", "not a number"),
            ("Content-Length: \r\n", "not a number"),
            ("Content-Length: 99999999999999999999\r\n", "not a number"),
        ];
        for split in [1, 2, 3, 7, 1_000] {
            assert_eq!(verdict(&valid, split), None, "{split}");
            assert_eq!(verdict(&post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), split), None);
            for (headers, why) in invalid {
                let reason = verdict(&[valid.as_str(), &post(headers, "")].concat(), split);
                assert!(reason.is_some_and(|reason| reason.contains(why)), "{headers}: {reason:?}");
            }
        }
    }
}
