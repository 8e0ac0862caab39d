//! Answers as event streams, in every form that the WHATWG standard on server-sent events covers.

/// The stream that carries a message; `None` if the mode does not stream.
pub(crate) fn stream(mode: &str, message: &[u8]) -> Option<Vec<u8>> {
    let mode = mode.strip_prefix("sse-")?;
    let data = [b"data: ", message].concat();
    let lines = |before: &[u8], end: &[u8]| [before, end, &data, end, end].concat();
    Some(match mode {
        "unknown-field" => lines(b"odd: value", b"\n"),
        "no-colon" => lines(b"odd", b"\n"),
        "bad-retry" => lines(b"retry: soon", b"\n"),
        "long-retry" => lines(b"retry: 99999999999999999999999999", b"\n"),
        "bad-utf8" => lines(b"odd: \xff\xfe", b"\n"),
        "bad-utf8-comment" => lines(b": caf\xe9", b"\n"),
        "nul-in-id" => lines(b"id: a\0b", b"\n"),
        "empty-id" => lines(b"id", b"\n"),
        "comments" => lines(b": hello\n\n:\n\n: again", b"\n"),
        "bom" => [b"\xef\xbb\xbf", &*lines(b"event: message", b"\n")].concat(),
        "cr" => lines(b"event: message", b"\r"),
        "crlf" => lines(b"event: message", b"\r\n"),
        "mixed-ends" => [b"event: message\r", &*data, b"\n\r\n"].concat(),
        "no-space" => [b"data:", message, b"\n\n"].concat(),
        "multiple-data" => pretty(message),
        "priming" => lines(b"id: 1\ndata: \n", b"\n"),
        "empty-data" => lines(b"data\n", b"\n"),
        "other-event" => lines(b"event: odd\ndata: {\"odd\":1}\n", b"\n"),
        "no-json-first" => lines(b"data: [this is no JSON\n", b"\n"),
        "two-messages" => {
            let log = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}";
            lines(format!("data: {log}\n").as_bytes(), b"\n")
        }
        "no-blank-line" => [&*data, b"\n"].concat(),
        "no-line-end" => data,
        _ => [&*data, b"\n\n"].concat(),
    })
}

/// The message on several lines, each a `data` field of one event.
fn pretty(message: &[u8]) -> Vec<u8> {
    let value: serde_json::Value = serde_json::from_slice(message).unwrap_or_default();
    let text = format!("{value:#}");
    let lines: Vec<_> = text.lines().map(|line| format!("data: {line}\n")).collect();
    format!("{}\n", lines.concat()).into_bytes()
}
