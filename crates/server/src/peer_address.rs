//! The address that an HTTP request came from.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// The remote address of the request's connection.
pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<SocketAddr> {
    of_head(context.extensions.get::<Parts>()?)
}

/// The remote address of the connection of the request with this head.
pub(crate) fn of_head(head: &Parts) -> Option<SocketAddr> {
    head.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| *address)
}
