//! Reads and checks the bodies of requests, and sends those of answers.

use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::{StreamExt as _, stream};
use system::event_loop::off_loop;
use tokio::time::timeout;

use super::body_budget::{BODY_LIMIT, HeldBody};
use crate::json_size::MessageSizes;
use crate::message::{self, RejectedMessage, SentArguments};

/// Time limit for sending a request.
const BODY_TIME: Duration = Duration::from_secs(60);

/// Allowed before the text of a request.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The reason why a request has no body.
pub(super) enum BodyError {
    TooLong,
    NoRoom,
    Broken,
    Late,
}

impl BodyError {
    /// The response to the request.
    pub(super) fn into_response(self) -> Response {
        match self {
            BodyError::TooLong => {
                let message = format!("a request has at most {BODY_LIMIT} bytes\n");
                (StatusCode::PAYLOAD_TOO_LARGE, message).into_response()
            }
            BodyError::NoRoom => busy("the memory for requests is in use"),
            BodyError::Broken => StatusCode::BAD_REQUEST.into_response(),
            BodyError::Late => StatusCode::REQUEST_TIMEOUT.into_response(),
        }
    }
}

/// The response to a request for which there is no room now.
pub(super) fn busy(why: &str) -> Response {
    let close = [(header::CONNECTION, "close"), (header::RETRY_AFTER, "1")];
    (StatusCode::SERVICE_UNAVAILABLE, close, format!("{why}; try again later\n")).into_response()
}

/// The body of a request, up to [`BODY_LIMIT`], without a byte order mark.
pub(super) async fn read(body: Body, held: Option<&mut HeldBody>) -> Result<Bytes, BodyError> {
    timeout(BODY_TIME, read_whole(body.into_data_stream(), held)).await.unwrap_or(Err(BodyError::Late))
}

async fn read_whole(mut chunks: BodyDataStream, mut held: Option<&mut HeldBody>) -> Result<Bytes, BodyError> {
    let mut read = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| BodyError::Broken)?;
        if read.len() + chunk.len() > BODY_LIMIT {
            return Err(BodyError::TooLong);
        }
        if held.as_mut().is_some_and(|held| !held.add(chunk.len())) {
            return Err(BodyError::NoRoom);
        }
        read.extend_from_slice(&chunk);
    }
    let body = Bytes::from(read);
    Ok(if body.starts_with(BYTE_ORDER_MARK) { body.slice(BYTE_ORDER_MARK.len()..) } else { body })
}

/// Checks the text of a message.
pub(super) fn checked(body: &[u8]) -> Result<Option<SentArguments>, RejectedMessage> {
    match std::str::from_utf8(body) {
        Ok(text) => message::check(text),
        Err(_) => Err(RejectedMessage::unaddressed("a message must be UTF-8")),
    }
}

/// The answer, written off the event loop if its result is long.
pub(super) fn written(answer: Response, sizes: MessageSizes) -> Response {
    answer.map(|body| {
        let mut chunks = body.into_data_stream();
        Body::from_stream(stream::poll_fn(move |context| {
            off_loop(sizes.result(), || chunks.poll_next_unpin(context))
        }))
    })
}

/// The answer, with a value that is kept until it is whole.
pub(super) fn holding(answer: Response, kept: impl Send + 'static) -> Response {
    answer.map(|body| {
        let keep = move |chunk| {
            let _until_it_is_whole = &kept;
            chunk
        };
        Body::from_stream(body.into_data_stream().map(keep))
    })
}
