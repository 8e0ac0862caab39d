//! JSON-RPC messages between the protocol library and a server, for all transports.
//!
//! The library decodes a result into the first of its types that seems to match, and drops members that this type does
//! not have. So requests whose response must stay unchanged are sent as a [`RawRequest`] in the request's extensions:
//! their parameters are written verbatim, their response is kept verbatim, and the library only sees that one has
//! arrived. What would make the library wait forever (an oversized message, an invalid response to `initialize`)
//! becomes a [`Fault`] that ends the connection with a reason.

mod batch;
mod handshake;
mod health;
mod line;
mod memory_budget;
mod message;
mod notification;
mod numbers;
mod outbox;
mod response_router;
mod rpc_error;
mod unaddressed;

pub(crate) use batch::batch;
pub(crate) use handshake::TASKS;
pub use health::MAX_STRAY_BYTES;
pub(crate) use health::{Fault, HALVED, Health};
pub(crate) use line::LineTransport;
pub use memory_budget::MAX_UNTAKEN_BYTES;
pub(crate) use memory_budget::{FREE_BYTES, LargePermit, MemoryBudget, SmallPermit};
pub(crate) use message::{Answer, Outcome, RawRequest, encode, raw_of};
pub(crate) use notification::REFUSED_METHOD;
pub use notification::{MAX_NOTIFICATION_BYTES, MAX_REQUEST_BYTES};
pub use outbox::{MAX_QUEUED_BYTES, MAX_QUEUED_LINES};
pub(crate) use response_router::{ResponseRouter, ambiguous};
pub(crate) use rpc_error::RpcError;

/// Maximum size of a message from a server, in bytes. A larger one ends the connection.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// The error for a larger one.
pub(crate) fn too_large() -> String {
    format!(
        "it sent a message of more than {MAX_MESSAGE_BYTES} bytes, so the connection is closed; request less data at a time"
    )
}
