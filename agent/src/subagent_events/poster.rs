//! The end that tells: events are handed over at once, and posted one after the other.

use std::time::Duration;

use queue::{Bounds, Received};
use reqwest::{Client, Url};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::SubagentEvent;

/// How much waits to be posted (4 MiB); the oldest is left out, and the listener is told how many events that were.
const WAITING: Bounds = Bounds { bytes: 4 << 20, items: 4_096 };

/// Longest time of one post.
const LONGEST: Duration = Duration::from_secs(2);

/// After how many posts that failed in a row nothing more is tried.
const GIVEN_UP: u32 = 3;

/// How long is waited at the end for what is not posted yet.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Tells a listener of events.
#[derive(Debug)]
pub struct EventPoster {
    sender: queue::Sender<Posted>,
}

/// What is handed over.
#[derive(Debug)]
enum Posted {
    Event(Box<SubagentEvent>),
    /// Everything before is posted, or given up.
    Flush(oneshot::Sender<()>),
}

impl EventPoster {
    /// Posts to an address with its token, as [`EventListener::address`](super::Listener::address) has it.
    ///
    /// # Errors
    /// What is wrong with the address. It is not shown: it holds a token.
    pub fn new(address: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("the address of the listener {what}");
        let mut url = Url::parse(address).map_err(|_| wrong("is no address"))?;
        let is_local = url.host_str().is_some_and(|host| matches!(host, "127.0.0.1" | "localhost" | "[::1]"));
        if url.scheme() != "http" || !is_local {
            return Err(wrong("is not on this machine"));
        }
        let token = url.username().to_owned();
        if token.is_empty() || url.set_username("").is_err() {
            return Err(wrong("has no token"));
        }
        // Without one, the client could not be built; nothing here is encrypted.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client =
            Client::builder().no_proxy().timeout(LONGEST).redirect(reqwest::redirect::Policy::none());
        let client = client.build().map_err(|error| error.to_string())?;
        let (sender, events) = queue::bounded(WAITING);
        tokio::spawn(post(client, url, token, events));
        Ok(EventPoster { sender })
    }

    /// Hands an event over, without waiting.
    pub fn post(&self, event: SubagentEvent) {
        // Best effort: a listener that does not keep up misses some.
        let event = event.bounded();
        let bytes = size_of::<SubagentEvent>() + event.payload.len();
        self.sender.push(Posted::Event(Box::new(event)), bytes);
    }

    /// Waits a moment for what is not posted yet.
    pub async fn flush(&self) {
        let (done, is_done) = oneshot::channel();
        let flushing = async {
            // Where nothing is tried any more, the order is dropped, and nothing is waited for.
            self.sender.keep(Posted::Flush(done));
            let _ = is_done.await;
        };
        let _ = timeout(LAST_WORDS, flushing).await;
    }
}

async fn post(client: Client, url: Url, token: String, mut events: queue::Receiver<Posted>) {
    let mut failures = 0;
    let mut unreported = 0;
    while let Some(Received { missed, item }) = events.receive().await {
        unreported += missed;
        let mut event = match item {
            Some(Posted::Event(event)) => event,
            Some(Posted::Flush(done)) => {
                let _ = done.send(());
                continue;
            }
            None => continue,
        };
        let missed = std::mem::take(&mut unreported);
        if missed > 0 {
            event.payload = format!("[{missed} events before this one are left out] {}", event.payload);
        }
        let sent = client.post(url.clone()).bearer_auth(&token).json(&event).send().await;
        let is_taken = sent.is_ok_and(|answer| answer.status().is_success());
        failures = if is_taken { 0 } else { failures + 1 };
        if failures >= GIVEN_UP {
            return;
        }
    }
}
