//! Opens the cache with the configured settings, and the object store that it is shared through.

use std::sync::Arc;
use std::time::Duration;

use config::{CacheSettings, RemoteKey};
pub use remote_cache::{Error as RemoteError, StoreState};
use remote_cache::{KeySource, Notify, PublicKey, Remote, Settings};
use report::Report;
use runner::Cache;
use terminal::Notifier;

use crate::failure::Failure;

/// How long `doctor` waits for an answer of the store.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens the cache in the user's folder, without the store of other machines.
///
/// # Errors
/// If the folder can't be determined or used.
pub fn open(settings: &CacheSettings) -> Result<Cache, Failure> {
    let folder = config::cache_folder()?;
    Ok(Cache::open(&folder, settings.size)?)
}

/// Opens the cache in the user's folder, with the configured store (`cache.remote`). Must be called within a runtime.
///
/// # Errors
/// As [`open`], or if the settings of the store can't be used. A store that does not answer is no error.
pub fn open_shared(settings: &CacheSettings, notifier: Notifier) -> Result<Cache, Failure> {
    let cache = open(settings)?;
    let remote = open_remote(settings, Arc::new(move |line| notifier.warning(line)));
    let remote = remote.map_err(Report::from)?;
    Ok(match remote {
        Some(remote) => cache.with_remote(Arc::new(remote)),
        None => cache,
    })
}

/// What the configured store answers; `None` if none is configured.
///
/// # Errors
/// If the settings of the store can't be used.
pub async fn remote_state(settings: &CacheSettings) -> Result<Option<StoreState>, RemoteError> {
    Ok(match open_remote(settings, Arc::new(|_| {}))? {
        Some(remote) => Some(remote.state(PATIENCE).await),
        None => None,
    })
}

fn open_remote(settings: &CacheSettings, notify: Notify) -> Result<Option<Remote>, RemoteError> {
    let Some(config::RemoteCache { url, headers, key, public_keys, timeout }) = &settings.remote else {
        return Ok(None);
    };
    let key = key.as_ref().map(|key| match key {
        RemoteKey::File(path) => KeySource::File(path.clone()),
        RemoteKey::Environment(name) => KeySource::Environment(name.clone()),
    });
    let settings = Settings {
        url: url.clone(),
        headers: headers.clone(),
        variables: remote_cache::store_variables(),
        key,
        public_keys: public_keys.iter().copied().map(PublicKey::new).collect(),
        timeout: *timeout,
    };
    Remote::open(&settings, notify).map(Some)
}
