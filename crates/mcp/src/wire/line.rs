//! The transport of local servers: one JSON-RPC message per line, over a pair of byte streams.

use std::{collections::VecDeque, io, sync::Arc};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use system::event_loop::off_loop;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};

use super::{
    Fault, MAX_MESSAGE_BYTES,
    batch::batch,
    message::encode_line,
    outbox::Outbox,
    response_router::{Received, ResponseRouter},
    too_large,
};

/// Capacity to which the line buffer shrinks after a large message.
const RETAINED_BYTES: usize = 256 * 1024;

/// Reads and writes lines, and keeps raw what must stay raw.
pub(crate) struct LineTransport<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// The remaining messages of a batch.
    batch: VecDeque<String>,
    router: ResponseRouter,
    outbox: Arc<Outbox<W>>,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(crate) fn new(read: R, write: W, router: ResponseRouter) -> Self {
        Self {
            reader: BufReader::with_capacity(32 * 1024, read),
            line: Vec::new(),
            batch: VecDeque::new(),
            router,
            outbox: Arc::new(Outbox::new(write)),
        }
    }

    /// Reads up to the next line end into `self.line`; false at the end of the stream.
    ///
    /// Safe to drop at any await: a partial line stays in `self.line`, and the next call continues it.
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

    /// Handles one line.
    fn accept(&mut self, line: &[u8]) -> Received {
        // Invalid UTF-8 in a text is the server's mistake, but no reason to lose the response.
        let text = String::from_utf8_lossy(line);
        match batch(&text) {
            Some(messages) => {
                self.batch = messages.into();
                Ok(None)
            }
            None => self.router.accept(text),
        }
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
        self.router.note_sent(&message);
        let queued = encode_line(&message).and_then(|line| {
            self.router.trace().sent(&line);
            self.outbox.push(line)
        });
        if queued.is_ok() {
            self.router.track(&message);
        }
        let outbox = Arc::clone(&self.outbox);
        async move {
            queued?;
            outbox.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            // A line that was started is read to its end; the next one waits for memory.
            self.router.room().free().await;
            if let Some(message) = self.batch.pop_front() {
                match self.router.accept(message) {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => continue,
                    Err(fault) => {
                        self.router.health().set_fault(fault);
                        return None;
                    }
                }
            }
            let fault = match self.read_line().await {
                Ok(true) => {
                    let line = std::mem::take(&mut self.line);
                    let received = off_loop(line.len(), || self.accept(&line));
                    self.line = line;
                    self.line.clear();
                    self.line.shrink_to(RETAINED_BYTES);
                    match received {
                        Ok(Some(message)) => return Some(message),
                        Ok(None) => continue,
                        Err(fault) => fault,
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Fault::Protocol(too_large()),
                Ok(false) | Err(_) => return None,
            };
            self.router.health().set_fault(fault);
            return None;
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outbox.close().await;
        Ok(())
    }
}
