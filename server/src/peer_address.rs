//! The address that a request over HTTP came from.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// The other end of the connection that a request came by.
pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<SocketAddr> {
    let parts = context.extensions.get::<axum::http::request::Parts>()?;
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| *address)
}
