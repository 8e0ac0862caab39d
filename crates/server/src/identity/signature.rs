//! Verifies the signatures of tokens by ring, which the process has for TLS anyway.
//!
//! A client sends the same token with each request. Verifying its signature takes longer than refusing a request, so right
//! signatures are remembered. Everything else about a token, above all its expiry, is checked for each request.

use std::collections::HashSet;
use std::sync::LazyLock;

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind, new_error};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use parking_lot::Mutex;
use ring::signature as ring_signature;
use ring::signature::{RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};

/// Maximum number of signatures that are remembered (32 bytes each). Then all are forgotten.
const REMEMBERED: usize = 10_000;

/// The hashes of what was verified: algorithm, key, message and signature.
static RIGHT: LazyLock<Mutex<HashSet<[u8; 32]>>> = LazyLock::new(Mutex::default);

/// Verifies by ring. This process signs no tokens.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(new_error(ErrorKind::UnsupportedAlgorithm)),
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes ring verify the signatures of tokens.
pub(super) fn provide() {
    // Fails if it was done before.
    let _ = PROVIDER.install_default();
}

/// Verifies signatures with one key.
struct RingVerifier {
    algorithm: Algorithm,
    key: Key,
}

enum Key {
    Rsa(&'static RsaParameters, RsaPublicKeyComponents<Vec<u8>>),
    Curve(UnparsedPublicKey<Vec<u8>>),
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let hash = self.hash(message, signature);
        let right = || RIGHT.lock();
        if right().contains(&hash) {
            return Ok(());
        }
        let verified = match &self.key {
            Key::Rsa(parameters, key) => key.verify(parameters, message, signature),
            Key::Curve(key) => key.verify(message, signature),
        };
        verified.map_err(|_| signature::Error::new())?;
        let mut right = right();
        if right.len() >= REMEMBERED {
            right.clear();
        }
        right.insert(hash);
        Ok(())
    }
}

impl RingVerifier {
    /// A hash of everything that the result of a verification depends on.
    fn hash(&self, message: &[u8], signature: &[u8]) -> [u8; 32] {
        let [first, second]: [&[u8]; 2] = match &self.key {
            Key::Rsa(_, key) => [&key.n, &key.e],
            Key::Curve(key) => [key.as_ref(), &[]],
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{:?}", self.algorithm).as_bytes());
        for part in [first, second, message, signature] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        *hasher.finalize().as_bytes()
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    if algorithm.family() != key.family() {
        return Err(new_error(ErrorKind::InvalidAlgorithm));
    }
    let key = match key.kind() {
        DecodingKeyKind::RsaModulusExponent { n, e } => {
            let parameters = rsa(*algorithm).ok_or_else(|| new_error(ErrorKind::UnsupportedAlgorithm))?;
            Key::Rsa(parameters, RsaPublicKeyComponents { n: trimmed(n), e: trimmed(e) })
        }
        DecodingKeyKind::SecretOrDer(key) => {
            let curve = curve(*algorithm).ok_or_else(|| new_error(ErrorKind::UnsupportedAlgorithm))?;
            Key::Curve(UnparsedPublicKey::new(curve, key.clone()))
        }
    };
    Ok(Box::new(RingVerifier { algorithm: *algorithm, key }))
}

/// The parameters of an RSA signature: keys of 2048 to 8192 bits (RFC 7518, section 3.3).
fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::RS256 => &ring_signature::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &ring_signature::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &ring_signature::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &ring_signature::RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &ring_signature::RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &ring_signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn curve(algorithm: Algorithm) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match algorithm {
        Algorithm::ES256 => &ring_signature::ECDSA_P256_SHA256_FIXED,
        Algorithm::ES384 => &ring_signature::ECDSA_P384_SHA384_FIXED,
        Algorithm::EdDSA => &ring_signature::ED25519,
        _ => return None,
    })
}

/// A number without zeros before it, which ring refuses and some issuers write.
fn trimmed(number: &[u8]) -> Vec<u8> {
    number.iter().copied().skip_while(|byte| *byte == 0).collect()
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{Ed25519KeyPair, KeyPair as _};

    use super::*;

    #[test]
    fn only_the_same_signature_by_the_same_key_is_remembered() {
        let pair = || {
            let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
            Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap()
        };
        let verifier = |pair: &Ed25519KeyPair| {
            let key = UnparsedPublicKey::new(
                &ring_signature::ED25519 as &dyn VerificationAlgorithm,
                pair.public_key().as_ref().to_vec(),
            );
            RingVerifier { algorithm: Algorithm::EdDSA, key: Key::Curve(key) }
        };
        let (own, other) = (pair(), pair());
        let signature = own.sign(b"message").as_ref().to_vec();
        for _ in 0..2 {
            assert!(verifier(&own).verify(b"message", &signature).is_ok());
            assert!(verifier(&other).verify(b"message", &signature).is_err(), "another key");
            assert!(verifier(&own).verify(b"massage", &signature).is_err(), "another message");
            let wrong = [&signature[..63], &[signature[63] ^ 1]].concat();
            assert!(verifier(&own).verify(b"message", &wrong).is_err(), "another signature");
        }
        let hash = |algorithm| RingVerifier { algorithm, ..verifier(&own) }.hash(b"message", &signature);
        assert_ne!(hash(Algorithm::EdDSA), hash(Algorithm::ES256));
    }
}
