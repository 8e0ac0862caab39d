//! Accepts the messages of a connection over any transport: routes responses to their requests, and handles invalid
//! messages.

use std::{
    borrow::Cow,
    collections::HashMap,
    ops::Range,
    sync::{Arc, Weak},
};

use parking_lot::{Mutex, MutexGuard};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use serde_json::value::RawValue;
use strict_json::whole_characters;
use system::event_loop::off_loop;

use crate::{http::HttpFailure, secrets::without_in_json, trace::Trace};

use super::{
    Answer, Fault, Health, MAX_NOTIFICATION_BYTES, MAX_REQUEST_BYTES, MAX_STRAY_BYTES, MemoryBudget,
    RawRequest, RpcError,
    message::{Envelope, decode_id, discovered, initialized},
    notification,
    numbers::without_nan,
    unaddressed,
};

/// Limit on pending requests from a server. Further ones are dropped: a server that sends so many does not wait for
/// responses.
const MAX_ASKED: usize = 256;

/// The ids of errors that belong to no readable request: that of JSON-RPC 2.0 (section 5), and that of MCP's SDK for Python.
const NO_ID: [&str; 2] = ["null", "\"server-error\""];

/// Maximum size of the response to a request of the session itself, such as the handshake, in bytes (1 MiB).
const MAX_TYPED_BYTES: usize = 1024 * 1024;

/// Number of pending requests from which abandoned ones are removed.
const CROWDED: usize = 1024;

/// Routes incoming messages to the pending requests.
pub(crate) struct ResponseRouter {
    pending: Mutex<Pendings>,
    /// The pending requests of the server, with the number of uses of each id.
    asked: Mutex<HashMap<RequestId, usize>>,
    room: Arc<MemoryBudget>,
    health: Arc<Health>,
    trace: Trace,
}

#[derive(Default)]
struct Pendings {
    by_id: HashMap<i64, Pending>,
    /// The number of entries at which abandoned ones are removed.
    limit: usize,
    /// The last id so far.
    last: i64,
    /// The last id before a notification that the server may not have read yet.
    notified_after: Option<i64>,
}

enum Pending {
    Initialize,
    Discover,
    /// A response that the library decodes.
    Typed,
    Raw(Weak<RawRequest>),
}

/// The result of accepting a message: one for the library, nothing, or a fault that ends the connection.
pub(crate) type Received = Result<Option<ServerJsonRpcMessage>, Fault>;

impl ResponseRouter {
    pub(crate) fn new(health: Arc<Health>, trace: Trace, room: Arc<MemoryBudget>) -> Self {
        Self { pending: Mutex::default(), asked: Mutex::default(), room, health, trace }
    }

    pub(crate) fn room(&self) -> &Arc<MemoryBudget> {
        &self.room
    }

    /// Records that a response is being sent, or never will be.
    pub(crate) fn note_sent(&self, message: &ClientJsonRpcMessage) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = id {
            self.asked().remove(id);
        }
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<RequestId, usize>> {
        self.asked.lock()
    }

    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    pub(crate) fn health(&self) -> &Arc<Health> {
        &self.health
    }

