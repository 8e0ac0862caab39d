//! `instant-server`: an MCP server over stdio whose only tool, `take`, answers at once: for measuring calls.
//!
//! It reads as many requests as the pipe holds and answers them with one write, so that the time of a call is that of
//! its client. Of a request it reads only the id and the method, which the client writes before the parameters.

use std::io::{self, Read, Write};
use std::process::ExitCode;

/// Bytes to read at once: as many as a pipe holds.
const READ_BYTES: usize = 64 * 1024;

const INITIALIZED: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"instant","version":"1"}}"#;

const TOOLS: &str = r#"{"tools":[{"name":"take","description":"Takes a text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}"#;

const TAKEN: &str = r#"{"content":[{"type":"text","text":"taken"}]}"#;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        // The client is gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("instant-server: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until the end of the input.
fn serve() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let (mut received, mut answers) = (Vec::new(), Vec::new());
    let mut piece = vec![0; READ_BYTES];
    loop {
        let count = input.read(&mut piece)?;
        if count == 0 {
            return Ok(());
        }
        received.extend_from_slice(piece.get(..count).unwrap_or_default());
        let whole = received.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in received.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n') {
            answer(&String::from_utf8_lossy(line), &mut answers)?;
        }
        received.drain(..whole);
        // Standard output is buffered by lines, so it would be written in two parts.
        output.write_all(&answers)?;
        output.flush()?;
        answers.clear();
    }
}

/// Appends the answer to a request; a notification has none.
fn answer(request: &str, answers: &mut Vec<u8>) -> io::Result<()> {
    let Some(id) = member(request, "\"id\":", ',') else { return Ok(()) };
    let body = match member(request, "\"method\":\"", '"') {
        Some("initialize") => format!("\"result\":{INITIALIZED}"),
        Some("tools/list") => format!("\"result\":{TOOLS}"),
        Some("tools/call") => format!("\"result\":{TAKEN}"),
        _ => "\"error\":{\"code\":-32601,\"message\":\"method not found\"}".to_owned(),
    };
    writeln!(answers, "{{\"jsonrpc\":\"2.0\",\"id\":{id},{body}}}")
}

/// The text between `start` and the next `end`.
fn member<'a>(request: &'a str, start: &str, end: char) -> Option<&'a str> {
    let (_, rest) = request.split_once(start)?;
    rest.split_once(end).map(|(value, _)| value)
}
