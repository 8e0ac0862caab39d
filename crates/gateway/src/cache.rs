//! Opens the cache with the configured settings, and the object store that it is shared through.

use std::sync::Arc;
use std::time::Duration;

use config::{CacheSettings, RemoteKey};
pub use remote_cache::{Error as RemoteError, ObjectError, ObjectKind, Objects, StoreState};
use remote_cache::{KeySource, Notify, PublicKey, Remote, Settings, read_secret};
use report::{Kind, Report};
use runner::Cache;
use terminal::Notifier;

use crate::failure::Failure;

/// The time for which `doctor` waits for an answer of the store.
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
/// As [`open()`], or if the settings of the store can't be used. A store that does not answer is no error.
pub fn open_shared(settings: &CacheSettings, notifier: Notifier) -> Result<Cache, Failure> {
    Ok(open_with_objects(settings, notifier)?.0)
}

/// Like [`open_shared`], with the small objects of the store, if one is configured.
///
/// # Errors
/// As [`open_shared`].
pub fn open_with_objects(
    settings: &CacheSettings,
    notifier: Notifier,
) -> Result<(Cache, Option<Objects>), Failure> {
    let cache = open(settings)?;
    let remote = open_remote(settings, Arc::new(move |line| notifier.warning(line)));
    let remote = remote.map_err(Report::from)?;
    Ok(match remote {
        Some(remote) => {
            let objects = remote.objects();
            (cache.with_remote(Arc::new(remote)), Some(objects))
        }
        None => (cache, None),
    })
}

/// The secret of `serve.sharedState`.
///
/// # Errors
/// If it is missing, readable by others, or does not have 64 hexadecimal digits. The text has no part of it.
pub fn shared_secret(place: &RemoteKey) -> Result<[u8; 32], Failure> {
    const CREATE: &str = "create one: openssl rand -hex 32";
    let text = read_secret(&source(place), "serve.sharedState.key", CREATE).map_err(Report::from)?;
    let digits = text.trim().as_bytes();
    let mut secret = [0; 32];
    let value = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let bytes = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(value(*high)? << 4 | value(*low)?),
        _ => None,
    });
    let bytes: Option<Vec<u8>> = bytes.collect();
    match bytes.filter(|bytes| bytes.len() == secret.len()) {
        Some(bytes) => secret.copy_from_slice(&bytes),
        None => {
            let message = "the secret of serve.sharedState.key does not have 64 hexadecimal digits";
            return Err(Failure::new(Kind::Configuration, message).hint(CREATE));
        }
    }
    Ok(secret)
}

/// Returns the answer of the configured store; `None` if none is configured.
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
    let key = key.as_ref().map(source);
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

/// Where a key is, for the store.
fn source(place: &RemoteKey) -> KeySource {
    match place {
        RemoteKey::File(path) => KeySource::File(path.clone()),
        RemoteKey::Environment(name) => KeySource::Environment(name.clone()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_shared_secret_has_64_digits_in_a_file_that_others_can_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let read = |text: &str, mode: u32| {
            fs_err::write(&file, text).unwrap();
            fs_err::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            shared_secret(&RemoteKey::File(file.clone())).map_err(|failure| failure.to_string())
        };
        let digits = "0a".repeat(32);
        assert_eq!(read(&format!("{digits}\n"), 0o600), Ok([10; 32]));
        for wrong in ["", "0a", &"0g".repeat(32), &"0a".repeat(33), &digits[1..]] {
            let error = read(wrong, 0o600).unwrap_err();
            assert!(error.contains("64 hexadecimal digits"), "{error}");
        }
        let error = read(&digits, 0o644).unwrap_err();
        assert!(error.contains("serve.sharedState.key") && error.contains("accessible to others"), "{error}");
    }
}
