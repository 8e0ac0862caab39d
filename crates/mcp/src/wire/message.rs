//! Encodes and decodes messages: requests with verbatim parameters, responses parsed only as much as needed.

use std::{
    borrow::Cow,
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, DiscoverResult, GetMeta, InitializeResult, JsonRpcMessage,
    ProgressToken, ProtocolVersion, RequestId,
};
use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny, ser::SerializeMap};
use serde_json::{Map, Value, value::RawValue};

use tokio::sync::Notify;

use super::{
    handshake::{self, Introduction},
    health::Fault,
    memory_budget::AnswerPermit,
    rpc_error::RpcError,
};
use crate::{http::HttpFailure, text::shown};

/// A request whose parameters and response bypass the library's types.
pub(crate) struct RawRequest {
    /// The members of `params`, except `_meta`.
    params: Vec<(Cow<'static, str>, Box<RawValue>)>,
    /// The subject of the request, which a header repeats: a tool, a resource, a prompt.
    name: Option<String>,
    /// Additional headers over HTTP.
    headers: Vec<(String, String)>,
    outcome: Mutex<Option<Outcome>>,
    settled: Notify,
    /// Whether it was already sent again in a new session.
    is_sent_again: AtomicBool,
    /// The token of its progress, once it was sent.
    progress_token: OnceLock<ProgressToken>,
}

/// The outcome of a raw request.
pub(crate) enum Outcome {
    /// With its share of the memory budget.
    Answer(Answer, #[expect(dead_code, reason = "dropped, never read")] AnswerPermit),
    /// It could not be sent, or no response can arrive.
    Failed(HttpFailure),
}

/// A server's response.
pub(crate) enum Answer {
    Result(Box<RawValue>),
    Error(RpcError),
}

impl Answer {
    /// Its approximate size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Result(result) => result.get().len(),
            Self::Error(error) => {
                error.message.len() + error.data.as_ref().map_or(0, |data| data.get().len())
            }
        }
    }
}

