use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::channel;

use axum::routing::get;

use super::*;

/// The time limit on a test's wait for an answer: it never takes that long.
const LIMIT: Duration = Duration::from_secs(60);

/// A server whose loop is held until the sender is dropped.
struct Held {
    address: SocketAddr,
    closing: CancellationToken,
    release: std::sync::mpsc::Sender<()>,
    serving: tokio::task::JoinHandle<()>,
    runtime: tokio::runtime::Runtime,
}

fn held(pulse: Pulse) -> Held {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let probes = Router::new().route(PATH, get(answer)).with_state(Arc::new(pulse));
    let routes = Router::new().route("/", get(|| async { "here" }));
    let closing = CancellationToken::new();
    let arrived = start(listener, Table::default(), probes, closing.clone()).unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (release, released) = channel();
    let (stuck, is_stuck) = channel();
    let serving = runtime.spawn(connections::receive(arrived, routes, closing.clone()));
    runtime.spawn(async move {
        stuck.send(()).unwrap();
        let _ = released.recv_timeout(LIMIT);
    });
    is_stuck.recv_timeout(LIMIT).unwrap();
    Held { address, closing, release, serving, runtime }
}

fn ask(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.set_nodelay(true).unwrap();
    // In several parts.
    write!(stream, "GET {path} HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    stream
}

fn answered(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_probe_is_answered_while_the_loop_is_held() {
    let Held { address, closing, release, serving, runtime } = held(Pulse::default());
    // More than the loop could be sent.
    let others: Vec<TcpStream> = (0..2 * UNTAKEN).map(|_| ask(address, "/")).collect();
    for path in ["/healthz", "/healthz?again"] {
        let answer = answered(ask(address, path));
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok\n"), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
    for other in &others {
        other.set_nonblocking(true).unwrap();
        let unanswered = other.peek(&mut [0]).map_err(|error| error.kind());
        assert_eq!(unanswered, Err(ErrorKind::WouldBlock));
        other.set_nonblocking(false).unwrap();
    }
    drop(release);
    for mut other in others {
        let mut answer = vec![0; 12];
        other.read_exact(&mut answer).unwrap();
        assert_eq!(answer, b"HTTP/1.1 200");
    }
    closing.cancel();
    runtime.block_on(serving).unwrap();
    assert!(TcpStream::connect(address).is_err(), "the listener is closed");
}

#[test]
fn a_loop_that_has_not_turned_for_long_is_reported() {
    let held = held(Pulse::turned_before(DEAD));
    let answer = answered(ask(held.address, PATH));
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("the event loop has not turned for 6"), "{answer}");
}

#[test]
fn only_the_path_of_probes_is_theirs() {
    let held = held(Pulse::turned_before(DEAD));
    drop(held.release);
    for path in ["/healthzz", "/healthz/", "/health", "//healthz"] {
        let mut first = [0; 12];
        ask(held.address, path).read_exact(&mut first).unwrap();
        assert_eq!(first.as_slice(), b"HTTP/1.1 404", "the loop answers {path}");
    }
}
