//! JSON-RPC messages between the protocol library and a server: what all transports have in common.
//!
//! The library decodes a result into the first of its types that seems to fit and drops what that type does not know.
//! So requests whose answer must stay as it is travel as a [`RawRequest`] in the request's extensions: their
//! parameters are written verbatim, their answer is kept verbatim, and the library only sees that one has come. What
//! the library would swallow for ever (an oversized message, an answer to `initialize` that makes no sense) becomes a
//! [`Fault`] that ends the connection with a reason.

mod batch;
mod health;
mod line;
mod memory_budget;
mod message;
mod notification;
mod numbers;
mod outbox;
mod response_router;
mod rpc_error;

pub(crate) use batch::batch;
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

/// The longest message that is accepted from a server, in bytes. A longer one ends the connection.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// What is told of a longer one.
pub(crate) fn too_large() -> String {
    format!(
        "it sent a message of more than {MAX_MESSAGE_BYTES} bytes, the connection is closed; ask the tool for less at a time"
    )
}
