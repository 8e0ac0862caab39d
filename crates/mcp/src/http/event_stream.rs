//! Parses the text of an event stream (WHATWG HTML, "Interpreting an event stream").
//!
//! Ignores what the standard says to ignore: unknown fields, a `retry` that is not a number, invalid UTF-8. A parser
//! that ended the stream over them would lose the responses that follow.

use std::collections::VecDeque;

use reqwest::header::HeaderValue;
use sse_stream::Sse;

/// Maximum length of an event id that is sent back, in bytes: about what servers accept in a head.
const MAX_ID_BYTES: usize = 4096;

/// Allowed before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Capacity to which the line buffer shrinks after a long line.
const RETAINED_BYTES: usize = 16 * 1024;

/// Reads an event stream, chunk by chunk. Its memory is that of the current event, which the caller limits.
#[derive(Default)]
pub(super) struct EventParser {
    line: Vec<u8>,
    has_started: bool,
    /// Whether the last byte was `\r`: an `\n` after it is part of the same line end.
    after_return: bool,
    event: Sse,
}

impl EventParser {
    /// Reads a chunk; completed events are appended to `events`.
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
        if !std::mem::replace(&mut self.has_started, true) && line.starts_with(BYTE_ORDER_MARK) {
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
                // A long text is not copied.
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

    /// Ignores an id that is empty or that no header can carry: the stream cannot be resumed after it.
    fn set_id(&mut self, id: &[u8]) {
        let can_be_sent = HeaderValue::from_bytes(id).is_ok();
        if let Ok(id) = std::str::from_utf8(id)
            && can_be_sent
            && (1..=MAX_ID_BYTES).contains(&id.len())
        {
            self.event.id = Some(id.to_owned());
        }
    }

    /// Ends an event. One without data is not a message, but it may carry an id or a retry time.
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
    fn ignorable_input_does_not_end_a_stream() {
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
    fn events_without_data_carry_an_id_and_a_retry_time_or_are_dropped() {
        assert_eq!(parsed(b"id: 7\nretry: 10\n\nevent: ping\n\n\n\n", 4), [Sse::default().id("7").retry(10)]);
        // An event that the end of the stream cuts off is dropped.
        assert_eq!(parsed(b"data: a\n\ndata: b\n", 100), [message("a")]);
    }
}
