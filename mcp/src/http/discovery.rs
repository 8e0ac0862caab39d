//! The question for the newer protocol (`server/discover`), and which answers mean that a server speaks it.
//!
//! Whatever else a server does with the question, it may still know the older protocol: it is answered here, in place of
//! the server, by an error that sends the library to `initialize`. The library itself gives up where a server names only
//! other versions, and waits without end for an answer that does not come.

use std::{
    future::Future,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures::StreamExt;
use rmcp::{
    model::{ErrorCode, ErrorData, JsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage, ServerResult},
    transport::streamable_http_client::{StreamableHttpError, StreamableHttpPostResponse},
};
use tokio::time::timeout;

use super::{
    failure::{Failed, HttpFailure},
    messages::is_answer,
};
use crate::client::STATELESS_VERSION;

/// How long servers may take to answer. Those that know the method answer from memory.
pub(crate) const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long one server may take to answer, and what it has answered.
pub(super) struct Discovery {
    patience: Option<Duration>,
    unanswered: AtomicBool,
    /// Whether it has refused the version that it offers itself.
    contradicts: AtomicBool,
}

impl Discovery {
    pub(super) fn new(patience: Option<Duration>) -> Self {
        Self { patience, unanswered: AtomicBool::new(false), contradicts: AtomicBool::new(false) }
    }

    pub(super) fn patience(&self) -> Option<Duration> {
        self.patience
    }

    pub(super) fn went_unanswered(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed)
    }

    /// The answer of a server that speaks the newer protocol, or a refusal that the library judges.
    ///
    /// # Errors
    /// Why the server speaks the older protocol, if it speaks any.
    pub(super) async fn answer(
        &self,
        reading: impl Future<Output = Result<StreamableHttpPostResponse, Failed>>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let read = async {
            match reading.await? {
                StreamableHttpPostResponse::Json(answer, _) => Ok(answer),
                StreamableHttpPostResponse::Sse(events, _) => first_answer(events).await,
                _ => Err(older("it took `server/discover` and answers nothing")),
            }
        };
        let answer = match self.patience {
            Some(patience) => {
                timeout(patience, read).await.unwrap_or_else(|_| Err(HttpFailure::Unanswered.into()))
            }
            None => read.await,
        };
        answer.and_then(|answer| self.judged(answer))
    }

    /// An answer that the library can go on with.
    fn judged(&self, answer: ServerJsonRpcMessage) -> Result<StreamableHttpPostResponse, Failed> {
        let reason = match &answer {
            JsonRpcMessage::Response(response) => match &response.result {
                ServerResult::DiscoverResult(result)
                    if !result.supported_versions.contains(&STATELESS_VERSION) =>
                {
                    Some("it names only other versions")
                }
                _ => None,
            },
            JsonRpcMessage::Error(error) if error.error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => {
                // The library asks once more for a version that the refusal offers. That may be the same one, and be
                // refused for ever.
                let is_offered = offers(&error.error, &STATELESS_VERSION);
                let is_first = is_offered && !self.contradicts.swap(true, Ordering::Relaxed);
                (!is_first).then_some("it refuses the version")
            }
            _ => None,
        };
        match reason {
            Some(reason) => Err(older(reason)),
            None => Ok(StreamableHttpPostResponse::Json(answer, None)),
        }
    }

    /// Notes why the server counts as one that speaks the older protocol.
    pub(super) fn note(&self, failure: &HttpFailure) {
        self.unanswered.store(*failure == HttpFailure::Unanswered, Ordering::Relaxed);
    }
}

/// The first answer on a stream.
async fn first_answer(
    mut events: impl futures::Stream<Item = Result<sse_stream::Sse, sse_stream::Error>> + Unpin,
) -> Result<ServerJsonRpcMessage, Failed> {
    while let Some(event) = events.next().await {
        let Ok(event) = event else { return Err(older("its answer to `server/discover` broke off")) };
        let message = event.data.and_then(|data| serde_json::from_str(&data).ok());
        if let Some(answer) = message.filter(is_answer) {
            return Ok(answer);
        }
    }
    Err(older("it ended its answer to `server/discover` before the result"))
}

/// Whether a refusal of a version offers this one (basic/transports, "Protocol Version Header").
fn offers(refusal: &ErrorData, version: &ProtocolVersion) -> bool {
    let supported = refusal.data.as_ref().and_then(|data| data.get("supported")?.as_array());
    supported.into_iter().flatten().any(|offered| offered.as_str() == Some(version.as_str()))
}

fn older(reason: &str) -> Failed {
    StreamableHttpError::Client(HttpFailure::Protocol(reason.to_owned()))
}
