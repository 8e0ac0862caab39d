//! The sender of events: queues them, and posts all waiting ones in one request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use queue::{Bounds, Received};
use reqwest::{Client, Url};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{EventBatch, MAX_BATCH, MAX_EVENT, MOST_EVENTS, SubagentEvent};

/// Limit on waiting events (4 MiB); the oldest are dropped, and their number is reported to the listener.
const WAITING: Bounds = Bounds { bytes: 4 << 20, items: 4_096 };

/// Time limit of one post.
const LONGEST: Duration = Duration::from_secs(2);

/// Consecutive failed posts after which posting stops.
const GIVEN_UP: u32 = 3;

/// Time limit on waiting at the end for pending events: less than clients allow a server to exit.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Posts events to a listener.
#[derive(Debug)]
pub struct EventPoster {
    sender: queue::Sender<Posted>,
    /// The number of queued events.
    queued: AtomicU64,
    /// The number of those that the listener has received, or knows to be dropped.
    accounted_for: Arc<AtomicU64>,
}

/// An item of the queue.
#[derive(Debug)]
enum Posted {
    /// An encoded event.
    Event(Box<RawValue>),
    /// Confirms that all items before it are posted or dropped.
    Flush(oneshot::Sender<()>),
}

/// The reason why events can't be posted to an address. The address is not shown: it contains a token.
#[derive(Debug, thiserror::Error)]
pub enum ListenerError {
    /// It is not a URL.
    #[error("the address of the listener is not a valid URL")]
    Malformed,
    /// It is the URL of another machine, or not one of HTTP.
    #[error("the address of the listener is not on this machine")]
    NotLocal,
    /// It has no token.
    #[error("the address of the listener has no token")]
    NoToken,
    /// There is no HTTP client.
    #[error(transparent)]
    Client(#[from] reqwest::Error),
}

impl EventPoster {
    /// Posts to an address with its token, in the form of [`ADDRESS_VARIABLE`](super::ADDRESS_VARIABLE).
    ///
    /// # Errors
    /// If the address is not one of a listener.
    pub fn new(address: &str) -> Result<Self, ListenerError> {
        let mut url = Url::parse(address).map_err(|_| ListenerError::Malformed)?;
        let is_local = url.host_str().is_some_and(|host| matches!(host, "127.0.0.1" | "localhost" | "[::1]"));
        if url.scheme() != "http" || !is_local {
            return Err(ListenerError::NotLocal);
        }
        let token = url.username().to_owned();
        if token.is_empty() || url.set_username("").is_err() {
            return Err(ListenerError::NoToken);
        }
        // Without a provider, the client could not be built; nothing is encrypted here.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client =
            Client::builder().no_proxy().timeout(LONGEST).redirect(reqwest::redirect::Policy::none());
        let client = client.build()?;
        let (sender, events) = queue::bounded(WAITING);
        let accounted_for = Arc::default();
        tokio::spawn(post_all(Endpoint { client, url, token }, events, Arc::clone(&accounted_for)));
        Ok(EventPoster { sender, queued: AtomicU64::default(), accounted_for })
    }

    /// Queues an event, without waiting.
    pub fn post(&self, event: SubagentEvent) {
        // Best effort: a listener that does not keep up misses events.
        self.queued.fetch_add(1, Ordering::Relaxed);
        if let Ok(event) = to_raw_value(&event.bounded()) {
            let bytes = event.get().len();
            self.sender.push(Posted::Event(event), bytes);
        }
    }

    /// Waits a moment for pending events. Returns the number of events that were lost so far and not reported to the
    /// listener.
    pub async fn flush(&self) -> u64 {
        let (done, is_done) = oneshot::channel();
        let flushing = async {
            // If posting has stopped, the request is dropped, which ends the wait.
            self.sender.keep(Posted::Flush(done));
            let _ = is_done.await;
        };
        let _ = timeout(FLUSH_TIMEOUT, flushing).await;
        let accounted_for = self.accounted_for.load(Ordering::Relaxed);
        self.queued.load(Ordering::Relaxed).saturating_sub(accounted_for)
    }
}

/// The endpoint for events.
struct Endpoint {
    client: Client,
    url: Url,
    token: String,
}

impl Endpoint {
    /// Posts a batch; returns whether the listener has accepted it.
    async fn post(&self, batch: &EventBatch<Box<RawValue>>) -> bool {
        let sent = self.client.post(self.url.clone()).bearer_auth(&self.token).json(batch).send().await;
        sent.is_ok_and(|answer| answer.status().is_success())
    }
}

async fn post_all(endpoint: Endpoint, mut events: queue::Receiver<Posted>, accounted_for: Arc<AtomicU64>) {
    let mut failures = 0;
    let mut unreported = 0;
    while let Some(first) = events.receive().await {
        let (mut batch, flush) = gather(first, &mut events);
        batch.left_out += unreported;
        let count = batch.left_out + batch.events.len() as u64;
        if count > 0 {
            if endpoint.post(&batch).await {
                accounted_for.fetch_add(count, Ordering::Relaxed);
                (failures, unreported) = (0, 0);
            } else {
                (failures, unreported) = (failures + 1, count);
            }
            if failures >= GIVEN_UP {
                return;
            }
        }
        if let Some(done) = flush {
            let _ = done.send(());
        }
    }
}

/// Collects the waiting events, up to a full batch or a flush request, which is returned.
fn gather(
    first: Received<Posted>,
    events: &mut queue::Receiver<Posted>,
) -> (EventBatch<Box<RawValue>>, Option<oneshot::Sender<()>>) {
    let mut batch = EventBatch { left_out: 0, events: Vec::new() };
    let mut bytes = 0;
    let mut next = Some(first);
    while let Some(Received { missed, item }) = next {
        batch.left_out += missed;
        match item {
            Some(Posted::Event(event)) => {
                bytes += event.get().len();
                batch.events.push(event);
            }
            Some(Posted::Flush(done)) => return (batch, Some(done)),
            None => {}
        }
        let is_full = batch.events.len() >= MOST_EVENTS || bytes > MAX_BATCH - MAX_EVENT;
        next = if is_full { None } else { events.try_receive() };
    }
    (batch, None)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::subagent_events::tests::event;

    #[tokio::test]
    async fn without_a_listener_lost_events_are_counted() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let poster = EventPoster::new(&format!("http://token@{address}/events")).unwrap();
        (0..10_000).for_each(|_| poster.post(event()));
        assert_eq!(poster.flush().await, 10_000);
    }

    #[test]
    fn events_are_posted_only_to_this_machine() {
        for wrong in [
            "",
            "nonsense",
            "http://t@example.com/events",
            "https://t@127.0.0.1:1/events",
            "http://127.0.0.1:1/",
        ] {
            assert!(EventPoster::new(wrong).is_err(), "{wrong}");
        }
    }
}
