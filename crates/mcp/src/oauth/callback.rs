//! The loopback address to which a browser is redirected after a login (RFC 8252, section 7.3).

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// The path of the redirect.
pub(super) const PATH: &str = "/callback";

/// Time limit for the browser to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Limit on the request, in bytes.
const MAX_REQUEST: usize = 32 * 1024;

/// Waits for the browser.
pub(super) struct Callback {
    listener: TcpListener,
    port: u16,
}

impl Callback {
    /// Binds to a free port of the loopback interface.
    pub(super) async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The URI to which the authorization server redirects the browser.
    pub(super) fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the redirect and returns its URL. Other requests get a 404 response.
    pub(super) async fn wait(&self) -> io::Result<String> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let target = timeout(REQUEST_TIMEOUT, target(&mut stream)).await;
            let Ok(Ok(Some(target))) = target else { continue };
            let is_callback = target.split('?').next() == Some(PATH);
            let (status, text) = if is_callback {
                ("200 OK", "Login complete in the browser. You can close this window.")
            } else {
                ("404 Not Found", "Not found.")
            };
            let _ = timeout(REQUEST_TIMEOUT, answer(&mut stream, status, text)).await;
            if is_callback {
                return Ok(format!("http://127.0.0.1:{}{target}", self.port));
            }
        }
    }
}

/// The target of a GET request; `None` for anything else.
async fn target(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < MAX_REQUEST {
        let length = stream.read(&mut chunk).await?;
        if length == 0 {
            break;
        }
        request.extend_from_slice(chunk.get(..length).unwrap_or_default());
    }
    let text = String::from_utf8_lossy(&request);
    let mut words = text.lines().next().unwrap_or_default().split(' ');
    Ok(match (words.next(), words.next()) {
        (Some("GET"), Some(target)) if target.starts_with('/') => Some(target.to_owned()),
        _ => None,
    })
}

async fn answer(stream: &mut TcpStream, status: &str, text: &str) -> io::Result<()> {
    let page = format!("<!doctype html><meta charset=utf-8><title>Toolsmith</title><p>{text}</p>");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nReferrer-Policy: no-referrer\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(page.as_bytes()).await?;
    stream.shutdown().await
}