    /// Records which response each request waits for.
    pub(crate) fn track(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => {
                if let RequestId::Number(id) = &request.id {
                    self.pending().insert(*id, pending_of(&request.request));
                }
            }
            JsonRpcMessage::Notification(notification) => {
                let mut pending = self.pending();
                pending.notified_after = Some(pending.last);
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(RequestId::Number(id)) = cancelled.params.request_id
                {
                    pending.by_id.remove(&id);
                }
            }
            _ => {}
        }
    }

    /// Accepts the text of one message. A raw response is cut out of an owned text in place: a copy would be a second
    /// large text in memory.
    pub(crate) fn accept<'a>(&self, text: impl Into<Cow<'a, str>>) -> Received {
        self.accept_reply(text, None)
    }

    /// Like `accept`, for a message that came in reply to a request: a response without a usable id is the response to
    /// it.
    pub(crate) fn accept_reply<'a>(
        &self,
        text: impl Into<Cow<'a, str>>,
        request: Option<&RequestId>,
    ) -> Received {
        let text = text.into();
        off_loop(text.len(), || self.accept_text(text, request))
    }

    fn accept_text(&self, text: Cow<'_, str>, request: Option<&RequestId>) -> Received {
        let whole = self.legible(text);
        let text = strict_json::without_mark(whole.trim_start()).trim();
        if text.is_empty() {
            return Ok(None);
        }
        self.trace.received(text);
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
            return self.accept_invalid_json(text);
        };
        let id = envelope.id.and_then(decode_id).or(match request {
            Some(RequestId::Number(id)) => Some(*id),
            _ => None,
        });
        let received = if envelope.method.is_some() {
            match strict_json::check_names(text) {
                Ok(()) => self.accept_request_or_notification(&envelope, text),
                // Two parsers could read it differently, so it is ignored.
                Err(_) => self.stray(text),
            }
        } else if let Some((id, request, result)) = self.take_raw(id, &envelope, &whole) {
            Ok(self.deliver(id, &request, Answer::Result(cut_out(whole, result)?)))
        } else {
            self.accept_answer(id, &envelope, text)
        };
        if matches!(received, Ok(Some(_))) {
            self.health.note_message();
        }
        received
    }

    /// The text of a message for all further processing: with this side's secrets masked, and with U+FFFD for unpaired
    /// surrogates, which would otherwise make the whole message unreadable.
    pub(crate) fn legible<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        let whole = changed(whole_characters(&text));
        if whole.is_some() {
            self.health.note_halves();
        }
        let text = whole.map_or(text, Cow::Owned);
        changed(without_in_json(&text)).map_or(text, Cow::Owned)
    }

    /// Ignores invalid JSON, unless only its numbers are invalid: then a request waits for it, and fails.
    fn accept_invalid_json(&self, text: &str) -> Received {
        let mended = without_nan(text);
        let envelope = mended.as_deref().and_then(|mended| serde_json::from_str::<Envelope<'_>>(mended).ok());
        let answered = envelope.filter(|envelope| envelope.method.is_none()).and_then(|envelope| envelope.id);
        let Some(number) = answered.and_then(decode_id) else { return self.stray(text) };
        let reason = "its answer contains NaN or Infinity, which JSON does not allow".to_owned();
        let Some(pending) = self.pending().by_id.remove(&number) else { return Ok(None) };
        match pending {
            Pending::Initialize => Err(Fault::Protocol(reason)),
            Pending::Raw(request) => {
                if let Some(request) = request.upgrade() {
                    request.fail(HttpFailure::Protocol(reason));
                }
                Ok(None)
            }
            Pending::Discover | Pending::Typed => {
                let error = ErrorData::internal_error(reason, None);
                Ok(Some(JsonRpcMessage::error(error, Some(RequestId::Number(number)))))
            }
        }
    }

    /// Accepts a notification or a request. Both are limited in size here, before they are queued.
    fn accept_request_or_notification(&self, envelope: &Envelope<'_>, text: &str) -> Received {
        let Some(id) = envelope.id else {
            if text.len() <= MAX_NOTIFICATION_BYTES {
                return self.accept_incoming(text);
            }
            let cut = notification::cut(text);
            if cut.is_none() {
                self.health.note_dropped();
            }
            return Ok(cut);
        };
        let is_short = text.len() <= MAX_REQUEST_BYTES;
        let received = if is_short { self.accept_incoming(text)? } else { notification::refused(id) };
        let Some(JsonRpcMessage::Request(request)) = &received else { return Ok(received) };
        let mut asked = self.asked();
        if asked.values().sum::<usize>() >= MAX_ASKED {
            self.health.note_dropped();
            return Ok(None);
        }
        *asked.entry(request.id.clone()).or_default() += 1;
        drop(asked);
        Ok(received)
    }

    /// Drops a request that the server has cancelled.
    fn note_cancelled(&self, message: &ServerJsonRpcMessage) {
        if let JsonRpcMessage::Notification(notification) = message
            && let ServerNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            self.asked().remove(id);
        }
    }

    fn accept_incoming(&self, text: &str) -> Received {
        match serde_json::from_str(text) {
            Ok(message) => {
                self.note_cancelled(&message);
                Ok(Some(message))
            }
            Err(_) => self.stray(text),
        }
    }

    /// The raw request that waits for this result, and the range of the result in the text.
    fn take_raw(
        &self,
        id: Option<i64>,
        envelope: &Envelope<'_>,
        text: &str,
    ) -> Option<(i64, Weak<RawRequest>, Range<usize>)> {
        let (id, result) = (id?, result_of(envelope)?.get());
        let mut pending = self.pending();
        let Pending::Raw(request) = pending.by_id.get(&id)? else { return None };
        let request = Weak::clone(request);
        pending.take(id);
        let start = result.as_ptr().addr() - text.as_ptr().addr();
        Some((id, request, start..start + result.len()))
    }

    /// Delivers a raw response to its request, if that still exists; the library only sees that it has arrived.
    fn deliver(&self, id: i64, request: &Weak<RawRequest>, answer: Answer) -> Option<ServerJsonRpcMessage> {
        let request = request.upgrade()?;
        let held = self.room.hold(answer.bytes());
        request.set_answer(answer, held);
        Some(JsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id)))
    }

    fn accept_answer(&self, id: Option<i64>, envelope: &Envelope<'_>, text: &str) -> Received {
        let answer = match (result_of(envelope), envelope.error) {
            // No raw request waits for it.
            (Some(_), _) if text.len() > MAX_TYPED_BYTES => return self.refuse_typed(id, text.len()),
            (Some(result), _) => Answer::Result(result.to_owned()),
            (None, Some(error)) => Answer::Error(RpcError::decode(error)),
            (None, None) => return self.stray(text),
        };
        let Some(number) = id else {
            // Other ids are those of the server's own requests, in the response to a response.
            let has_id = envelope.id.is_some_and(|id| !NO_ID.contains(&id.get()));
            return if has_id { Ok(None) } else { self.accept_unaddressed(answer) };
        };
        // Late, repeated or invented responses are ignored.
        let Some(pending) = self.pending().take(number) else { return Ok(None) };
        let id = RequestId::Number(number);
        // The session checks raw responses itself: one invalid tool need not lose the whole list.
        if !matches!(pending, Pending::Raw(_))
            && let Err(repeated) = strict_json::check_names(text)
        {
            return Err(Fault::Protocol(ambiguous(&repeated)));
        }
        let result = match (pending, answer) {
            (Pending::Raw(request), answer) => return Ok(self.deliver(number, &request, answer)),
            (Pending::Initialize, answer) => {
                let (result, changes) = initialized(answer)?;
                self.health.note_repairs(&changes);
                ServerResult::InitializeResult(result)
            }
            (Pending::Discover, Answer::Result(raw)) => match discovered(&raw) {
                Some((result, changes)) => {
                    self.health.note_repairs(&changes);
                    ServerResult::DiscoverResult(result)
                }
                // A server that answers any method in any way does not know this one.
                None => {
                    let error = ErrorData::method_not_found::<rmcp::model::DiscoverRequestMethod>();
                    return Ok(Some(JsonRpcMessage::error(error, Some(id))));
                }
            },
            (Pending::Discover | Pending::Typed, Answer::Error(error)) => {
                return Ok(Some(JsonRpcMessage::error(error_data(error), Some(id))));
            }
            (Pending::Typed, Answer::Result(_)) => return self.accept_incoming(text),
        };
        Ok(Some(JsonRpcMessage::response(result, id)))
    }

    /// An error without an id is the response to the pending request, or to all of them if there are several: which
    /// one it belongs to is unknown, and none of them may get another response.
    fn accept_unaddressed(&self, answer: Answer) -> Received {
        let Answer::Error(error) = answer else { return Ok(None) };
        let pending = self.pending();
        let mut waiting = Vec::new();
        for (id, request) in &pending.by_id {
            match request {
                Pending::Initialize => return Err(Fault::Refused(error)),
                Pending::Discover => {
                    let id = RequestId::Number(*id);
                    return Ok(Some(JsonRpcMessage::error(error_data(error), Some(id))));
                }
                // A subscription waits for as long as the session lasts.
                Pending::Typed => {}
                Pending::Raw(request) => {
                    waiting.extend(request.upgrade().filter(|request| request.has_no_outcome()));
                }
            }
        }
        let is_doubtful = pending.notified_after.is_some();
        drop(pending);
        unaddressed::fail(&self.room, &waiting, error, is_doubtful);
        Ok(None)
    }

    /// Rejects a long response to a request other than the caller's: it has no reason to be so long.
    fn refuse_typed(&self, id: Option<i64>, bytes: usize) -> Received {
        let Some(number) = id else { return Ok(None) };
        let reason = format!("it sent a response of {bytes} bytes; the limit is {MAX_TYPED_BYTES}");
        match self.pending().take(number) {
            None => Ok(None),
            Some(Pending::Initialize) => Err(Fault::Protocol(reason)),
            Some(_) => {
                let error = ErrorData::internal_error(reason, None);
                Ok(Some(JsonRpcMessage::error(error, Some(RequestId::Number(number)))))
            }
        }
    }

    fn stray(&self, text: &str) -> Received {
        if self.health.note_stray(text) {
            return Ok(None);
        }
        Err(Fault::Protocol(format!(
            "it wrote more than {MAX_STRAY_BYTES} bytes that are not MCP messages; a server must log \
             elsewhere, for example to standard error"
        )))
    }

    fn pending(&self) -> MutexGuard<'_, Pendings> {
        self.pending.lock()
    }
}

