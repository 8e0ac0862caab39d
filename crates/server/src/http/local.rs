//! A listener for pages that are for the user of this machine alone: only on loopback addresses, only under their own
//! names, and only for pages of the same origin.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use gateway::failure::Failure;
use report::Kind;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::connections;
use super::head;
use super::table::Entry;

/// The port that an address without one means (RFC 9110, section 4.2.1).
const DEFAULT_PORT: u16 = 80;

/// A listener on a loopback address.
#[derive(Debug)]
pub struct LocalListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl LocalListener {
    /// Starts to listen; `option` is the option that names the address.
    ///
    /// # Errors
    /// If the address is not a loopback address, or can't be used.
    pub async fn bind(address: SocketAddr, option: &str) -> Result<Self, Failure> {
        if !address.ip().to_canonical().is_loopback() {
            return Err(Failure::command_line(format!(
                "{address} can be reached from other machines, and the page is for this machine only"
            ))
            .hint(format!("use a loopback address, such as {option} 127.0.0.1:0")));
        }
        let failed = |error: std::io::Error| {
            Failure::new(Kind::Network, format!("can't listen on {address}: {error}"))
                .caused_by(error)
                .hint(format!("choose another address with {option}, or port 0 for a free port"))
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(LocalListener { listener, address })
    }

    /// The address, with the port that was chosen.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves requests that are not refused until `closing`.
    pub async fn serve(self, routes: Router, closing: CancellationToken) {
        let names: Arc<[String]> = names(self.address).into();
        let routes = routes.layer(middleware::from_fn_with_state(names, unless_refused));
        connections::accept_and_serve(self.listener, routes, closing).await;
    }
}

/// Accepts a request, so that its connection stays open; `false` if too many connections are open.
#[must_use]
pub fn admit(request: &Request) -> bool {
    request.extensions().get::<Arc<Entry>>().is_some_and(|connection| connection.admit().is_ok())
}

/// The values of `Host` that mean a loopback address.
fn names(address: SocketAddr) -> Vec<String> {
    let own = match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    };
    let port = address.port();
    let with_port = [own.as_str(), "localhost"].map(|host| format!("{host}:{port}"));
    let bare = (port == DEFAULT_PORT).then(|| [own.clone(), "localhost".to_owned()]);
    with_port.into_iter().chain(bare.into_iter().flatten()).collect()
}

/// Answers a request, unless its head is ambiguous, or it is for another host (DNS rebinding) or of a page of another
/// origin.
async fn unless_refused(State(names): State<Arc<[String]>>, request: Request, next: Next) -> Response {
    let why = refusal(request.headers(), &names);
    if let Some(why) = why {
        return (StatusCode::FORBIDDEN, format!("the request is refused: {why}\n")).into_response();
    }
    head::answer(request, |host| head::is_among(host, &names), next).await
}

/// Returns the reason why a request with these headers is refused. A missing `Host`, or more than one, is refused with
/// the head.
fn refusal(headers: &HeaderMap, names: &[String]) -> Option<String> {
    let is_own = |host: &str| names.iter().any(|name| name.eq_ignore_ascii_case(host));
    for host in headers.get_all(header::HOST) {
        if !host.to_str().is_ok_and(is_own) {
            return Some("its Host is not this server's address".to_owned());
        }
    }
    for origin in headers.get_all(header::ORIGIN) {
        let host = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
        if !host.is_some_and(is_own) {
            return Some("its Origin is another page".to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn refused(address: &str, fields: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        refusal(&headers, &names(address.parse().unwrap())).is_some()
    }

    #[test]
    fn only_loopback_names_with_the_port_are_hosts() {
        for (address, host) in [
            ("127.0.0.1:4000", "127.0.0.1:4000"),
            ("127.0.0.1:4000", "LOCALHOST:4000"),
            ("[::1]:4000", "[::1]:4000"),
            ("127.0.0.1:80", "localhost"),
        ] {
            assert!(!refused(address, &[("host", host)]), "{host}");
        }
        for host in ["127.0.0.1", "localhost", "127.0.0.1:4001", "rebound.example:4000", "127.0.0.2:4000", ""]
        {
            assert!(refused("127.0.0.1:4000", &[("host", host)]), "{host}");
        }
    }

    #[test]
    fn only_pages_of_the_same_origin_are_accepted() {
        let host = ("host", "127.0.0.1:4000");
        for origin in ["http://127.0.0.1:4000", "http://localhost:4000"] {
            assert!(!refused("127.0.0.1:4000", &[host, ("origin", origin)]), "{origin}");
        }
        for origin in [
            "null",
            "https://127.0.0.1:4000",
            "http://127.0.0.1:4001",
            "http://127.0.0.1",
            "http://evil.example",
            "http://127.0.0.1:4000.evil.example",
        ] {
            assert!(refused("127.0.0.1:4000", &[host, ("origin", origin)]), "{origin}");
        }
        let both = [host, ("origin", "http://127.0.0.1:4000"), ("origin", "http://evil.example")];
        assert!(refused("127.0.0.1:4000", &both));
    }

    #[tokio::test]
    async fn other_machines_cannot_reach_it() {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let refused = LocalListener::bind(address.parse().unwrap(), "--address").await.unwrap_err();
            assert!(refused.to_string().contains("other machines"), "{refused}");
        }
    }
}
