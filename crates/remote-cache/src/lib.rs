//! Compiled entries in an object store, shared by several machines.
//!
//! The runner looks up what is missing in its local cache ([`runner::RemoteCache`]), and offers what it has built. A
//! store may be slow, down or hostile: a lookup has a time limit, a store that fails is left alone for a while
//! (`breaker`), and an entry is used only if its signature is that of a trusted key and it is the requested one
//! (`sealed`). A lease for each key lets one machine build what several need (`lease`). The configuration, and where
//! notes are shown, belong to the caller.

mod archive;
mod breaker;
mod client;
mod error;
mod fetch;
mod key;
mod lease;
mod lease_record;
mod notes;
mod objects;
mod remote;
mod sealed;
mod settings;
mod shared;
mod store;
mod trouble;
mod upload;

pub use error::Error;
pub use key::{KeySource, PublicKey, SigningKey, read_secret};
pub use notes::Notify;
pub use objects::{ObjectError, ObjectKind, Objects};
pub use remote::{Remote, StoreState};
pub use settings::{DEFAULT_TIMEOUT, Settings, store_variables};
