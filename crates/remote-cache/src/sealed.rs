//! The form of an entry in the store: a signed header, then the packed files.
//!
//! | bytes | contents |
//! | --- | --- |
//! | 8 | `TOOLSMTH` |
//! | 2 | version of this form, big endian |
//! | 8 | id of the key that signed |
//! | 4 | length of the header, big endian |
//! | 64 | signature (Ed25519) of a fixed text, of everything before, and of the header |
//! | length | header: JSON |
//! | rest | the files (`archive`), whose length and SHA-256 hash the header has |
//!
//! The header names the entry, so a store that answers with another entry, or with the same one for another target, is
//! found out. Nothing of an entry is used, or even parsed, before its signature is verified.

use runner::ArtifactId;
use serde::{Deserialize, Serialize};

use crate::archive::PackedFile;
use crate::key::{ID, KeyId, PublicKey, SIGNATURE, SigningKey, hexadecimal};

/// Version of this form. Entries of other versions are refused, and replaced by new ones.
pub(crate) const VERSION: u16 = 1;

const MAGIC: &[u8; 8] = b"TOOLSMTH";
/// Distinguishes these signatures from others by the same key.
const CONTEXT: &[u8] = b"toolsmith remote cache entry\0";
/// Length of what precedes the header, in bytes.
pub(crate) const PRELUDE: usize = MAGIC.len() + 2 + ID + 4 + SIGNATURE;
/// Maximum length of a header, in bytes (256 KiB): one of a layer with 40 files has about 4 KB.
const LONGEST_HEADER: usize = 256 << 10;

/// The signed description of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    layer: String,
    target: String,
    key: String,
    pub(crate) files: Vec<PackedFile>,
    /// Length of the packed files, in bytes.
    pub(crate) packed: u64,
    /// Their SHA-256 hash, as hexadecimal digits.
    pub(crate) sha256: String,
}

/// The reason why an entry is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("it is not an entry")]
    NotAnEntry,
    #[error("it has the form {0}, and this program reads the form {VERSION}")]
    Version(u16),
    #[error("it is signed with the key {0}, which is not among cache.remote.publicKeys")]
    UnknownKey(String),
    #[error("its signature is wrong")]
    Signature,
    #[error("it is another entry: {0}")]
    OtherEntry(String),
    #[error("it is too large")]
    TooLarge,
    #[error("it is truncated")]
    Truncated,
    #[error("its contents are damaged")]
    Contents,
}

impl Header {
    pub(crate) fn new(id: &ArtifactId, files: Vec<PackedFile>, packed: u64, sha256: String) -> Self {
        let ArtifactId { bucket, target, key } = id;
        Header {
            layer: bucket.name().to_owned(),
            target: (*target).to_owned(),
            key: key.clone(),
            files,
            packed,
            sha256,
        }
    }

    /// The signed header, as it precedes the packed files; `None` if it would be too long.
    pub(crate) fn seal(&self, key: &SigningKey) -> Option<Vec<u8>> {
        let header = serde_json::to_vec(self).ok()?;
        if header.len() > LONGEST_HEADER {
            return None;
        }
        let length = u32::try_from(header.len()).ok()?;
        let mut sealed = MAGIC.to_vec();
        sealed.extend(VERSION.to_be_bytes());
        sealed.extend(key.public().id());
        sealed.extend(length.to_be_bytes());
        let signature = key.sign(&signed(&sealed, &header));
        sealed.extend(signature);
        sealed.extend(header);
        Some(sealed)
    }

    fn check(&self, wanted: &ArtifactId, max_bytes: u64) -> Result<(), Refusal> {
        let ArtifactId { bucket, target, key } = wanted;
        if (self.layer.as_str(), self.target.as_str(), &self.key) != (bucket.name(), target, key) {
            // Signed, so the text is ours.
            return Err(Refusal::OtherEntry(format!("{}/{}/{}", self.layer, self.target, self.key)));
        }
        let bytes = self.files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.length));
        if bytes > max_bytes { Err(Refusal::TooLarge) } else { Ok(()) }
    }
}

fn signed(prelude: &[u8], header: &[u8]) -> Vec<u8> {
    [CONTEXT, prelude, header].concat()
}

/// The bytes that precede a header.
struct Prelude {
    signer: KeyId,
    length: usize,
}

impl Prelude {
    fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(Refusal::NotAnEntry)?;
        let (version, rest) = rest.split_first_chunk::<2>().ok_or(Refusal::Truncated)?;
        let version = u16::from_be_bytes(*version);
        if version != VERSION {
            return Err(Refusal::Version(version));
        }
        let (signer, rest) = rest.split_first_chunk::<ID>().ok_or(Refusal::Truncated)?;
        let length = *rest.first_chunk::<4>().ok_or(Refusal::Truncated)?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > LONGEST_HEADER { Err(Refusal::TooLarge) } else { Ok(Prelude { signer: *signer, length }) }
    }
}

