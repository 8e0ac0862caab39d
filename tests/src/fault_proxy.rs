//! A TCP proxy whose connections fail in a chosen way, on a thread of its own.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

/// The fault that the proxy applies to answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It forwards them.
    None,
    /// It forwards each part of an answer after this time.
    Latency(Duration),
    /// It closes each connection when a request arrives, so that the client sees a reset.
    Reset,
    /// It answers with the status 500.
    ServerError,
    /// It forwards this many bytes of an answer, and closes the connection.
    Cut(usize),
    /// It reads requests and never answers.
    Silence,
}

/// A running proxy, until this is dropped.
#[derive(Debug)]
pub struct FaultProxy {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    fault: Mutex<Fault>,
    /// Parts of requests so far.
    requests: AtomicUsize,
    is_stopped: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
}

impl FaultProxy {
    /// Starts a proxy before `server`.
    ///
    /// # Panics
    /// If it can't be started.
    #[must_use]
    #[allow(clippy::unwrap_used, reason = "a test can't go on without it")]
    pub fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            fault: Mutex::new(Fault::None),
            requests: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let shared = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if shared.is_stopped.load(Ordering::SeqCst) {
                    return;
                }
                if let (Ok(client), Ok(server)) = (client, TcpStream::connect(server)) {
                    connect(&client, &server, &shared);
                }
            }
        });
        FaultProxy { address, state }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Fails from now on in this way, also on connections that exist.
    pub fn set(&self, fault: Fault) {
        *self.state.fault.lock() = fault;
    }

    /// Returns the number of parts of requests that have arrived.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.state.is_stopped.store(true, Ordering::SeqCst);
        for connection in self.state.connections.lock().drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

fn connect(client: &TcpStream, server: &TcpStream, state: &Arc<State>) {
    let copies = [client, server, client, server, client, server].map(TcpStream::try_clone);
    let [Ok(from_client), Ok(to_server), Ok(to_client), Ok(from_server), Ok(one), Ok(other)] = copies else {
        return;
    };
    state.connections.lock().extend([one, other]);
    let (requests, answers) = (state.clone(), state.clone());
    std::thread::spawn(move || forward_requests(from_client, to_server, &requests));
    std::thread::spawn(move || forward_answers(from_server, to_client, &answers));
}

impl State {
    fn fault(&self) -> Fault {
        *self.fault.lock()
    }
}

fn forward_requests(mut client: TcpStream, mut server: TcpStream, state: &State) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(length @ 1..) = client.read(&mut bytes) {
        state.requests.fetch_add(1, Ordering::SeqCst);
        match state.fault() {
            Fault::Reset => break,
            Fault::Silence => continue,
            Fault::ServerError => {
                const ANSWER: &[u8] =
                    b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let _ = client.write_all(ANSWER);
                break;
            }
            Fault::None | Fault::Latency(_) | Fault::Cut(_) => {}
        }
        if server.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    for stream in [client, server] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn forward_answers(mut server: TcpStream, mut client: TcpStream, state: &State) {
    let mut bytes = vec![0; 64 << 10];
    let mut forwarded = 0;
    while let Ok(length @ 1..) = server.read(&mut bytes) {
        let mut part = &bytes[..length];
        match state.fault() {
            Fault::Latency(time) => std::thread::sleep(time),
            Fault::Cut(after) => part = &part[..length.min(after.saturating_sub(forwarded))],
            Fault::None | Fault::Reset | Fault::ServerError | Fault::Silence => {}
        }
        forwarded += part.len();
        if client.write_all(part).is_err() || part.len() < length {
            break;
        }
    }
    for stream in [client, server] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
