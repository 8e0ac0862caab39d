//! Keys of entries, and of other signed files: Ed25519 (RFC 8032). Who writes entries needs the private key, who reads
//! them only public keys.
//!
//! A private key is PKCS#8 in PEM (RFC 5958, RFC 7468), as `openssl genpkey -algorithm ed25519` writes it. The id of a
//! key is the beginning of the SHA-256 hash of its public key, so rotation needs no numbering.

use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};

use crate::error::Error;

/// Length of a public key, in bytes.
const PUBLIC: usize = 32;
/// Length of a signature, in bytes.
pub(crate) const SIGNATURE: usize = 64;
/// Length of the id of a key, in bytes.
pub(crate) const ID: usize = 8;
/// Maximum size of the file of a private key, in bytes: it has about 120.
const LARGEST_FILE: u64 = 16 << 10;
/// Permission bits of everyone but the owner (inode(7)).
const OTHERS: u32 = 0o077;

/// The key of the configuration that says where a private key is.
const NAME: &str = "cache.remote.key";

/// Advice for every unusable key.
const CREATE: &str = "create a key: openssl genpkey -algorithm ed25519 -out key.pem";

/// Where a private key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In a file that only its owner may read.
    File(PathBuf),
    /// In the environment variable of this name.
    Environment(String),
}

/// The id of a key.
pub(crate) type KeyId = [u8; ID];

/// A key that verifies entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; PUBLIC]);

impl PublicKey {
    /// The key with these bytes (RFC 8032, section 5.1.5).
    #[must_use]
    pub fn new(bytes: [u8; PUBLIC]) -> Self {
        PublicKey(bytes)
    }

    /// Its id.
    pub(crate) fn id(&self) -> KeyId {
        let mut id = KeyId::default();
        id.iter_mut().zip(Sha256::digest(self.0)).for_each(|(to, from)| *to = from);
        id
    }

    /// Its id as hexadecimal digits, for users.
    #[must_use]
    pub fn name(&self) -> String {
        hexadecimal(&self.id())
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, signature).is_ok()
    }

    /// Whether `signature`, in base64, is one of `message` by this key.
    #[must_use]
    pub fn verifies_text(&self, message: &[u8], signature: &str) -> bool {
        STANDARD.decode(signature).is_ok_and(|signature| self.verifies(message, &signature))
    }

    /// Reads a key that is written as its [`fmt::Display`] writes it: its 32 bytes in base64.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        Some(PublicKey(STANDARD.decode(text).ok()?.try_into().ok()?))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&STANDARD.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PublicKey({})", self.name())
    }
}

/// A key that signs entries.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    public: PublicKey,
}

impl SigningKey {
    /// Reads the key from its source.
    ///
    /// # Errors
    /// If it is missing, is no Ed25519 key, or its file is readable by others. The text never has parts of the key.
    pub fn read(source: &KeySource) -> Result<Self, Error> {
        let text = match source {
            KeySource::File(path) => of_file(path, NAME, CREATE)?,
            KeySource::Environment(name) => std::env::var(name).map_err(|_| {
                let message = format!("the variable {name} (cache.remote.key) is not set, or is not text");
                Error::new(message, "set it to the private key in PEM, or set cache.remote.readOnly to true")
            })?,
        };
        let place = match source {
            KeySource::File(path) => format!("the file {}", path.display()),
            KeySource::Environment(name) => format!("the variable {name}"),
        };
        SigningKey::from_pem(&text)
            .ok_or_else(|| Error::new(format!("{place} has no Ed25519 private key (PKCS#8, PEM)"), CREATE))
    }

