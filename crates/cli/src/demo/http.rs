//! The demo server over streamable HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use terminal::Terminal;
use tokio::net::TcpListener;

use super::{Demo, ServeError, router};
use crate::demo::shop::Shop;

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// Serves the shop at `address` until the process ends, with a separate shop for each session. Prints the URL on
/// standard output, because port 0 selects a free port.
pub(crate) async fn serve(address: SocketAddr, copies: u32) -> Result<(), ServeError> {
    let listening = |error| ServeError::Listen(address, error);
    let listener = TcpListener::bind(address).await.map_err(listening)?;
    let address = listener.local_addr().map_err(listening)?;
    // A web page must not reach a server on this machine: neither by DNS rebinding nor from its own origin.
    let mut hosts = StreamableHttpServerConfig::default().allowed_hosts;
    hosts.push(address.ip().to_string());
    let config = StreamableHttpServerConfig::default().with_allowed_hosts(hosts).enforce_origin_validation();
    let make = move || Ok(Demo { shop: Shop::new(), router: router(copies) });
    let service = StreamableHttpService::new(make, Arc::new(LocalSessionManager::default()), config);
    let terminal = Terminal::new(false, false);
    terminal.print(&format!("http://{address}{PATH}"));
    terminal.flush().await.map_err(listening)?;
    let routes = axum::Router::new().nest_service(PATH, service);
    axum::serve(listener, routes).await.map_err(listening)
}
