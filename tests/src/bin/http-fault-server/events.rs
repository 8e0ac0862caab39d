//! The HTTP+SSE transport (MCP 2024-11-05): a stream for responses, and an address for POST requests.

use std::{collections::BTreeMap, io};

use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{
    connection::{Connection, Request},
    fault::NULL_ID,
    server::{EVENTS, Server, answer, phase},
};

/// The open streams, by the number in their address.
#[derive(Default)]
pub(crate) struct Streams(Mutex<BTreeMap<u64, UnboundedSender<String>>>);

impl Streams {
    fn open(&self, number: u64) -> UnboundedReceiver<String> {
        let (sender, receiver) = unbounded_channel();
        self.0.lock().insert(number, sender);
        receiver
    }

    /// Sends a response over the stream that an address belongs to; false if there is none.
    fn send(&self, path: &str, message: String) -> bool {
        let number = path.rsplit_once('=').and_then(|(_, number)| number.parse().ok());
        let streams = self.0.lock();
        number.and_then(|number: u64| streams.get(&number)).is_some_and(|stream| stream.send(message).is_ok())
    }

    fn end_all(&self) {
        self.0.lock().clear();
    }
}

pub(crate) async fn handle(
    server: &Server,
    request: &Request,
    connection: &mut Connection,
) -> io::Result<()> {
    let is_first_post = server.mode == "sse-streams-posts" && !request.path.contains('=');
    if request.method == "GET" || is_first_post {
        stream(server, connection).await
    } else {
        post(server, request, connection).await
    }
}

async fn stream(server: &Server, connection: &mut Connection) -> io::Result<()> {
    let number = server.count();
    let endpoint = match server.mode.as_str() {
        "sse-hangs" => return connection.hold().await,
        "sse-fails" => return connection.respond(500, &[], b"no streams today").await,
        "sse-html" => {
            return connection.respond(200, &[("Content-Type", "text/html")], b"<h1>Welcome!</h1>").await;
        }
        "sse-elsewhere" => format!("{}/post?stream={number}", server.elsewhere),
        "sse-redirects-away" => {
            let location = format!("{}/sse", server.elsewhere);
            return connection.respond(307, &[("Location", &location)], b"").await;
        }
        _ => format!("/post?stream={number}"),
    };
    connection.head(200, &[EVENTS], None).await?;
    match server.mode.as_str() {
        "sse-no-endpoint" => return connection.hold().await,
        "sse-ends" => return Ok(()),
        "sse-huge-endpoint" => loop {
            connection.send(&[b'x'; 4096]).await?;
        },
        "sse-many-events" => loop {
            connection.event("other", None, "nothing").await?;
        },
        _ => {}
    }
    let mut answers = server.streams.open(number);
    connection.event("endpoint", None, &endpoint).await?;
    if server.mode == "sse-two-endpoints" {
        connection.event("endpoint", None, &format!("{}/post", server.elsewhere)).await?;
    }
    while let Some(answer) = answers.recv().await {
        connection.event("message", None, &answer).await?;
    }
    Ok(())
}

async fn post(server: &Server, request: &Request, connection: &mut Connection) -> io::Result<()> {
    let sound = answer(server, request).to_string();
    match (server.mode.as_str(), phase(request)) {
        ("sse-silent-initialize", "initialize" | "discover") | ("sse-silent-call", "call") => {
            connection.respond(202, &[], b"").await
        }
        ("sse-post-hangs", "call") => connection.hold().await,
        ("sse-post-fails", "call") => connection.respond(500, &[], b"the database is gone").await,
        ("sse-dies", "call") => {
            server.streams.end_all();
            connection.respond(202, &[], b"").await
        }
        ("sse-garbage", "call") => {
            server.streams.send(&request.path, "this is no JSON".to_owned());
            server.streams.send(&request.path, sound);
            connection.respond(202, &[], b"").await
        }
        ("sse-null-id", "call") => {
            server.streams.send(&request.path, NULL_ID.to_owned());
            connection.respond(202, &[], b"").await
        }
        ("sse-huge", "call") => {
            server.streams.send(&request.path, "x".repeat(100 * 1024 * 1024));
            connection.respond(202, &[], b"").await
        }
        ("sse-repeats", "call") => {
            server.streams.send(&request.path, sound.clone());
            server.streams.send(&request.path, sound);
            connection.respond(202, &[], b"").await
        }
        _ if request.message.get("id").is_none() => connection.respond(202, &[], b"").await,
        _ if server.streams.send(&request.path, sound) => connection.respond(202, &[], b"Accepted").await,
        _ => connection.respond(404, &[], b"no such stream").await,
    }
}
