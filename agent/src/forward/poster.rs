//! The end that tells: events are handed over at once, and posted one after the other.

use std::time::Duration;

use reqwest::{Client, Url};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::SubagentEvent;

/// How many events wait to be posted; what comes beyond that is left out.
const WAITING: usize = 4_096;

/// Longest time of one post.
const LONGEST: Duration = Duration::from_secs(2);

/// After how many posts that failed in a row nothing more is tried.
const GIVEN_UP: u32 = 3;

/// How long is waited at the end for what is not posted yet.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Tells a listener of events.
#[derive(Debug)]
pub struct Poster {
    sender: mpsc::Sender<Posted>,
}

/// What is handed over.
#[derive(Debug)]
enum Posted {
    Event(Box<SubagentEvent>),
    /// Everything before is posted, or given up.
    Flush(oneshot::Sender<()>),
}

impl Poster {
    /// Posts to an address with its token, as [`Listener::address`](super::Listener::address) has it.
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
        let (sender, events) = mpsc::channel(WAITING);
        tokio::spawn(post(client, url, token, events));
        Ok(Poster { sender })
    }

    /// Hands an event over, without waiting.
    pub fn post(&self, event: SubagentEvent) {
        // Best effort: a listener that does not keep up misses some.
        let _ = self.sender.try_send(Posted::Event(Box::new(event.bounded())));
    }

    /// Waits a moment for what is not posted yet.
    pub async fn flush(&self) {
        let (done, is_done) = oneshot::channel();
        let flushing = async {
            // Where nothing is tried any more, nothing is waited for.
            if self.sender.send(Posted::Flush(done)).await.is_ok() {
                let _ = is_done.await;
            }
        };
        let _ = timeout(LAST_WORDS, flushing).await;
    }
}

async fn post(client: Client, url: Url, token: String, mut events: mpsc::Receiver<Posted>) {
    let mut failures = 0;
    while let Some(posted) = events.recv().await {
        let event = match posted {
            Posted::Event(event) => event,
            Posted::Flush(done) => {
                let _ = done.send(());
                continue;
            }
        };
        let sent = client.post(url.clone()).bearer_auth(&token).json(&event).send().await;
        let is_taken = sent.is_ok_and(|answer| answer.status().is_success());
        failures = if is_taken { 0 } else { failures + 1 };
        if failures >= GIVEN_UP {
            return;
        }
    }
}
