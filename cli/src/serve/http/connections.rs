//! Connections of clients: how many, and how long they may take to say what they want.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many connections there are at once; more wait until one is closed.
const MOST_CONNECTIONS: usize = 1024;

/// How long a client may take to send the head of a request, and to begin with the next one.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Most bytes (64 KiB) and lines of a request's head.
const HEAD_BYTES: usize = 64 << 10;
const HEAD_LINES: usize = 100;

/// How long it is waited after no connection could be accepted: most often there are no file descriptors.
const RETRY: Duration = Duration::from_millis(100);

/// How long a client may take to read the end of an answer when the server closes.
const CLOSING_TIME: Duration = Duration::from_secs(2);

/// Accepts connections until it is closing; ends when all of them have ended.
pub(super) async fn accept(listener: TcpListener, routes: Router, closing: CancellationToken) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let open = TaskTracker::new();
    loop {
        let next = async {
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = closing.cancelled() => break,
            next = next => next,
        };
        let Ok((stream, address)) = accepted else {
            sleep(RETRY).await;
            continue;
        };
        // Small messages are not to wait for more. Whatever fails here fails again below.
        let _ = stream.set_nodelay(true);
        let routes = routes.clone().layer(Extension(ConnectInfo(address)));
        let closing = closing.clone();
        open.spawn(async move {
            serve(stream, routes, closing).await;
            drop(place);
        });
    }
    drop(listener);
    open.close();
    open.wait().await;
}

/// Serves one connection to its end.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    routes: Router,
    closing: CancellationToken,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
    let mut connection = pin!(connection);
    tokio::select! {
        // A client that breaks off has its reasons.
        _ = connection.as_mut() => return,
        () = closing.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(CLOSING_TIME, connection).await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    async fn answer_to(head: &str) -> String {
        let (mut client, server) = duplex(1 << 20);
        let routes = Router::new().route("/", get(|| async { "here" }));
        let serving = tokio::spawn(serve(server, routes, CancellationToken::new()));
        client.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        serving.await.unwrap();
        answer
    }

    /// The clock stands, and goes on where nothing else does: what never ends hangs here.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_finish_its_head_is_cut_off() {
        assert_eq!(answer_to("GET / HTTP/1.1\r\nHost: here\r\n").await, "");
        assert_eq!(answer_to("").await, "");
        let whole = answer_to("GET / HTTP/1.1\r\nHost: here\r\n\r\n").await;
        assert!(whole.starts_with("HTTP/1.1 200") && whole.ends_with("here"), "{whole}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_without_end_is_refused() {
        let line = format!("x: {}\r\n", "y".repeat(10_000));
        let long = answer_to(&format!("GET / HTTP/1.1\r\nHost: here\r\n{}\r\n", line.repeat(90))).await;
        assert!(long.starts_with("HTTP/1.1 431"), "{long}");
        let many =
            answer_to(&format!("GET / HTTP/1.1\r\nHost: here\r\n{}\r\n", "x: y\r\n".repeat(200))).await;
        assert!(many.starts_with("HTTP/1.1 431"), "{many}");
    }
}
