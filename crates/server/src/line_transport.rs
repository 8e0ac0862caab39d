//! The stdio transport: one message a line. Refuses invalid messages, and keeps arguments as sent.

use std::sync::Arc;

use futures::{SinkExt, StreamExt as _};
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions as _, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, FramedRead, FramedWrite, LinesCodec, LinesCodecError};

use super::message::{self, RejectedMessage};

/// Maximum length of a line, in bytes (16 MiB); a longer one is refused as a whole.
const LONGEST: usize = 16 << 20;

/// The transport.
pub(crate) struct LineTransport<R, W> {
    input: FramedRead<R, Codec>,
    output: Arc<Mutex<Option<Output<W>>>>,
    /// The pending response to a refused message.
    refusal: Option<String>,
    /// Whether a response may be written only in part.
    is_writing: bool,
}

type Output<W> = FramedWrite<W, LinesCodec>;

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> LineTransport<R, W> {
    pub(crate) fn new(input: R, output: W) -> Self {
        LineTransport {
            input: FramedRead::new(input, Codec(LinesCodec::new_with_max_length(LONGEST))),
            output: Arc::new(Mutex::new(Some(FramedWrite::new(output, LinesCodec::new())))),
            refusal: None,
            is_writing: false,
        }
    }

    /// Writes the response to a refused message. Cancel-safe: the next call continues.
    async fn refuse(&mut self) -> Option<()> {
        if self.refusal.is_none() && !self.is_writing {
            return Some(());
        }
        let mut output = self.output.lock().await;
        let output = output.as_mut()?;
        if let Some(refusal) = &self.refusal {
            output.feed(refusal.as_str()).await.ok()?;
            (self.refusal, self.is_writing) = (None, true);
        }
        SinkExt::<&str>::flush(output).await.ok()?;
        self.is_writing = false;
        Some(())
    }
}

/// Decodes lines. An invalid line is an item, not an error: after an error, the reader would wait for more input.
struct Codec(LinesCodec);

impl Decoder for Codec {
    type Item = Result<String, RejectedMessage>;
    type Error = std::io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> std::io::Result<Option<Self::Item>> {
        let refused = match self.0.decode(bytes) {
            Ok(line) => return Ok(line.map(Ok)),
            Err(LinesCodecError::MaxLineLengthExceeded) => format!("a message has at most {LONGEST} bytes"),
            Err(LinesCodecError::Io(_)) => "a message must be UTF-8".to_owned(),
        };
        Ok(Some(Err(RejectedMessage::unaddressed(refused))))
    }
}

/// Parses a line: a message, nothing, or the response to an invalid message.
fn read(line: &str) -> Result<Option<ClientJsonRpcMessage>, RejectedMessage> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line).trim();
    if line.is_empty() {
        return Ok(None);
    }
    let sent = message::check(line)?;
    let mut message: ClientJsonRpcMessage = match serde_json::from_str(line) {
        Ok(message) => message,
        Err(_) => {
            let (refusal, is_awaited) = message::unreadable(line);
            return if is_awaited { Err(refusal) } else { Ok(None) };
        }
    };
    if let (Some(sent), JsonRpcMessage::Request(request)) = (sent, &mut message) {
        request.request.extensions_mut().insert(sent);
    }
    Ok(Some(message))
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let line = serde_json::to_string(&message)?;
            let mut output = output.lock().await;
            let output = output.as_mut().ok_or(std::io::ErrorKind::NotConnected)?;
            output.send(&*strict_json::with_numbers(&line)).await.map_err(std::io::Error::other)
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.refuse().await?;
            match self.input.next().await?.ok()?.and_then(|line| read(&line)) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => self.refusal = Some(refusal.into_answer()),
            }
        }
    }

    async fn close(&mut self) -> std::io::Result<()> {
        drop(self.output.lock().await.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::*;

    #[tokio::test]
    async fn refused_messages_are_answered_and_later_ones_are_read() {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(far);
        let mut lines = LineTransport::new(input, output);
        let (answers, mut client) = tokio::io::split(near);
        let text: Vec<u8> = [
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".as_bytes(),
            b"\n{ not json }\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"id\":3,\"method\":\"ping\"}\n",
            b"{\"a\":\"\xff\"}\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"n\":1e400}}}\r\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":7}}\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"n\": 1.0}}}\n",
        ]
        .concat();
        client.write_all(&text).await.unwrap();
        client.shutdown().await.unwrap();
        let first = lines.receive().await.unwrap();
        assert!(
            matches!(&first, JsonRpcMessage::Request(request) if request.id.to_string() == "1"),
            "{first:?}"
        );
        let mut accepted = Vec::new();
        while let Some(message) = lines.receive().await {
            accepted.push(message);
        }
        let JsonRpcMessage::Request(call) = accepted.last().unwrap() else { panic!("{accepted:?}") };
        let arguments = message::arguments(call.request.extensions(), None).unwrap();
        assert_eq!((call.id.to_string().as_str(), arguments.get()), ("6", "{\"n\":1.0}"));
        lines.close().await.unwrap();
        drop(lines);
        let mut answers = BufReader::new(answers).lines();
        let mut received: Vec<Value> = Vec::new();
        while let Some(line) = answers.next_line().await.unwrap() {
            received.push(serde_json::from_str(&line).unwrap());
        }
        let ids: Vec<&Value> = received.iter().map(|answer| &answer["id"]).collect();
        let expected = [&Value::Null, &Value::Null, &Value::Null, &json!(4)];
        assert_eq!(ids[..4], expected, "{received:#?}");
        assert!(received.iter().all(|answer| answer["error"]["code"].is_i64()), "{received:#?}");
    }
}
