//! Serves the connections of clients: time limits for requests, and shutdown.
//!
//! `http::table` limits their number, and decides which to close.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::table::{Entry, Table};

/// Limits on the size in bytes (64 KiB) and the number of lines of a request's head.
const HEAD_BYTES: usize = 64 << 10;
const HEAD_LINES: usize = 100;

/// Time limit for a connection without an accepted request, whatever arrives on it (15 s): enough for a slow network,
/// and for several attempts of a client that first learns that it needs a token.
const STRANGER_TIME: Duration = Duration::from_secs(15);

/// Time limit for the head of a further request, including the wait for its start.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Delay after a failed accept: usually the file descriptors are exhausted.
const RETRY: Duration = Duration::from_millis(100);

/// Time limit for reading the rest of a response when the server closes.
const CLOSING_TIME: Duration = Duration::from_secs(2);

/// A connection that was accepted on another loop, and whose first bytes have arrived.
pub(super) struct Arrived {
    pub(super) stream: std::net::TcpStream,
    pub(super) address: SocketAddr,
    pub(super) entry: Arc<Entry>,
}

/// Serves connections that arrive from another loop; returns when no more can come and all of them have ended.
pub(super) async fn receive(
    mut arrived: mpsc::Receiver<Arrived>,
    routes: Router,
    closing: CancellationToken,
) {
    let open = TaskTracker::new();
    while let Some(Arrived { stream, address, entry }) = arrived.recv().await {
        // Without a descriptor to watch it, it is closed.
        if let Ok(stream) = TcpStream::from_std(stream) {
            open.spawn(serve(stream, (entry, address), routes.clone(), closing.clone()));
        }
    }
    open.close();
    open.wait().await;
}

/// Accepts connections until `closing`, and serves them with these routes; returns when all of them have ended.
pub(super) async fn accept_and_serve(listener: TcpListener, routes: Router, closing: CancellationToken) {
    let serving = closing.clone();
    let serve = move |stream, entry, address| {
        serve::<TcpStream>(stream, (entry, address), routes.clone(), serving.clone())
    };
    accept(listener, Arc::default(), serve, closing).await;
}

/// Accepts connections until `closing`, and does `each` with them; returns when all of them have ended. The table
/// limits their number.
pub(super) async fn accept<Serving: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    table: Arc<Table>,
    each: impl Fn(TcpStream, Arc<Entry>, SocketAddr) -> Serving,
    closing: CancellationToken,
) {
    let open = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = closing.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, address)) = accepted else {
            // Closing a connection frees its file descriptor.
            table.make_room();
            sleep(RETRY).await;
            continue;
        };
        // Small messages must not be delayed. A failure here appears again below.
        let _ = stream.set_nodelay(true);
        let entry = table.enter(address.ip());
        open.spawn(each(stream, entry, address));
        // Connections that are closed to make room end before more are accepted.
        tokio::task::yield_now().await;
    }
    drop(listener);
    open.close();
    open.wait().await;
}

/// Returns when a connection of which nothing was read must end.
pub(super) async fn end_of_stranger(entry: &Entry, closing: &CancellationToken) {
    tokio::select! {
        () = entry.end.cancelled() => {}
        () = sleep_until(entry.since + STRANGER_TIME) => {}
        () = closing.cancelled() => {}
    }
}