impl RawRequest {
    pub(crate) fn new(params: Vec<(Cow<'static, str>, Box<RawValue>)>) -> Self {
        Self {
            params,
            name: None,
            headers: Vec::new(),
            outcome: Mutex::new(None),
            settled: Notify::new(),
            is_sent_again: AtomicBool::new(false),
            progress_token: OnceLock::new(),
        }
    }

    /// Sets the subject and the headers that repeat parts of the request over HTTP.
    pub(crate) fn about(self, name: &str, headers: Vec<(String, String)>) -> Self {
        Self { name: Some(name.to_owned()), headers, ..self }
    }

    /// A request with the same subject and headers, and other parameters.
    pub(crate) fn with_parameters(&self, params: Vec<(Cow<'static, str>, Box<RawValue>)>) -> Self {
        Self { name: self.name.clone(), headers: self.headers.clone(), ..Self::new(params) }
    }

    /// The members of `params`, except `_meta`.
    pub(crate) fn parameters(&self) -> &[(Cow<'static, str>, Box<RawValue>)] {
        &self.params
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Records the token of its progress.
    pub(crate) fn set_progress_token(&self, token: ProgressToken) {
        let _ = self.progress_token.set(token);
    }

    /// The token of its progress, if it was sent.
    pub(crate) fn progress_token(&self) -> Option<ProgressToken> {
        self.progress_token.get().cloned()
    }

    /// Takes the outcome; later calls return `None`.
    pub(crate) fn take_outcome(&self) -> Option<Outcome> {
        self.outcome().take()
    }

    /// Whether it may be sent again in a new session. True only once: a second rejection has another reason.
    pub(crate) fn may_go_to_new_session(&self) -> bool {
        !self.is_sent_again.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn has_no_outcome(&self) -> bool {
        self.outcome().is_none()
    }

    pub(crate) fn set_answer(&self, answer: Answer, held: AnswerPermit) {
        *self.outcome() = Some(Outcome::Answer(answer, held));
    }

    /// Records a response that the library does not see, and wakes the caller that waits for it.
    pub(crate) fn settle(&self, answer: Answer, held: AnswerPermit) {
        self.set_answer(answer, held);
        self.settled.notify_one();
    }

    /// Records why no response can arrive, and wakes the caller that waits for it. An existing response is kept.
    pub(crate) fn fail(&self, failure: HttpFailure) {
        self.outcome().get_or_insert(Outcome::Failed(failure));
        self.settled.notify_one();
    }

    /// Waits until [`RawRequest::fail`] or [`RawRequest::settle`] is called.
    pub(crate) async fn settled(&self) {
        self.settled.notified().await;
    }

    fn outcome(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock()
    }
}

/// Checks the response to `initialize`; also returns what was repaired.
pub(super) fn initialized(answer: Answer) -> Result<(InitializeResult, Vec<String>), Fault> {
    let raw = match answer {
        Answer::Result(raw) => raw,
        Answer::Error(error) => return Err(Fault::Refused(error)),
    };
    let no_result = |error: serde_json::Error| {
        Fault::Protocol(format!("its answer to `initialize` is not an InitializeResult: {error}"))
    };
    let mut members: Map<String, Value> = serde_json::from_str(raw.get()).map_err(no_result)?;
    let changes = handshake::repair(&mut members, Introduction::Initialize);
    let result: InitializeResult = serde_json::from_value(Value::Object(members)).map_err(no_result)?;
    let version = &result.protocol_version;
    if !ProtocolVersion::KNOWN_VERSIONS.contains(version) || !version.has_initialize() {
        let known: Vec<_> = ProtocolVersion::KNOWN_VERSIONS
            .iter()
            .filter(|version| version.has_initialize())
            .map(ProtocolVersion::as_str)
            .collect();
        return Err(Fault::Protocol(format!(
            "it answered `initialize` with protocol version `{}`; supported versions: {}",
            shown(version.as_str(), 40),
            known.join(", ")
        )));
    }
    Ok((result, changes))
}

/// The response to `server/discover`, if it is valid, and what was repaired.
pub(super) fn discovered(raw: &RawValue) -> Option<(DiscoverResult, Vec<String>)> {
    let mut members: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
    let changes = handshake::repair(&mut members, Introduction::Discover);
    Some((serde_json::from_value(Value::Object(members)).ok()?, changes))
}

/// The raw request in a message.
pub(crate) fn raw_of(message: &ClientJsonRpcMessage) -> Option<&Arc<RawRequest>> {
    match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::CustomRequest(request) => request.extensions.get::<Arc<RawRequest>>(),
            _ => None,
        },
        _ => None,
    }
}

/// Encodes a message as JSON.
pub(crate) fn encode(message: &ClientJsonRpcMessage) -> io::Result<Vec<u8>> {
    Ok(match message {
        JsonRpcMessage::Request(envelope) => match &envelope.request {
            ClientRequest::CustomRequest(request)
                if let Some(raw) = request.extensions.get::<Arc<RawRequest>>() =>
            {
                serde_json::to_vec(&RawEnvelope {
                    jsonrpc: "2.0",
                    id: &envelope.id,
                    method: &request.method,
                    params: RawParams { meta: request.get_meta(), raw },
                })?
            }
            _ => serde_json::to_vec(message)?,
        },
        _ => serde_json::to_vec(message)?,
    })
}

/// Encodes a message as one line.
pub(super) fn encode_line(message: &ClientJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = encode(message)?;
    // In a JSON string a line break is always escaped; a bare one in verbatim parameters is white space.
    let mut at = 0;
    while let Some(found) = line.get(at..).and_then(|rest| memchr::memchr2(b'\n', b'\r', rest)) {
        at += found;
        line[at] = b' ';
    }
    line.push(b'\n');
    Ok(line)
}

#[derive(Serialize)]
struct RawEnvelope<'a, M> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    method: &'a str,
    params: RawParams<'a, M>,
}

struct RawParams<'a, M> {
    meta: &'a M,
    raw: &'a RawRequest,
}

impl<M: Serialize> Serialize for RawParams<'_, M> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut params = serializer.serialize_map(Some(self.raw.params.len() + 1))?;
        params.serialize_entry("_meta", self.meta)?;
        for (name, value) in &self.raw.params {
            params.serialize_entry(name, value)?;
        }
        params.end()
    }
}

/// The top-level members of a message, undecoded.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) id: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) method: Option<IgnoredAny>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) error: Option<&'a RawValue>,
}

/// Distinguishes `null` from absence.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

/// Our ids are integers; some servers respond with the same digits as a string, or with a fraction of zero.
pub(super) fn decode_id(raw: &RawValue) -> Option<i64> {
    let id = raw.get();
    let id = serde_json::from_str::<&str>(id).unwrap_or(id);
    id.strip_suffix(".0").unwrap_or(id).parse().ok()
}
