//! One JSON-RPC message per line, between the protocol library and a pair of byte streams.
//!
//! The library decodes a result into the first of its types that seems to fit and drops what that type does not know.
//! So requests whose answer must stay as it is travel as a [`RawRequest`] in the request's extensions: their
//! parameters are written verbatim, their answer is kept verbatim, and the library only sees that one has come. What
//! the library would swallow for ever (an oversized message, an answer to `initialize` that makes no sense) becomes a
//! [`Fault`] that ends the connection with a reason.

mod health;
mod message;
mod outbox;

use std::{collections::HashMap, io, sync::Arc};

use rmcp::{
    RoleClient,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId,
        ServerJsonRpcMessage, ServerResult,
    },
    transport::Transport,
};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};

pub use health::MAX_STRAY_BYTES;
pub(crate) use health::{Fault, Health};
pub(crate) use message::{Answer, RawRequest, RpcError};
pub use outbox::MAX_QUEUED_BYTES;

use message::{Envelope, decode_id, encode, initialized};
use outbox::Outbox;

/// The longest message that is accepted from a server, in bytes. A longer one ends the connection.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// The size that the line buffer is cut back to after a large message.
const RETAINED_BYTES: usize = 256 * 1024;

/// The transport: reads lines, writes lines, keeps raw what must stay raw.
pub(crate) struct LineTransport<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    pending: HashMap<i64, Pending>,
    outbox: Arc<Outbox<W>>,
    health: Arc<Health>,
}

enum Pending {
    Initialize,
    Raw(Arc<RawRequest>),
}

/// What a line brings: a message for the library, nothing, or a reason to give up.
type Received = Result<Option<ServerJsonRpcMessage>, Fault>;

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(crate) fn new(read: R, write: W, health: Arc<Health>) -> Self {
        Self {
            reader: BufReader::with_capacity(32 * 1024, read),
            line: Vec::new(),
            pending: HashMap::new(),
            outbox: Arc::new(Outbox::new(write)),
            health,
        }
    }

    /// Reads up to the next line end into `self.line`; false at the end of the stream.
    ///
    /// Safe to drop at any await: a part of a line stays in `self.line`, and the next call goes on from there.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(false);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if self.line.len() + taken > MAX_MESSAGE_BYTES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            self.line.extend_from_slice(&available[..taken]);
            self.reader.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Takes in one line.
    fn accept(&mut self, line: &[u8]) -> Received {
        // Invalid UTF-8 in a text is the server's mistake, but no reason to lose the answer.
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
            return self.stray(text);
        };
        let received = if envelope.method.is_some() {
            self.accept_incoming(text)
        } else {
            self.accept_answer(&envelope, text)
        };
        if matches!(received, Ok(Some(_))) {
            self.health.note_message();
        }
        received
    }

    /// Remembers who waits for which answer.
    fn track(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => {
                if let (Some(pending), RequestId::Number(id)) = (pending_of(&request.request), &request.id) {
                    self.pending.insert(*id, pending);
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(RequestId::Number(id)) = cancelled.params.request_id
                {
                    self.pending.remove(&id);
                }
            }
            _ => {}
        }
    }

    fn accept_incoming(&self, text: &str) -> Received {
        match serde_json::from_str(text) {
            Ok(message) => Ok(Some(message)),
            Err(_) => self.stray(text),
        }
    }

    fn accept_answer(&mut self, envelope: &Envelope<'_>, text: &str) -> Received {
        let answer = match (envelope.result, envelope.error) {
            (Some(result), _) => Answer::Result(result.to_owned()),
            (None, Some(error)) => Answer::Error(RpcError::decode(error)),
            (None, None) => return self.stray(text),
        };
        let Some(id) = envelope.id.and_then(decode_id) else {
            return self.accept_unaddressed(answer);
        };
        let result = match self.pending.remove(&id) {
            Some(Pending::Raw(request)) => {
                request.set_answer(answer);
                ServerResult::empty(())
            }
            Some(Pending::Initialize) => ServerResult::InitializeResult(initialized(answer)?),
            // Late, repeated or invented: nobody waits for it.
            None => return Ok(None),
        };
        let id = RequestId::Number(id);
        Ok(Some(JsonRpcMessage::response(result, id)))
    }

    /// An error without an id is the answer to a request that the server could not read. Among several calls there is
    /// no telling which one that was: their deadline decides.
    fn accept_unaddressed(&self, answer: Answer) -> Received {
        match (answer, self.pending.values().next()) {
            (Answer::Error(error), Some(Pending::Initialize)) => Err(Fault::Refused(error)),
            _ => Ok(None),
        }
    }

    fn stray(&self, line: &str) -> Received {
        if self.health.note_stray(line) {
            return Ok(None);
        }
        Err(Fault::Protocol(format!(
            "it wrote more than {MAX_STRAY_BYTES} bytes to standard output that are no MCP messages; \
             a server must write its log to standard error"
        )))
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // Queued here, in the order of the calls: the futures may be polled in any order.
        let queued = encode(&message).and_then(|line| self.outbox.push(line));
        if queued.is_ok() {
            self.track(&message);
        }
        let outbox = Arc::clone(&self.outbox);
        async move {
            queued?;
            outbox.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let fault = match self.read_line().await {
                Ok(true) => {
                    let line = std::mem::take(&mut self.line);
                    let received = self.accept(&line);
                    self.line = line;
                    self.line.clear();
                    self.line.shrink_to(RETAINED_BYTES);
                    match received {
                        Ok(Some(message)) => return Some(message),
                        Ok(None) => continue,
                        Err(fault) => fault,
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Fault::Protocol(format!(
                    "it sent a message of more than {MAX_MESSAGE_BYTES} bytes, the connection is closed; ask the tool for less at a time"
                )),
                Ok(false) | Err(_) => return None,
            };
            self.health.set_fault(fault);
            return None;
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outbox.close().await;
        Ok(())
    }
}

fn pending_of(request: &ClientRequest) -> Option<Pending> {
    match request {
        ClientRequest::InitializeRequest(_) => Some(Pending::Initialize),
        ClientRequest::CustomRequest(request) => {
            let raw = request.extensions.get::<Arc<RawRequest>>()?;
            Some(Pending::Raw(Arc::clone(raw)))
        }
        _ => None,
    }
}
