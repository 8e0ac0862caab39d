//! Negotiates the newer protocol (`server/discover`): which responses mean that a server supports it.
//!
//! After any other response the server may still support the older protocol. Then this module returns an error to the
//! library instead of the response, which makes the library send `initialize`. By itself, the library gives up if a
//! server names only other versions, and waits forever for a response that never comes.

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
    messages::{is_answer, is_endpoint},
};
use crate::client::STATELESS_VERSION;

/// Time limit for the response. Servers that know the method respond from memory.
pub(crate) const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);

/// The time limit for one server, and how it has responded.
pub(super) struct Discovery {
    patience: Option<Duration>,
    unanswered: AtomicBool,
    /// Whether it has refused a version that it offers itself.
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

    /// Returns the response of a server that supports the newer protocol, or a rejection that the library handles.
    ///
    /// # Errors
    /// Returns the reason why the server supports only the older protocol, if any.
    pub(super) async fn answer(
        &self,
        reading: impl Future<Output = Result<StreamableHttpPostResponse, Failed>>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let read = async {
            match reading.await? {
                StreamableHttpPostResponse::Json(answer, _) => Ok(answer),
                StreamableHttpPostResponse::Sse(events, _) => first_answer(events).await,
                _ => Err(older("it accepted `server/discover` and sent no response")),
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

    /// Passes on a response that the library can handle.
    fn judged(&self, answer: ServerJsonRpcMessage) -> Result<StreamableHttpPostResponse, Failed> {
        let reason = match &answer {
            JsonRpcMessage::Response(response) => match &response.result {
                ServerResult::DiscoverResult(result)
                    if !result.supported_versions.contains(&STATELESS_VERSION) =>
                {
                    Some("it supports only other versions")
                }
                _ => None,
            },
            JsonRpcMessage::Error(error) if error.error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => {
                // The library asks once more for a version that the rejection offers. That may be the same one,
                // rejected again without end.
                let is_offered = offers(&error.error, &STATELESS_VERSION);
                let is_first = is_offered && !self.contradicts.swap(true, Ordering::Relaxed);
                (!is_first).then_some("it rejects the version")
            }
            _ => None,
        };
        match reason {
            Some(reason) => Err(older(reason)),
            None => Ok(StreamableHttpPostResponse::Json(answer, None)),
        }
    }

    /// Records why the server counts as one that supports only the older protocol.
    pub(super) fn note(&self, failure: &HttpFailure) {
        self.unanswered.store(*failure == HttpFailure::Unanswered, Ordering::Relaxed);
    }
}

/// The first response on a stream.
async fn first_answer(
    mut events: impl futures::Stream<Item = Result<sse_stream::Sse, sse_stream::Error>> + Unpin,
) -> Result<ServerJsonRpcMessage, Failed> {
    while let Some(event) = events.next().await {
        let Ok(event) = event else { return Err(older("its answer to `server/discover` was cut off")) };
        if is_endpoint(&event) {
            return Err(older("its answer to `server/discover` is the stream of an older transport"));
        }
        let message = event.data.and_then(|data| serde_json::from_str(strict_json::without_mark(&data)).ok());
        if let Some(answer) = message.filter(is_answer) {
            return Ok(answer);
        }
    }
    Err(older("its answer to `server/discover` ended before the result"))
}

/// Whether a rejection of a version offers this one (basic/transports, "Protocol Version Header").
fn offers(refusal: &ErrorData, version: &ProtocolVersion) -> bool {
    let supported = refusal.data.as_ref().and_then(|data| data.get("supported")?.as_array());
    supported.into_iter().flatten().any(|offered| offered.as_str() == Some(version.as_str()))
}

fn older(reason: &str) -> Failed {
    StreamableHttpError::Client(HttpFailure::Protocol(reason.to_owned()))
}
