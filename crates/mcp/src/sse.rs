//! HTTP with server-sent events, the transport of MCP 2024-11-05: a stream to read from, whose first event contains the
//! URL to post to.

use std::{io, sync::Arc};

use futures::{StreamExt, stream::BoxStream};
use reqwest::{
    Method, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderValue},
};
use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use sse_stream::{Error, Sse};

use crate::{
    http::{HttpFailure, Sender, events, excerpt},
    text::shown,
    wire::{Fault, ResponseRouter, encode, raw_of},
};

/// Limit on events that are skipped before the one with the URL.
const MAX_EARLY_EVENTS: usize = 16;

/// Limit on quotes from a server, in bytes.
const QUOTED_BYTES: usize = 300;

/// The stream of one session, and its URL for messages.
pub(crate) struct SseTransport {
    sender: Arc<Sender>,
    endpoint: Url,
    events: BoxStream<'static, Result<Sse, Error>>,
    router: Arc<ResponseRouter>,
    closed: bool,
}

impl SseTransport {
    /// Opens the stream and waits for the URL to post to, which must be on the server's own origin.
    pub(crate) async fn open(sender: Sender, router: ResponseRouter) -> Result<Self, HttpFailure> {
        let response = sender
            .send(|configured| {
                let mut headers = configured;
                headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
                sender.http.request(Method::GET, sender.url().clone()).headers(headers)
            })
            .await?;
        let status = response.status();
        if !status.is_success() {
            return Err(HttpFailure::Status { status: status.as_u16(), body: excerpt(response).await });
        }
        let content_type =
            response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
        if !content_type.starts_with("text/event-stream") {
            let content_type = shown(content_type, QUOTED_BYTES);
            return Err(HttpFailure::ContentType { content_type, body: excerpt(response).await });
        }
        let mut events = events(response, Arc::clone(router.room()));
        let endpoint = endpoint(&mut events, sender.url()).await?;
        let (sender, router) = (Arc::new(sender), Arc::new(router));
        Ok(Self { sender, endpoint, events, router, closed: false })
    }
}

/// The URL in the event `endpoint`.
async fn endpoint(
    events: &mut BoxStream<'static, Result<Sse, Error>>,
    server: &Url,
) -> Result<Url, HttpFailure> {
    for _ in 0..MAX_EARLY_EVENTS {
        let event = match events.next().await {
            Some(Ok(event)) => event,
            Some(Err(error)) => {
                return Err(HttpFailure::Protocol(format!("its event stream broke: {error}")));
            }
            None => break,
        };
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let text = event.data.unwrap_or_default();
        let endpoint = server.join(text.trim()).map_err(|error| {
            let text = shown(&text, QUOTED_BYTES);
            HttpFailure::Protocol(format!("its event `endpoint` is not a URL ({error}): {text}"))
        })?;
        if endpoint.origin() != server.origin() {
            let endpoint = shown(endpoint.as_str(), QUOTED_BYTES);
            return Err(HttpFailure::Protocol(format!(
                "its event `endpoint` has another origin, to which nothing is sent: {endpoint}"
            )));
        }
        return Ok(endpoint);
    }
    Err(HttpFailure::Protocol(
        "its event stream has no event `endpoint` with the URL to post to; if the server uses streamable HTTP, configure \
         `type: http`"
            .to_owned(),
    ))
}

async fn post(sender: &Sender, endpoint: &Url, body: Vec<u8>) -> Result<(), HttpFailure> {
    let response = sender
        .send(|configured| {
            let mut headers = configured;
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            sender.http.request(Method::POST, endpoint.clone()).headers(headers).body(body.clone())
        })
        .await?;
    // Only the status matters; the response comes over the stream.
    if response.status().is_success() {
        return Ok(());
    }
    Err(HttpFailure::Status { status: response.status().as_u16(), body: excerpt(response).await })
}

impl Transport<RoleClient> for SseTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.router.note_sent(&message);
        self.router.track(&message);
        let body = encode(&message);
        let (sender, router, endpoint) =
            (Arc::clone(&self.sender), Arc::clone(&self.router), self.endpoint.clone());
        async move {
            let body = body?;
            router.trace().sent(&body);
            let posted = post(&sender, &endpoint, body).await;
            let Err(failure) = posted else { return Ok(()) };
            match (raw_of(&message), &message) {
                (Some(raw), _) => raw.fail(failure.clone()),
                (None, JsonRpcMessage::Request(_)) => router.health().set_fault(Fault::Http(failure.clone())),
                (None, _) => {}
            }
            Err(io::Error::other(failure))
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        while !self.closed {
            let fault = match self.events.next().await {
                Some(Ok(event)) => {
                    if !matches!(event.event.as_deref(), None | Some("" | "message")) {
                        continue;
                    }
                    match self.router.accept(event.data.unwrap_or_default()) {
                        Ok(Some(message)) => return Some(message),
                        Ok(None) => continue,
                        Err(fault) => fault,
                    }
                }
                Some(Err(error)) => Fault::Protocol(format!("its event stream broke: {error}")),
                None => return None,
            };
            self.router.health().set_fault(fault);
            self.closed = true;
        }
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.closed = true;
        self.events = futures::stream::empty().boxed();
        Ok(())
    }
}
