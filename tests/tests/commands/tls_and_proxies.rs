//! TLS certificates, and proxies set in the environment.

use std::path::PathBuf;
use std::sync::Arc;

use end_to_end::cache::json;
use end_to_end::cache::shared;
use end_to_end::harness::Run;
use end_to_end::page::normal;
use end_to_end::services::{Service, authority};
use insta::assert_snapshot;
use parking_lot::Mutex;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// The demo server behind TLS, with a certificate by an unknown authority.
pub(crate) struct TlsServer {
    server: Service,
    pub(crate) address: String,
    folder: TempDir,
    /// Serves until it is dropped.
    _runtime: Runtime,
}

impl TlsServer {
    /// Starts it with a certificate for this name or address.
    pub(crate) fn new(name: &str) -> Self {
        let (server, folder, runtime) =
            (Service::demo(), tempfile::tempdir().unwrap(), Runtime::new().unwrap());
        let mut authorities = CertificateParams::new(Vec::new()).unwrap();
        authorities.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(authorities, KeyPair::generate().unwrap()).unwrap();
        std::fs::write(folder.path().join("authority.pem"), issuer.pem()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.unwrap().with_no_client_auth();
        let config = config.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = format!("https://{}/mcp", listener.local_addr().unwrap());
        let backend = authority(&server.first).to_owned();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, backend) = (acceptor.clone(), backend.clone());
                tokio::spawn(async move {
                    // A client that does not trust the certificate disconnects.
                    let Ok(mut outside) = acceptor.accept(stream).await else { return };
                    let mut inside = TcpStream::connect(&backend).await.unwrap();
                    let _ = copy_bidirectional(&mut outside, &mut inside).await;
                });
            }
        });
        TlsServer { server, address, folder, _runtime: runtime }
    }

    /// The file with its authority's certificate.
    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }
}

/// A proxy that records its requests.
struct Proxy {
    address: String,
    /// The first line of the first request of each connection.
    seen: Arc<Mutex<Vec<String>>>,
    /// Serves until it is dropped.
    _runtime: Runtime,
}

impl Proxy {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::default();
        let record = Arc::clone(&seen);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(forward(stream, Arc::clone(&record)));
            }
        });
        Proxy { address, seen, _runtime: runtime }
    }

    /// Takes the requests recorded since the last call.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock())
    }
}

/// Forwards a request (the parts of RFC 9110, sections 7.6 and 9.3.6, that are needed here).
async fn forward(mut client: TcpStream, seen: Arc<Mutex<Vec<String>>>) {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut bytes = [0; 4096];
        match client.read(&mut bytes).await {
            Ok(length @ 1..) => head.extend_from_slice(&bytes[..length]),
            _ => return,
        }
    }
    let line = String::from_utf8_lossy(&head).lines().next().unwrap().to_owned();
    let target = line.split(' ').nth(1).unwrap().to_owned();
    let is_tunnel = line.starts_with("CONNECT ");
    seen.lock().push(line);
    let mut server = TcpStream::connect(if is_tunnel { &target } else { authority(&target) }).await.unwrap();
    if is_tunnel {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    } else {
        server.write_all(&head).await.unwrap();
    }
    let _ = copy_bidirectional(&mut client, &mut server).await;
}

fn config(address: &str) -> String {
    format!("mcpServers:\n  shop: {{ type: http, url: {address:?} }}\n")
}

/// `toolsmith mcp test` of a server at this address.
fn tried(address: &str) -> Run {
    Run::new(shared()).arguments(&["mcp", "test", "shop"]).config(&config(address))
}

#[test]
fn a_certificate_must_be_from_a_trusted_authority() {
    let front = TlsServer::new("127.0.0.1");
    let refused = tried(&front.address).done().exits(7);
    assert_eq!(refused.stdout, "");
    assert_snapshot!(normal(&refused.stderr), @r"
    shop: error: cannot connect: no connection (https://127.0.0.1:[port]): invalid peer certificate: UnknownIssuer; if you trust the server's certificate authority, add its certificate to the system's, or set SSL_CERT_FILE to a PEM file with all authorities that you trust
    ");

    let file = front.authority();
    let trusted = |run: Run| run.variable("SSL_CERT_FILE", file.to_str().unwrap());
    let done = trusted(tried(&front.address)).done().exits(0);
    assert!(done.stdout.starts_with("shop: ok, 9 tools"), "{done:#?}");
    let run = json("shop::echo(\"sealed\").await?.text()").config(&config(&front.address));
    assert_eq!(trusted(run).result(), "sealed");
}

#[test]
fn a_certificate_must_be_for_the_server() {
    let front = TlsServer::new("other.example");
    let file = front.authority();
    let refused = tried(&front.address).variable("SSL_CERT_FILE", file.to_str().unwrap()).done().exits(7);
    assert_snapshot!(normal(&refused.stderr), @r#"
    shop: error: cannot connect: no connection (https://127.0.0.1:[port]): invalid peer certificate: certificate not valid for name "127.0.0.1"; certificate is only valid for DnsName("other.example"); write a name or address in `url` that the certificate is for
    "#);
}

#[test]
fn requests_use_the_proxy_of_the_environment() {
    let (front, proxy) = (TlsServer::new("127.0.0.1"), Proxy::new());
    let plain = &front.server.first;
    tried(plain).variable("HTTP_PROXY", &proxy.address).done().exits(0);
    let seen = proxy.take();
    assert!(!seen.is_empty(), "nothing went through the proxy");
    assert!(seen.iter().all(|line| line.contains(&format!(" {plain} "))), "{seen:?}");

    let excepted = tried(plain).variable("HTTP_PROXY", &proxy.address).variable("NO_PROXY", "127.0.0.1");
    excepted.done().exits(0);
    assert_eq!(proxy.take(), Vec::<String>::new());

    // For encrypted connections, a proxy only sees the destination.
    let file = front.authority();
    let sealed = tried(&front.address).variable("SSL_CERT_FILE", file.to_str().unwrap());
    sealed.variable("HTTPS_PROXY", &proxy.address).done().exits(0);
    let seen = proxy.take();
    let tunnel = format!("CONNECT {} ", authority(&front.address));
    assert!(!seen.is_empty() && seen.iter().all(|line| line.starts_with(&tunnel)), "{seen:?}");

    let gone = tried(plain).variable("HTTP_PROXY", "http://127.0.0.1:9").done().exits(7);
    assert_snapshot!(normal(&gone.stderr), @r"
    shop: error: cannot connect: nothing answers at http://127.0.0.1:[port], or at the proxy of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY; start the server, or check the address
    ");
    let run = json("shop::echo(\"by proxy\").await?.text()").config(&config(plain));
    assert_eq!(run.variable("ALL_PROXY", &proxy.address).result(), json!("by proxy"));
    assert!(!proxy.take().is_empty());
}
