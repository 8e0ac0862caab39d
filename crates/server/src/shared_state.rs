//! The knowledge that several replicas of this server share through an object store: the states that were used, and the
//! outputs of clients without sessions.
//!
//! The store is not trusted. Outputs are encrypted with a secret of the replicas and bound to their owner and address, so
//! that the store and other owners can neither read nor exchange them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use config::{CacheSettings, SharedState as Settings};
use gateway::cache::{ObjectError, ObjectKind, Objects, shared_secret};
use gateway::failure::Failure;
use gateway::permission::share_identities;
use report::Kind;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use system::event_loop::off_loop;
use system::random;

/// Contexts of the keys that are derived from the secret (BLAKE3, key derivation).
const REQUESTS: &str = "toolsmith v1: states of requests";
const OUTPUTS: &str = "toolsmith v1: contents of outputs";
const IDENTITIES: &str = "toolsmith v1: identities of servers";
const NAMES: &str = "toolsmith v1: names of objects";

/// Length of the time at which an output expires, in bytes.
const EXPIRY: usize = 8;
/// The number of bytes that an object of an output has besides the text.
const OVERHEAD: usize = NONCE_LEN + EXPIRY + 16;

/// The state that the replicas share.
pub struct SharedState {
    objects: Objects,
    requests: [u8; 32],
    outputs: LessSafeKey,
    names: [u8; 32],
    lifetime: Duration,
}

impl std::fmt::Debug for SharedState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SharedState").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

/// The reason why an output was not stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeepError {
    #[error(transparent)]
    Store(#[from] ObjectError),
    #[error(transparent)]
    Random(#[from] std::io::Error),
    #[error("it can't be encrypted")]
    Cryptography,
}

impl SharedState {
    /// Opens what the configuration describes.
    ///
    /// # Errors
    /// If there is no store that can be written to with conditions, or no secret.
    pub(crate) fn open(
        settings: &Settings,
        cache: &CacheSettings,
        objects: Option<Objects>,
    ) -> Result<Self, Failure> {
        let failed = |message: &str, hint: &str| Failure::new(Kind::Configuration, message).hint(hint);
        let remote = cache.remote.as_ref().zip(objects);
        let Some((remote, objects)) = remote.filter(|(remote, _)| remote.key.is_some()) else {
            let hint = "set cache.remote.url and cache.remote.key (docs/remote-cache.md)";
            return Err(failed("serve.sharedState needs a store that this replica may write to", hint));
        };
        if matches!(remote.url.scheme(), "http" | "https") {
            let message =
                "serve.sharedState needs a store with conditional writes, which stores over HTTP do not have";
            return Err(failed(message, "use s3://, gs://, az:// or file:// in cache.remote.url"));
        }
        let Some(place) = settings.key.place() else {
            return Err(failed("serve.sharedState.key is not in one place", "write either `file` or `env`"));
        };
        let secret = shared_secret(&place)?;
        let key = |context| blake3::derive_key(context, &secret);
        let outputs = UnboundKey::new(&AES_256_GCM, &key(OUTPUTS)).map_err(|_| {
            failed(
                "the secret of serve.sharedState.key can't be used",
                "create another one: openssl rand -hex 32",
            )
        })?;
        share_identities(key(IDENTITIES));
        Ok(SharedState {
            objects,
            requests: key(REQUESTS),
            outputs: LessSafeKey::new(outputs),
            names: key(NAMES),
            lifetime: settings.output_lifetime,
        })
    }

    /// The key that seals states of requests.
    pub(crate) fn request_key(&self) -> &[u8] {
        &self.requests
    }

    /// The name of an object, which tells nothing about it.
    fn name(&self, parts: &[&str]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.names);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Marks a state as used; `false` if a replica has done that before.
    ///
    /// # Errors
    /// If the store does not say so.
    pub(crate) async fn use_once(&self, id: &str) -> Result<bool, ObjectError> {
        self.objects.create(ObjectKind::Used, &self.name(&["used", id])).await
    }

    /// Stores an output of an owner.
    ///
    /// # Errors
    /// If the store can't be written to.
    pub(crate) async fn keep(&self, owner: &str, address: &str, text: &str) -> Result<(), KeepError> {
        let nonce = random::bytes::<NONCE_LEN>()?;
        let expires = (now() + self.lifetime).as_millis();
        let mut sealed = u64::try_from(expires).unwrap_or(u64::MAX).to_be_bytes().to_vec();
        sealed.extend_from_slice(text.as_bytes());
        let name = self.name(&["output", owner, address]);
        let unique = Nonce::assume_unique_for_key(nonce);
        let encrypted = off_loop(sealed.len(), || {
            self.outputs.seal_in_place_append_tag(unique, Aad::from(name.as_bytes()), &mut sealed)
        });
        encrypted.map_err(|_| KeepError::Cryptography)?;
        let object = [&nonce[..], &sealed].concat();
        Ok(self.objects.write(ObjectKind::Outputs, &name, object).await?)
    }

    /// The output at an address, if it is the owner's and has not expired, with the rest of its lifetime.
    ///
    /// # Errors
    /// If the store does not answer.
    pub(crate) async fn find(
        &self,
        owner: &str,
        address: &str,
        max_bytes: usize,
    ) -> Result<Option<(String, Duration)>, ObjectError> {
        let name = self.name(&["output", owner, address]);
        let object =
            self.objects.read(ObjectKind::Outputs, &name, max_bytes.saturating_add(OVERHEAD)).await?;
        Ok(object.and_then(|object| off_loop(object.len(), || self.opened(&name, object))))
    }

    fn opened(&self, name: &str, mut object: Vec<u8>) -> Option<(String, Duration)> {
        let (nonce, sealed) = object.split_first_chunk_mut::<NONCE_LEN>()?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.outputs.open_in_place(nonce, Aad::from(name.as_bytes()), sealed).ok()?;
        let (expires, text) = opened.split_first_chunk::<EXPIRY>()?;
        let left = Duration::from_millis(u64::from_be_bytes(*expires)).checked_sub(now())?;
        Some((std::str::from_utf8(text).ok()?.to_owned(), left))
    }
}

/// The time since the epoch.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