/// Reads the header at the beginning of an entry, of which `bytes` have arrived; `None` if more are needed. Returns the
/// header and the number of bytes that precede the packed files.
///
/// # Errors
/// If the entry is not authentic, not the wanted one, or larger than `max_bytes` unpacked.
pub(crate) fn open(
    bytes: &[u8],
    keys: &[PublicKey],
    wanted: &ArtifactId,
    max_bytes: u64,
) -> Result<Option<(Header, usize)>, Refusal> {
    if bytes.len() < PRELUDE {
        return Ok(None);
    }
    let prelude = Prelude::read(bytes)?;
    let end = PRELUDE + prelude.length;
    let Some(header) = bytes.get(PRELUDE..end) else { return Ok(None) };
    let key = keys
        .iter()
        .find(|key| key.id() == prelude.signer)
        .ok_or_else(|| Refusal::UnknownKey(hexadecimal(&prelude.signer)))?;
    let (before, signature) = bytes[..PRELUDE].split_at(PRELUDE - SIGNATURE);
    if !key.verifies(&signed(before, header), signature) {
        return Err(Refusal::Signature);
    }
    let header: Header = serde_json::from_slice(header).map_err(|_| Refusal::NotAnEntry)?;
    header.check(wanted, max_bytes)?;
    Ok(Some((header, end)))
}

#[cfg(test)]
mod tests {
    use runner::Bucket;

    use super::*;
    use crate::key::tests::new_pem;

    fn id(key: &str) -> ArtifactId {
        ArtifactId::new(Bucket::Programs, key)
    }

    fn key() -> SigningKey {
        SigningKey::from_pem(&new_pem()).unwrap()
    }

    fn header(id: &ArtifactId) -> Header {
        let file = PackedFile { name: "program".to_owned(), length: 100, executable: true };
        Header::new(id, vec![file], 50, "00".repeat(32))
    }

    #[test]
    fn a_sealed_header_opens_only_with_its_key_and_for_its_entry() {
        let (signer, other) = (key(), key());
        let sealed = header(&id("a")).seal(&signer).unwrap();
        let open = |keys: &[PublicKey], id: &ArtifactId, max| super::open(&sealed, keys, id, max);
        let keys = [other.public(), signer.public()];
        let opened = open(&keys, &id("a"), 100).unwrap().unwrap();
        assert_eq!(opened, (header(&id("a")), sealed.len()));
        let unknown = Refusal::UnknownKey(signer.public().name());
        assert_eq!(open(&[other.public()], &id("a"), 100), Err(unknown));
        assert!(matches!(open(&keys, &id("b"), 100), Err(Refusal::OtherEntry(_))));
        assert!(matches!(
            open(&keys, &ArtifactId::new(Bucket::Bindings, "a"), 100),
            Err(Refusal::OtherEntry(_))
        ));
        let elsewhere = ArtifactId { target: "other-target", ..id("a") };
        assert!(matches!(open(&keys, &elsewhere, 100), Err(Refusal::OtherEntry(_))));
        assert_eq!(open(&keys, &id("a"), 99), Err(Refusal::TooLarge));
    }

    #[test]
    fn every_changed_bit_of_a_header_is_refused() {
        let signer = key();
        let sealed = header(&id("a")).seal(&signer).unwrap();
        for at in 0..sealed.len() {
            for bit in 0..8 {
                let mut changed = sealed.clone();
                changed[at] ^= 1 << bit;
                let opened = open(&changed, &[signer.public()], &id("a"), 100);
                // A longer header has not arrived yet.
                assert!(!matches!(opened, Ok(Some(_))), "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn a_part_of_a_header_is_not_opened() {
        let signer = key();
        let sealed = header(&id("a")).seal(&signer).unwrap();
        for length in 0..sealed.len() {
            assert_eq!(open(&sealed[..length], &[signer.public()], &id("a"), 100), Ok(None), "{length}");
        }
    }

    #[test]
    fn other_versions_are_refused_by_their_number() {
        let signer = key();
        let mut sealed = header(&id("a")).seal(&signer).unwrap();
        sealed[MAGIC.len() + 1] = 0;
        assert_eq!(open(&sealed, &[signer.public()], &id("a"), 100), Err(Refusal::Version(0)));
    }

    #[test]
    fn a_header_of_any_length_is_bounded() {
        let signer = key();
        let mut sealed = header(&id("a")).seal(&signer).unwrap();
        sealed[MAGIC.len() + 2 + ID] = 0xff;
        assert_eq!(open(&sealed, &[signer.public()], &id("a"), 100), Err(Refusal::TooLarge));
    }
}
