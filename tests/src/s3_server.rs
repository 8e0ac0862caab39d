//! An S3 server on the file system (the crate `s3s-fs`), on a thread of its own.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tokio::sync::oneshot;

/// The access key and the secret that it accepts.
pub const ACCESS_KEY: &str = "test-access-key";
/// The secret of [`ACCESS_KEY`].
pub const SECRET_KEY: &str = "test-secret-key";
/// The only bucket.
pub const BUCKET: &str = "artifacts";

/// A running server, until this is dropped.
#[derive(Debug)]
pub struct S3Server {
    address: SocketAddr,
    folder: tempfile::TempDir,
    requests: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl S3Server {
    /// Starts a server with an empty bucket.
    ///
    /// # Panics
    /// If it can't be started.
    #[must_use]
    #[allow(clippy::unwrap_used, reason = "a test can't go on without it")]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        builder.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let (service, requests) = (builder.build(), Arc::default());
        let (stop, stopped) = oneshot::channel();
        let log = Arc::clone(&requests);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, service, log) => {}
                    _ = stopped => {}
                }
            });
        });
        S3Server { address, folder, requests, stop: Some(stop), thread: Some(thread) }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests so far: method and path of each.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().clone()
    }

    /// The files of the objects whose path contains `part`.
    #[must_use]
    pub fn objects(&self, part: &str) -> Vec<PathBuf> {
        let bucket = self.folder.path().join(BUCKET);
        let mut found = Vec::new();
        collect(&bucket, &mut found);
        found.retain(|file| file.to_string_lossy().contains(part));
        found.sort();
        found
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The variables with which clients find a server at `address`.
#[must_use]
pub fn variables(address: SocketAddr) -> [(&'static str, String); 5] {
    [
        ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ENDPOINT_URL", format!("http://{address}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
    ]
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { collect(&path, found) } else { found.push(path) }
    }
}

#[allow(clippy::unwrap_used, reason = "a test can't go on without it")]
async fn accept(listener: TcpListener, service: S3Service, log: Arc<Mutex<Vec<String>>>) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    // `s3s-fs` checks a condition and writes in two steps; a real store does both at once.
    let conditional = Arc::new(tokio::sync::Mutex::new(()));
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (service, log, conditional) = (service.clone(), log.clone(), conditional.clone());
        let answer = service_fn(move |request: hyper::Request<Incoming>| {
            let (service, log, conditional) = (service.clone(), log.clone(), conditional.clone());
            async move {
                let line = format!("{} {}", request.method(), request.uri().path());
                log.lock().push(line);
                let headers = request.headers();
                let is_put = request.method() == hyper::Method::PUT;
                let is_conditional =
                    is_put && (headers.contains_key("if-none-match") || headers.contains_key("if-match"));
                let _turn = if is_conditional { Some(conditional.lock().await) } else { None };
                Service::call(&service, request).await
            }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}
