//! Serves the one client on standard input and output, until it ends.
//!
//! After the end of the input, pending requests are still answered: a caller that pipes requests in expects the
//! responses. They may arrive within the grace period and as long as the output is read.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use gateway::failure::Failure;
use report::Kind;
use rmcp::service::{ServerInitializeError, Service};
use rmcp::{RoleServer, ServiceExt as _};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use system::random;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::line_transport::LineTransport;
use super::session::{ClientSession, ClientTransport};
use super::shutdown;
use super::standard_streams;
use super::state::ServerState;

/// The interval at which to check whether the output is still read, once the input has ended.
const LOOK_TIME: Duration = Duration::from_millis(50);

/// The number of scheduler turns that the last messages before the end of the input get.
const TURNS: usize = 16;

/// Serves the client on standard input and output until it disconnects, or until `stop`; `service` handles it.
pub async fn serve<Handler: Service<RoleServer>>(
    state: Arc<ServerState>,
    service: impl FnOnce(Arc<ClientSession>) -> Handler,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let session =
        ClientSession::new(random::id().map_err(Failure::system)?, ClientTransport::Stdio, state.clone());
    let service = service(session);
    let (ended, end) = (CancellationToken::new(), CancellationToken::new());
    let input = Input { input: standard_streams::input(), ended: ended.clone() };
    let serving = async {
        match service.serve_with_ct(LineTransport::new(input, standard_streams::output()), end.clone()).await
        {
            Ok(running) => running.waiting().await.map(drop).map_err(Failure::system),
            // A client that disconnects before its first message is not a failure.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(error) => Err(Failure::new(Kind::Network, error.to_string()).caused_by(error)),
        }
    };
    let ending = async {
        tokio::select! {
            () = stop.cancelled() => shutdown::finish(&state, true, ended.cancelled()).await,
            () = ended.cancelled() => {
                for _ in 0..TURNS {
                    tokio::task::yield_now().await;
                }
                // A client that closes its end and sends a signal will not wait for long.
                let gone = async {
                    tokio::select! {
                        () = output_closed() => {}
                        () = stop.cancelled() => {}
                    }
                };
                shutdown::finish(&state, false, gone).await;
            }
        }
    };
    let mut serving = pin!(serving);
    tokio::select! {
        served = &mut serving => return served,
        () = ending => end.cancel(),
    }
    serving.await
}

/// Waits until standard output has no reader any more.
async fn output_closed() {
    let output = io::stdout();
    loop {
        let mut polled = [PollFd::new(&output, PollFlags::empty())];
        let gone = poll(&mut polled, Some(&Timespec::default())).is_ok_and(|count| count > 0);
        if gone {
            return;
        }
        sleep(LOOK_TIME).await;
    }
}

/// An input that signals its end and then stays pending.
struct Input<R> {
    input: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ended.is_cancelled() {
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.input).poll_read(context, buffer));
        if read.is_ok() && buffer.filled().len() > before {
            return Poll::Ready(Ok(()));
        }
        // Otherwise the library would end at once, or after a delay that it chooses.
        self.ended.cancel();
        Poll::Pending
    }
}
