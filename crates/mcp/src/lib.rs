//! The MCP client: one live [`Session`] per server and execution.
//!
//! This crate owns the client's side of the protocol: starting a server's process and ending it with all its
//! descendants, the handshake, discovery, calls, deadlines and cancellation. Callers decide which servers exist, which
//! tools may be called and what to do with a result. No type of the protocol library is part of this interface: tools
//! and results are raw JSON, so that nothing a server sends is lost.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = mcp::ServerConfig::stdio("shop", "shop-server", ["--verbose"]);
//! let session = mcp::Session::connect(&config).await?;
//! let listing = session.list_tools().await?;
//! for tool in &listing.tools {
//!     println!("{}", tool.name);
//! }
//! let arguments = serde_json::value::to_raw_value(&serde_json::json!({ "message": "hello" }))?;
//! let result = session.call("echo", arguments).await?;
//! println!("{}", result.raw().get());
//! session.close().await;
//! # Ok(())
//! # }
//! ```

mod call_result;
mod check;
mod client;
mod error;
pub mod form;
mod host;
mod http;
mod in_process;
pub mod keyring;
mod listing;
mod lock;
mod managed_session;
mod oauth;
#[allow(unsafe_code, reason = "runs code between fork and exec, and registers descriptors that it owns")]
mod process;
mod progress;
mod secrets;
mod server_config;
mod session;
mod sse;
mod stderr;
mod text;
mod token_subject;
pub mod tool_members;
mod trace;
mod wire;

pub use call_result::REPAIRED_META;
pub use check::{InputCheck, Invalid, SchemaError};
pub use error::{Challenge, Error, ErrorKind, Evidence, Exit, Phase, SpawnError};
pub use host::{
    APPS, Host, ListKind, MAX_QUESTION_BYTES, MAX_QUESTIONS, NoHost, Notice, QuestionError, VIEW_TYPE,
};
pub use http::{http_client, retry_after};
pub use in_process::{InProcessServer, Introduction, OpenError, Tools};
pub use listing::{
    Listing, ListingError, MAX_LISTING_BYTES, MAX_PAGES, MAX_TOOL_BYTES, MAX_TOOL_NAME_BYTES, MAX_TOOLS,
    PageDigest, Tool,
};
pub use lock::{
    LOCK_VERSION, Lock, LockError, LockErrorKind, LockedServer, LockedTool, MAX_LOCK_BYTES, Observed, Shape,
};
pub use managed_session::{
    Changes, ConnectionState, FIRST_WAIT, HEALTHY, MAX_ATTEMPTS, MAX_WAIT, ManagedSession, REVIVAL, Status,
    check as check_alive,
};
#[doc(hidden)]
pub use oauth::rehearsal;
pub use oauth::{
    Browser, ClientMetadata, Consent, KeptLogin, LOGIN_TIMEOUT, check_metadata_address,
    exchanges_are_under_way, exchanges_end, kept_login, learn_secrets, login, logout,
};
pub use process::{KILL_GRACE, STDIN_GRACE, TERM_GRACE, entry};
pub use progress::{ProgressMade, ProgressSink};
pub use secrets::{masked, masked_unfinished};
pub use server_config::{
    ApiServer, ClientInfo, Command, DEFAULT_CONNECT_TIMEOUT, DEFAULT_PING_INTERVAL, DEFAULT_REQUEST_TIMEOUT,
    Experimental, Grant, Launched, Launcher, NO_TIME_LIMIT, OAuth, OpenApi, Remote, Root, ServerConfig,
    Transport, is_event_stream, limit_in_seconds,
};
pub use session::{
    CallOptions, CallResult, ForwardedRequest, Items, MAX_ITEMS, MAX_ROUNDS, PROGRESS_FACTOR, RESERVED_META,
    Session, TaskSink, connect_all,
};
pub use token_subject::TokenSubject;
pub use trace::{TARGET as TRACE_TARGET, switch_trace};
pub use wire::{
    MAX_MESSAGE_BYTES, MAX_NOTIFICATION_BYTES, MAX_QUEUED_BYTES, MAX_QUEUED_LINES, MAX_REQUEST_BYTES,
    MAX_STRAY_BYTES, MAX_UNTAKEN_BYTES,
};