impl Pendings {
    fn insert(&mut self, id: i64, pending: Pending) {
        if self.by_id.len() >= self.limit.max(CROWDED) {
            self.by_id.retain(
                |_, pending| !matches!(pending, Pending::Raw(request) if request.strong_count() == 0),
            );
            self.limit = 2 * self.by_id.len();
        }
        self.last = self.last.max(id);
        self.by_id.insert(id, pending);
    }

    /// Removes the request that has its response. A server that responds to a request has read what was sent before.
    fn take(&mut self, id: i64) -> Option<Pending> {
        let pending = self.by_id.remove(&id)?;
        self.notified_after = self.notified_after.filter(|last| id <= *last);
        Some(pending)
    }
}

/// The result of a response. Some servers write both members, with `null` for the unused one.
fn result_of<'a>(envelope: &Envelope<'a>) -> Option<&'a RawValue> {
    envelope.result.filter(|result| result.get() != "null" || envelope.error.is_none())
}

/// Extracts a part of a text that is a JSON value; reuses an owned text.
fn cut_out(text: Cow<'_, str>, part: Range<usize>) -> Result<Box<RawValue>, Fault> {
    let json = match text {
        Cow::Borrowed(text) => text.get(part).unwrap_or_default().to_owned(),
        Cow::Owned(mut text) => {
            text.truncate(part.end);
            text.drain(..part.start);
            text
        }
    };
    RawValue::from_string(json).map_err(|error| Fault::Protocol(format!("its answer is not JSON: {error}")))
}

/// The new text, if it differs from the original.
fn changed(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// Returns the reason for rejecting an ambiguous message.
pub(crate) fn ambiguous(repeated: &strict_json::Error) -> String {
    format!("its answer is ambiguous: {repeated}")
}

fn pending_of(request: &ClientRequest) -> Pending {
    match request {
        ClientRequest::InitializeRequest(_) => Pending::Initialize,
        ClientRequest::DiscoverRequest(_) => Pending::Discover,
        ClientRequest::CustomRequest(request) => match request.extensions.get::<Arc<RawRequest>>() {
            Some(raw) => Pending::Raw(Arc::downgrade(raw)),
            None => Pending::Typed,
        },
        _ => Pending::Typed,
    }
}

/// Converts to the library's error; its code and data decide whether the server supports the newer protocol.
fn error_data(error: RpcError) -> ErrorData {
    let data = error.data.and_then(|data| serde_json::from_str(data.get()).ok());
    let code = i32::try_from(error.code).unwrap_or(i32::MIN);
    ErrorData::new(rmcp::model::ErrorCode(code), error.message, data)
}

#[cfg(test)]
mod tests;