    /// The key in a PEM text; `None` if there is no Ed25519 key in it.
    #[must_use]
    pub fn from_pem(text: &str) -> Option<Self> {
        let body = text.split_once("-----BEGIN PRIVATE KEY-----")?.1;
        let body = body.split_once("-----END PRIVATE KEY-----")?.0;
        let body: String = body.split_ascii_whitespace().collect();
        let document = STANDARD.decode(body).ok()?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&document).ok()?;
        let public = PublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(SigningKey { pair, public })
    }

    /// The key that verifies its signatures.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        self.public
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(message).as_ref().to_vec()
    }

    /// Returns the signature of a message, in base64.
    #[must_use]
    pub fn sign_text(&self, message: &[u8]) -> String {
        STANDARD.encode(self.sign(message))
    }

    /// The text of a new private key, as the file of a key contains it.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn new_pem() -> Result<String, Error> {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .map_err(|_| Error::new("the system has no random numbers for a new key", CREATE))?;
        let body = STANDARD.encode(document.as_ref());
        Ok(format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningKey({})", self.public.name())
    }
}

/// Reads a secret, for the key `name` of the configuration. `create` is the advice how to create it.
///
/// # Errors
/// If it is missing, or its file is readable by others.
pub fn read_secret(source: &KeySource, name: &str, create: &'static str) -> Result<String, Error> {
    match source {
        KeySource::File(path) => of_file(path, name, create),
        KeySource::Environment(variable) => std::env::var(variable).map_err(|_| {
            Error::new(format!("the variable {variable} ({name}) is not set, or is not text"), create)
        }),
    }
}

fn of_file(path: &std::path::Path, name: &str, create: &'static str) -> Result<String, Error> {
    let failed = |why: String| {
        let message = format!("the key in {} ({name}) can't be used: {why}", path.display());
        Error::new(message, create)
    };
    let read = system::file::read(path, LARGEST_FILE).map_err(|error| failed(error.to_string()))?;
    let bytes = read.ok_or_else(|| failed("there is no such file".to_owned()))?;
    let mode = fs_err::metadata(path).map_err(|error| failed(error.to_string()))?.permissions().mode();
    if mode & OTHERS != 0 {
        let message = format!("the key in {} ({name}) is accessible to others", path.display());
        return Err(Error::new(message, "let only its owner read it (chmod 600), and replace the key"));
    }
    String::from_utf8(bytes).map_err(|_| failed("it is not text".to_owned()))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A new key, as a file has it.
    pub(crate) fn new_pem() -> String {
        SigningKey::new_pem().unwrap()
    }

    /// Test 1 of RFC 8032, section 7.1, in the short form of PKCS#8 that openssl writes.
    #[test]
    fn keys_of_openssl_are_read() {
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let bytes = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
        };
        let document = [bytes("302e020100300506032b657004220420"), bytes(seed)].concat();
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
            STANDARD.encode(document)
        );
        let key = SigningKey::from_pem(&pem).unwrap();
        assert_eq!(key.public().0.to_vec(), bytes(public));
        let signature = key.sign(b"");
        assert!(hexadecimal(&signature).starts_with("e5564300c360ac729086e2cc806e828a"));
        assert!(key.public().verifies(b"", &signature));
        assert!(!key.public().verifies(b"other", &signature));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.pem");
        fs_err::write(&file, new_pem()).unwrap();
        let source = KeySource::File(file.clone());
        for (mode, fits) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o666, false)] {
            fs_err::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(SigningKey::read(&source).is_ok(), fits, "{mode:o}");
        }
    }

    #[test]
    fn errors_never_have_the_text_of_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.pem");
        let secret = STANDARD.encode([7; 48]);
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{secret}\n-----END PRIVATE KEY-----\n");
        fs_err::write(&file, &pem).unwrap();
        fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let error = SigningKey::read(&KeySource::File(file)).unwrap_err();
        assert!(!format!("{error:?}").contains(&secret));
        assert!(error.to_string().contains("has no Ed25519 private key"), "{error}");
        let key = SigningKey::from_pem(&new_pem()).unwrap();
        assert_eq!(format!("{key:?}"), format!("SigningKey({})", key.public().name()));
    }
}
