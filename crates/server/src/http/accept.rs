//! The media types that a client takes (RFC 9110, section 12.5.1). The protocol's library wants both of its types by
//! name; here `*/*`, `application/*` and no header at all are as good. A client that takes no event streams gets the
//! response alone.

use axum::body::{Body, BodyDataStream};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use serde::Deserialize;
use serde::de::IgnoredAny;
use system::event_loop::off_loop;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The parts of the protocol's types that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepted {
    json: bool,
    events: bool,
}

impl Accepted {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let given = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let ranges: Vec<&str> = given
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .filter(|range| !range.is_empty())
            .collect();
        let takes = |media: &str| ranges.is_empty() || is_taken(&ranges, media);
        Accepted { json: takes(JSON), events: takes(EVENTS) }
    }

    /// Whether it takes event streams.
    pub(super) fn takes_events(self) -> bool {
        self.events
    }

    /// Names the types in the header as the library wants them. A client that takes none of them keeps its header, and
    /// is refused.
    pub(super) fn name(self, method: &Method, headers: &mut HeaderMap) {
        let is_served = self.events || self.json && *method == Method::POST;
        if is_served {
            headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        }
    }

    /// The response in a form that the client takes.
    pub(super) async fn form(self, response: Response) -> Response {
        let is_stream = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == EVENTS);
        if self.events || !is_stream { response } else { alone(response).await }
    }
}

/// Whether a type is taken: the most specific range decides.
fn is_taken(ranges: &[&str], media: &str) -> bool {
    let any_subtype = media.split_once('/').map(|(kind, _)| format!("{kind}/*")).unwrap_or_default();
    [media, &any_subtype, "*/*"]
        .iter()
        .find_map(|wanted| {
            ranges.iter().find_map(|range| {
                let mut parts = range.split(';').map(str::trim);
                let is_it = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
                is_it.then(|| !parts.any(is_zero))
            })
        })
        .unwrap_or(false)
}

/// Whether a parameter of a range is a quality of zero.
fn is_zero(parameter: &str) -> bool {
    let quality = parameter.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    quality.is_some_and(|(_, value)| value.trim().parse() == Ok(0.0_f32))
}

/// The JSON-RPC response in a stream. The client cannot get notifications and questions.
async fn alone(stream: Response) -> Response {
    let (mut head, body) = stream.into_parts();
    match answer_in(body.into_data_stream()).await {
        Some(answer) => {
            head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
            Response::from_parts(head, Body::from(answer))
        }
        None => (StatusCode::INTERNAL_SERVER_ERROR, "the request ended without a response\n").into_response(),
    }
}

async fn answer_in(mut chunks: BodyDataStream) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    while let Some(Ok(chunk)) = chunks.next().await {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let data = line.strip_prefix(b"data:");
                if let Some(data) = data.filter(|data| off_loop(data.len(), || is_answer(data))) {
                    return Some(data.trim_ascii().to_vec());
                }
                line.clear();
            }
        }
    }
    None
}

/// Whether the data of an event is a response: the library writes each message in one line.
fn is_answer(data: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Outline {
        #[serde(default)]
        method: Option<IgnoredAny>,
        #[serde(default)]
        id: Option<IgnoredAny>,
    }
    serde_json::from_slice(data).is_ok_and(|Outline { method, id }| method.is_none() && id.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(values: &[&'static str]) -> (bool, bool) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::ACCEPT, HeaderValue::from_static(value));
        }
        let Accepted { json, events } = Accepted::of(&headers);
        (json, events)
    }

    #[test]
    fn wildcards_and_no_header_take_what_their_text_does_not_name() {
        for (values, expected) in [
            (&[][..], (true, true)),
            (&[""], (true, true)),
            (&["*/*"], (true, true)),
            (&["*/*;q=0.8"], (true, true)),
            (&["application/*"], (true, false)),
            (&["application/*, text/*"], (true, true)),
            (&["application/json"], (true, false)),
            (&["Application/JSON; charset=utf-8", "text/event-stream"], (true, true)),
            (&["text/event-stream"], (false, true)),
            (&["text/html, */*;q=0.1"], (true, true)),
            (&["*/*, text/event-stream;q=0"], (true, false)),
            (&["*/*;q=0.0, application/json"], (true, false)),
            (&["text/html"], (false, false)),
        ] {
            assert_eq!(accepted(values), expected, "{values:?}");
        }
    }

    #[tokio::test]
    async fn a_client_without_event_streams_gets_the_response_alone() {
        let events = "id: 0\nretry: 3000\ndata: \n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n\
                      data: {\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":1}\n\n\
                      id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n";
        let response = || ([(header::CONTENT_TYPE, EVENTS)], events).into_response();
        let both = Accepted { json: true, events: true };
        assert_eq!(both.form(response()).await.headers()[header::CONTENT_TYPE], EVENTS);
        let alone = Accepted { json: true, events: false }.form(response()).await;
        assert_eq!(alone.headers()[header::CONTENT_TYPE], JSON);
        let body = axum::body::to_bytes(alone.into_body(), 1000).await.unwrap();
        assert_eq!(&body[..], br#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        let cut = ([(header::CONTENT_TYPE, EVENTS)], "data: {\"method\":\"a\"}\n\ndata: {").into_response();
        let cut = Accepted { json: true, events: false }.form(cut).await;
        assert_eq!(cut.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