/// Serves one connection to its end.
pub(super) async fn serve<Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: Stream,
    (entry, address): (Arc<Entry>, SocketAddr),
    routes: Router,
    closing: CancellationToken,
) {
    let (known, routes) = (entry.clone(), TowerToHyperService::new(routes));
    let routes = service_fn(move |mut request: Request<Incoming>| {
        let extensions = request.extensions_mut();
        extensions.insert(known.clone());
        extensions.insert(ConnectInfo(address));
        routes.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), routes);
    let mut connection = pin!(connection);
    let stranger = async {
        sleep_until(entry.since + STRANGER_TIME).await;
        if entry.is_admitted() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        // A client may disconnect at any time.
        _ = connection.as_mut() => return,
        () = entry.end.cancelled() => return,
        () = stranger => return,
        () = closing.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(CLOSING_TIME, connection).await;
}

#[cfg(test)]
mod tests {
    use axum::Extension;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    const CLIENT: ([u8; 4], u16) = ([127, 0, 0, 1], 1);

    async fn answer_to(head: &str) -> String {
        let (mut client, server) = duplex(1 << 20);
        let routes = Router::new().route("/", get(|| async { "here" }));
        let entry = Arc::new(Table::default()).enter([127, 0, 0, 1].into());
        let serving = tokio::spawn(serve(server, (entry, CLIENT.into()), routes, CancellationToken::new()));
        client.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        serving.await.unwrap();
        answer
    }

    /// The clock is paused and advances only when all tasks wait: endless work hangs here.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_finish_its_head_is_cut_off() {
        assert_eq!(answer_to("GET / HTTP/1.1\r\nHost: here\r\n").await, "");
        assert_eq!(answer_to("").await, "");
        let whole = answer_to("GET / HTTP/1.1\r\nHost: here\r\n\r\n").await;
        assert!(whole.starts_with("HTTP/1.1 200") && whole.ends_with("here"), "{whole}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_endless_head_is_refused() {
        let line = format!("x: {}\r\n", "y".repeat(10_000));
        let long = answer_to(&format!("GET / HTTP/1.1\r\nHost: here\r\n{}\r\n", line.repeat(90))).await;
        assert!(long.starts_with("HTTP/1.1 431"), "{long}");
        let many =
            answer_to(&format!("GET / HTTP/1.1\r\nHost: here\r\n{}\r\n", "x: y\r\n".repeat(200))).await;
        assert!(many.starts_with("HTTP/1.1 431"), "{many}");
    }

    /// Routes that accept every request.
    fn admitting() -> Router {
        let admit = |Extension(entry): Extension<Arc<Entry>>| async move {
            if entry.admit().is_ok() { "accepted" } else { "full" }
        };
        Router::new().route("/", get(admit))
    }

    /// The answer to a client that sends `begin`, and then one byte a second forever.
    async fn dripped(routes: Router, begin: &str) -> (String, Duration) {
        let (client, server) = duplex(1 << 20);
        let entry = Arc::new(Table::default()).enter([127, 0, 0, 1].into());
        let started = tokio::time::Instant::now();
        let serving = tokio::spawn(serve(server, (entry, CLIENT.into()), routes, CancellationToken::new()));
        let (mut reader, mut writer) = tokio::io::split(client);
        let begin = begin.to_owned();
        let dripping = tokio::spawn(async move {
            writer.write_all(begin.as_bytes()).await.unwrap();
            while writer.write_all(b"x").await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        });
        let mut answer = String::new();
        let _ = reader.read_to_string(&mut answer).await;
        serving.await.unwrap();
        dripping.abort();
        (answer, started.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_head_gets_no_more_time() {
        let (answer, time) = dripped(admitting(), "GET / HTTP/1.1\r\nHost: here\r\nX: ").await;
        assert_eq!((answer.as_str(), time), ("", STRANGER_TIME));
        // The head of a further request has a time limit as well.
        let first = "GET / HTTP/1.1\r\nHost: here\r\n\r\nGET / HTTP/1.1\r\nX: ";
        let (answer, time) = dripped(admitting(), first).await;
        assert!(
            answer.ends_with("accepted") && time <= HEAD_TIME + Duration::from_secs(1),
            "{answer} {time:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_an_accepted_request_ends() {
        let routes = Router::new().route("/", get(|| async { "public" }));
        let (mut client, server) = duplex(1 << 20);
        let entry = Arc::new(Table::default()).enter([127, 0, 0, 1].into());
        let serving = tokio::spawn(serve(server, (entry, CLIENT.into()), routes, CancellationToken::new()));
        let mut answers = 0;
        while client.write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").await.is_ok() {
            let mut answer = [0; 1 << 10];
            if client.read(&mut answer).await.unwrap_or(0) == 0 {
                break;
            }
            answers += 1;
            sleep(Duration::from_secs(4)).await;
        }
        assert_eq!(answers, 4);
        serving.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_is_closed_after_an_accepted_request() {
        let (mut client, server) = duplex(1 << 20);
        let entry = Arc::new(Table::default()).enter([127, 0, 0, 1].into());
        let serving =
            tokio::spawn(serve(server, (entry, CLIENT.into()), admitting(), CancellationToken::new()));
        client.write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("accepted"), "{answer}");
        serving.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_closed_at_once_to_make_room() {
        let (mut client, server) = duplex(1 << 20);
        let table = Arc::new(Table::default());
        let entry = table.enter([127, 0, 0, 1].into());
        let serving =
            tokio::spawn(serve(server, (entry, CLIENT.into()), admitting(), CancellationToken::new()));
        client.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        let _newer: Vec<_> = (0..super::super::table::STRANGERS_OF_ADDRESS)
            .map(|_| table.enter([127, 0, 0, 1].into()))
            .collect();
        serving.await.unwrap();
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
    }
}
