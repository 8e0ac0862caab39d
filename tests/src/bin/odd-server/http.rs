//! Hand-written HTTP/1.1, one request per connection, and the modes that change responses, headers and sessions.

use std::{collections::BTreeMap, io, sync::Arc};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::{events, messages::answers};

/// Number of requests per session and method.
type Counts = Arc<Mutex<BTreeMap<(String, String), u32>>>;

/// Serves until the end of standard input.
pub(crate) async fn serve() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}\n", listener.local_addr()?);
    let mut output = tokio::io::stdout();
    output.write_all(address.as_bytes()).await?;
    output.flush().await?;
    let counts = Counts::default();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let counts = counts.clone();
            // The client may disconnect early.
            tokio::spawn(async move { handle(stream, counts).await });
        }
    });
    tokio::io::stdin().read_to_end(&mut Vec::new()).await.map(drop)
}

struct Request {
    method: String,
    mode: String,
    session: String,
    takes_gzip: bool,
    message: Value,
}

async fn handle(stream: TcpStream, counts: Counts) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let Some(request) = read(&mut stream).await? else { return Ok(()) };
    let (status, headers, body) = respond(&request, &counts);
    let mode = request.mode.as_str();
    let mut head = format!("HTTP/1.1 {status} As Told\r\nConnection: close\r\n{headers}");
    if mode == "many-headers" {
        (0..150).for_each(|number| head.push_str(&format!("X-Odd-{number}: {number}\r\n")));
    }
    let is_stream = headers.to_ascii_lowercase().contains("text/event-stream");
    if !is_stream && mode != "no-length" {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    if mode == "sse-bytes" {
        for byte in &body {
            stream.write_all(&[*byte]).await?;
            stream.flush().await?;
            tokio::task::yield_now().await;
        }
    } else {
        stream.write_all(&body).await?;
    }
    stream.flush().await?;
    if body.is_empty() && is_stream && mode != "discover-empty-stream" {
        // The session's stream stays open until the client disconnects.
        stream.read_to_end(&mut Vec::new()).await?;
    }
    stream.shutdown().await
}

async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let mut words = line.split_whitespace();
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let (method, mode) = (method.to_owned(), path.rsplit('/').next().unwrap_or_default().to_owned());
    let (mut session, mut takes_gzip, mut length) = (String::new(), false, 0);
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "mcp-session-id" => value.trim().clone_into(&mut session),
            "accept-encoding" => takes_gzip = value.contains("gzip"),
            "content-length" => length = value.trim().parse().unwrap_or_default(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let message = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(Request { method, mode, session, takes_gzip, message }))
}

/// Status, headers and body.
fn respond(request: &Request, counts: &Counts) -> (u16, String, Vec<u8>) {
    let mode = request.mode.as_str();
    let plain = |status: u16, body: &str| (status, String::new(), body.as_bytes().to_vec());
    match request.method.as_str() {
        "GET" => return get(mode),
        "DELETE" => {
            return match mode {
                "delete-204" => plain(204, ""),
                "delete-405" => plain(405, ""),
                "delete-404" => plain(404, ""),
                "delete-500" => plain(500, "the disk is full"),
                _ => plain(200, ""),
            };
        }
        _ => {}
    }
    let method = request.message["method"].as_str().unwrap_or_default();
    let session = format!("{mode} {}", request.session);
    let before = count(counts, &session, method, 1);
    let calls = count(counts, &session, "tools/call", 0);
    match (mode, method) {
        ("discover-empty-stream", "server/discover") => {
            return (200, content_type("text/event-stream"), Vec::new());
        }
        ("discover-400", "server/discover") => {
            return plain(400, "Bad Request: no valid session ID provided");
        }
        // The server restarted after the first call and lost its sessions.
        ("restart-404", _) if calls > 1 => return plain(404, "no such session"),
        ("restart-400", _) if calls > 1 => return plain(400, "Bad Request: No valid session ID provided"),
        ("initialized-400", "notifications/initialized") => return plain(400, "no"),
        ("initialized-500", "notifications/initialized") => return plain(500, "no"),
        ("initialized-200", "notifications/initialized") => {
            return (200, content_type("application/json"), b"{}".to_vec());
        }
        ("initialized-204", "notifications/initialized") => return plain(204, ""),
        ("busy-429" | "busy-503", "tools/list") if before == 0 => {
            let status = if mode == "busy-429" { 429 } else { 503 };
            return (status, "Retry-After: 1\r\n".to_owned(), b"busy".to_vec());
        }
        ("redirect", "tools/list") if before == 0 => {
            return (307, "Location: /again/redirect\r\n".to_owned(), Vec::new());
        }
        ("call-500", "tools/call") if before == 0 => return plain(500, "the database is gone"),
        _ => {}
    }
    let texts = answers(mode, &request.message);
    if request.message.get("id").is_none() || method.is_empty() {
        return plain(202, "");
    }
    let mode = if mode == "gzip-if-asked" && request.takes_gzip { "gzip" } else { mode };
    answer(mode, method, &texts)
}

/// Answers a GET for the session's stream: most servers have none.
fn get(mode: &str) -> (u16, String, Vec<u8>) {
    match mode {
        "get-stream" => (200, content_type("text/event-stream"), Vec::new()),
        "get-404" => (404, String::new(), Vec::new()),
        "get-500" => (500, String::new(), Vec::new()),
        "get-json" => (200, content_type("application/json"), b"{\"status\":\"ok\"}".to_vec()),
        _ => (405, String::new(), Vec::new()),
    }
}

fn answer(mode: &str, method: &str, texts: &[Vec<u8>]) -> (u16, String, Vec<u8>) {
    let mut headers = String::new();
    if method == "initialize" && mode != "no-session" {
        let number = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        headers = format!("Mcp-Session-Id: session-{number}\r\n");
    }
    if mode.starts_with("sse-") || texts.len() > 1 {
        let name = if mode == "sse-type" { "Text/Event-Stream; Charset=UTF-8" } else { "text/event-stream" };
        let stream =
            |text: &Vec<u8>| events::stream(if mode.starts_with("sse-") { mode } else { "sse-" }, text);
        return (200, headers + &content_type(name), texts.iter().filter_map(stream).flatten().collect());
    }
    let body = texts.concat();
    match mode {
        "type-upper" => (200, headers + &content_type("APPLICATION/JSON"), body),
        "type-charset" => (200, headers + &content_type("application/json; charset=utf-8"), body),
        "no-type" => (200, headers, body),
        "gzip" => {
            (200, headers + &content_type("application/json") + "Content-Encoding: gzip\r\n", gzip(&body))
        }
        "bom-in-body" => {
            (200, headers + &content_type("application/json"), [b"\xef\xbb\xbf", &*body].concat())
        }
        _ => (200, headers + &content_type("application/json"), body),
    }
}

fn content_type(name: &str) -> String {
    format!("Content-Type: {name}\r\n")
}

/// The number of earlier requests for this in this session; adds `more`.
fn count(counts: &Counts, session: &str, method: &str, more: u32) -> u32 {
    let mut counts = counts.lock();
    let count = counts.entry((session.to_owned(), method.to_owned())).or_default();
    *count += more;
    *count - more
}

/// One stored block without compression (RFC 1951, 3.2.4), in a gzip member (RFC 1952).
fn gzip(body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).unwrap_or_default();
    let mut member = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    member.extend(length.to_le_bytes());
    member.extend((!length).to_le_bytes());
    member.extend(body);
    let crc = body.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    });
    member.extend((!crc).to_le_bytes());
    member.extend(u32::from(length).to_le_bytes());
    member
}
