//! The text of an event stream, made into events (WHATWG HTML, "Interpreting an event stream").
//!
//! Whatever the standard says to ignore is ignored: unknown fields, a `retry` that is no number, bytes that are no UTF-8.
//! A parser that ends the stream over them would lose the answers after it.

use std::collections::VecDeque;

use reqwest::header::HeaderValue;
use sse_stream::Sse;

/// The longest id of an event that is sent back, in bytes: about what servers take in a head.
const MAX_ID_BYTES: usize = 4096;

/// What may stand before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The capacity that the line under way is cut back to after a long one.
const RETAINED_BYTES: usize = 16 * 1024;

/// Reads an event stream, chunk by chunk. Its memory is that of the event under way, which the caller bounds.
#[derive(Default)]
pub(super) struct EventParser {
    line: Vec<u8>,
    is_begun: bool,
    /// Whether the last byte was `\r`: an `\n` after it belongs to the same end.
    after_return: bool,
    event: Sse,
}

impl EventParser {
    /// Reads a chunk; what it completes goes to `events`.
    pub(super) fn read(&mut self, mut chunk: &[u8], events: &mut VecDeque<Sse>) {
        while let Some(first) = chunk.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                chunk = chunk.get(1..).unwrap_or_default();
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', chunk) else {
                self.line.extend_from_slice(chunk);
                return;
            };
            let (line, rest) = chunk.split_at(end);
            self.line.extend_from_slice(line);
            self.after_return = rest.first() == Some(&b'\r');
            chunk = rest.get(1..).unwrap_or_default();
            self.end_line(events);
        }
    }

    fn end_line(&mut self, events: &mut VecDeque<Sse>) {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.is_begun, true) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            self.dispatch(events);
            return;
        }
        let colon = memchr::memchr(b':', &line);
        let name = line.get(..colon.unwrap_or(line.len())).unwrap_or_default();
        let value = colon.map_or(line.len(), |colon| colon + 1);
        let value = value + usize::from(line.get(value) == Some(&b' '));
        match name {
            b"data" if self.event.data.is_none() => {
                // A long text stays where it is.
                line.drain(..value);
                let text = String::from_utf8(std::mem::take(&mut line));
                let lossy = |wrong: std::string::FromUtf8Error| {
                    String::from_utf8_lossy(wrong.as_bytes()).into_owned()
                };
                self.event.data = Some(text.unwrap_or_else(lossy));
            }
            b"data" => {
                let data = self.event.data.get_or_insert_default();
                data.push('\n');
                data.push_str(&text(&line, value));
            }
            b"event" => self.event.event = Some(text(&line, value)),
            b"id" => self.set_id(line.get(value..).unwrap_or_default()),
            b"retry" => {
                let digits = line.get(value..).unwrap_or_default();
                let is_number = digits.iter().all(u8::is_ascii_digit);
                let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
                self.event.retry = number.filter(|_| is_number).or(self.event.retry);
            }
            _ => {}
        }
        line.clear();
        line.shrink_to(RETAINED_BYTES);
        self.line = line;
    }

    /// An id that no header can carry, or that stands for none, is none to go on after.
    fn set_id(&mut self, id: &[u8]) {
        let can_be_sent = HeaderValue::from_bytes(id).is_ok();
        if let Ok(id) = std::str::from_utf8(id)
            && can_be_sent
            && (1..=MAX_ID_BYTES).contains(&id.len())
        {
            self.event.id = Some(id.to_owned());
        }
    }

    /// Ends an event. One without data is no message, but it may say where and when to go on.
    fn dispatch(&mut self, events: &mut VecDeque<Sse>) {
        let event = std::mem::take(&mut self.event);
        if event.data.is_some() || event.id.is_some() || event.retry.is_some() {
            events.push_back(event);
        }
    }
}

fn text(line: &[u8], from: usize) -> String {
    String::from_utf8_lossy(line.get(from..).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(stream: &[u8], chunk: usize) -> Vec<Sse> {
        let (mut parser, mut events) = (EventParser::default(), VecDeque::new());
        stream.chunks(chunk).for_each(|chunk| parser.read(chunk, &mut events));
        events.into()
    }

    fn message(data: &str) -> Sse {
        Sse::default().data(data)
    }

    #[test]
    fn what_the_standard_ignores_ends_no_stream() {
        let long_id = [b"id: ".as_slice(), &[b'7'; MAX_ID_BYTES + 1], b"\ndata: a\n\n"].concat();
        let cases: [(&[u8], Sse); 21] = [
            (b"data: a\n\n", message("a")),
            (b"\xef\xbb\xbfdata: a\n\n", message("a")),
            (b"data:a\r\n\r\n", message("a")),
            (b"data:  a\r\r", message(" a")),
            (b"data: a\ndata: b\ndata\n\n", message("a\nb\n")),
            (b"unknown: x\ndata: a\n\n", message("a")),
            (b"no colon at all\ndata: a\n\n", message("a")),
            (b": a comment\ndata: a\n\n", message("a")),
            (b"Data: x\ndata: a\n\n", message("a")),
            (b"retry: soon\ndata: a\n\n", message("a")),
            (b"retry: -5\nretry: +5\nretry:  5\ndata: a\n\n", message("a")),
            (b"retry: 99999999999999999999\ndata: a\n\n", message("a")),
            (b"retry\nretry:\ndata: a\n\n", message("a")),
            (b"retry: 5\nretry: 6\ndata: a\n\n", message("a").retry(6)),
            (b"data: caf\xe9\n\n", message("caf\u{fffd}")),
            (b"event: \xff\ndata: a\n\n", message("a").event("\u{fffd}")),
            (b"event: x\nevent: message\ndata: a\n\n", message("a").event("message")),
            (b"id: 1\nid: 2\ndata: a\n\n", message("a").id("2")),
            (b"id: 1\0\nid: \x1b\nid: \xff\nid\nid:\ndata: a\n\n", message("a")),
            (b"id: \xc3\xa9\ndata: a\n\n", message("a").id("\u{e9}")),
            (&long_id, message("a")),
        ];
        for (stream, expected) in cases {
            for chunk in [1, 2, 3, stream.len()] {
                let shown = String::from_utf8_lossy(stream);
                assert_eq!(parsed(stream, chunk), std::slice::from_ref(&expected), "{shown:?} by {chunk}");
            }
        }
    }

    #[test]
    fn events_without_data_say_where_to_go_on_or_nothing() {
        assert_eq!(parsed(b"id: 7\nretry: 10\n\nevent: ping\n\n\n\n", 4), [Sse::default().id("7").retry(10)]);
        // What the end of the stream leaves open is dropped.
        assert_eq!(parsed(b"data: a\n\ndata: b\n", 100), [message("a")]);
    }
}
