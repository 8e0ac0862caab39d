//! The address that an HTTP request came from.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// The remote address of the request's connection.
pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<SocketAddr> {
    let parts = context.extensions.get::<axum::http::request::Parts>()?;
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| *address)
}
