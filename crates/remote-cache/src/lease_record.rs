//! The object of a lease: who builds an entry, and a number that grows while its owner lives.
//!
//! Machines have different clocks, so a lease has no time of its end. Who waits for it measures, with its own clock, how
//! long the object stays the same.

use std::time::Duration;

use object_store::path::Path;
use object_store::{
    Error as StoreError, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, UpdateVersion,
};
use serde::{Deserialize, Serialize};

use crate::trouble::{Trouble, within};

/// Maximum size of the object, in bytes.
const LARGEST: u64 = 1 << 10;

/// The contents of a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// A random number of the lease.
    pub(crate) owner: String,
    /// The number of its renewals.
    pub(crate) renewals: u64,
}

/// A lease as it is in the store.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// `None` if it can't be read.
    pub(crate) record: Option<Record>,
    pub(crate) version: UpdateVersion,
}

/// The result of a conditional write.
#[derive(Debug)]
pub(crate) enum Put {
    Done(UpdateVersion),
    /// The condition was not met: another machine was faster.
    Lost,
    /// The store has no such conditions.
    Unsupported,
}

/// The lease, if there is one.
pub(crate) async fn get(
    store: &dyn ObjectStore,
    path: &Path,
    limit: Duration,
) -> Result<Option<Stored>, Trouble> {
    let read = async {
        let object = store.get(path).await?;
        let version =
            UpdateVersion { e_tag: object.meta.e_tag.clone(), version: object.meta.version.clone() };
        let record = match object.meta.size {
            size if size > LARGEST => None,
            _ => serde_json::from_slice(&object.bytes().await?).ok(),
        };
        Ok(Stored { record, version })
    };
    match within(limit, read).await {
        Ok(stored) => Ok(Some(stored)),
        Err(trouble) if trouble.is_missing_object() => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

/// Writes a lease on the condition of `mode`.
pub(crate) async fn put(
    store: &dyn ObjectStore,
    path: &Path,
    record: &Record,
    mode: PutMode,
    limit: Duration,
) -> Result<Put, Trouble> {
    let text = serde_json::to_vec(record).unwrap_or_default();
    let options = PutOptions { mode, ..PutOptions::default() };
    match within(limit, store.put_opts(path, text.into(), options)).await {
        Ok(result) => Ok(Put::Done(result.into())),
        Err(Trouble::Store(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. })) => {
            Ok(Put::Lost)
        }
        Err(Trouble::Store(StoreError::NotImplemented { .. } | StoreError::NotSupported { .. })) => {
            Ok(Put::Unsupported)
        }
        Err(trouble) => Err(trouble),
    }
}

/// Takes the place of a lease whose owner is dead, on condition that it is still the same.
pub(crate) async fn take_over(
    store: &dyn ObjectStore,
    path: &Path,
    record: &Record,
    dead: &Stored,
    limit: Duration,
) -> Result<Put, Trouble> {
    match put(store, path, record, PutMode::Update(dead.version.clone()), limit).await? {
        Put::Unsupported => {}
        done => return Ok(done),
    }
    // Two machines that do this at the same moment may both succeed, and build the same twice.
    delete(store, path, limit).await?;
    put(store, path, record, PutMode::Create, limit).await
}

/// Removes a lease, if it is there.
pub(crate) async fn delete(store: &dyn ObjectStore, path: &Path, limit: Duration) -> Result<(), Trouble> {
    match within(limit, store.delete(path)).await {
        Ok(()) => Ok(()),
        Err(trouble) if trouble.is_missing_object() => Ok(()),
        Err(trouble) => Err(trouble),
    }
}
