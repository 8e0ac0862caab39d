//! Hand-written HTTP/1.1, one request per connection: faults are intentional.

use std::{collections::BTreeMap, io, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

/// A client's request.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// The JSON-RPC message, or `null`.
    pub(crate) message: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// A client's connection.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self(BufReader::new(stream))
    }

    /// Reads the request; `None` if the client is gone.
    pub(crate) async fn request(&mut self) -> io::Result<Option<Request>> {
        let mut line = String::new();
        self.0.read_line(&mut line).await?;
        let mut words = line.split_whitespace();
        let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
        let (method, path) = (method.to_owned(), path.to_owned());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).await?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await?;
        let message = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Some(Request { method, path, headers, message }))
    }

    /// Sends a complete response.
    pub(crate) async fn respond(
        &mut self,
        status: u16,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<()> {
        self.head(status, headers, Some(body.len())).await?;
        self.send(body).await
    }

    /// Sends the head of a response that has a known length or ends with the connection.
    pub(crate) async fn head(
        &mut self,
        status: u16,
        headers: &[(&str, &str)],
        length: Option<usize>,
    ) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {status} As Told\r\nConnection: close\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(length) = length {
            head.push_str(&format!("Content-Length: {length}\r\n"));
        }
        head.push_str("\r\n");
        self.send(head.as_bytes()).await
    }

    /// Sends raw bytes.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes).await?;
        self.0.get_mut().flush().await
    }

    /// Sends an event of a stream.
    pub(crate) async fn event(&mut self, name: &str, id: Option<&str>, data: &str) -> io::Result<()> {
        let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
        self.send(format!("event: {name}\n{id}data: {data}\n\n").as_bytes()).await
    }

    /// Waits until the client disconnects.
    pub(crate) async fn hold(&mut self) -> io::Result<()> {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).await?;
        Ok(())
    }

    /// Sends one byte at a time.
    pub(crate) async fn drip(&mut self, bytes: &[u8], pause: Duration) -> io::Result<()> {
        for byte in bytes {
            self.send(&[*byte]).await?;
            tokio::time::sleep(pause).await;
        }
        Ok(())
    }
}
