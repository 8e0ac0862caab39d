//! The public keys of an issuer (JSON Web Key Set, RFC 7517).

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// Limit on the keys of an issuer; there are usually two or three.
const MAX_KEYS: usize = 100;

/// Limit on the keys that are tried for one token: ids are unique, except during some rotations.
const MAX_TRIED: usize = 4;

/// The keys that signatures are verified with.
#[derive(Debug, Default)]
pub(crate) struct KeySet(Vec<PublicKey>);

#[derive(Debug)]
struct PublicKey {
    id: Option<String>,
    /// The only algorithm that it is for, if it names one.
    only_for: Option<KeyAlgorithm>,
    kind: Kind,
    key: DecodingKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

/// The reason why a document of an issuer can't be read or used, safe to show.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unusable(pub(crate) String);

impl KeySet {
    /// Reads a document. Keys for other purposes and of unknown kinds are left out, and so are shared secrets, because
    /// those who can verify with one can also sign.
    ///
    /// # Errors
    /// If it is no set of keys, has too many, or none that verifies signatures.
    pub(crate) fn parse(document: &[u8]) -> Result<Self, Unusable> {
        let document: Document =
            strict_json::from_slice(document).map_err(|error| Unusable(error.to_string()))?;
        if document.keys.len() > MAX_KEYS {
            return Err(Unusable(format!("it has more than {MAX_KEYS} keys")));
        }
        let keys: Vec<PublicKey> = document.keys.into_iter().filter_map(PublicKey::read).collect();
        match keys.is_empty() {
            true => Err(Unusable("it has no key that verifies signatures".to_owned())),
            false => Ok(KeySet(keys)),
        }
    }

    /// The keys that a token with this key id and algorithm may be signed with. Without an id that is the only key of
    /// the algorithm, if there is only one.
    pub(crate) fn candidates(&self, id: Option<&str>, algorithm: Algorithm) -> Vec<&DecodingKey> {
        let fitting = self.0.iter().filter(|key| key.fits(algorithm));
        let found: Vec<&DecodingKey> =
            fitting.filter(|key| id.is_none() || key.id.as_deref() == id).map(|key| &key.key).collect();
        let most = if id.is_some() { MAX_TRIED } else { 1 };
        if found.len() > most { Vec::new() } else { found }
    }
}

impl PublicKey {
    fn read(key: Value) -> Option<Self> {
        let key: Jwk = serde_json::from_value(key).ok()?;
        let is_for_signatures = match (&key.common.public_key_use, &key.common.key_operations) {
            (Some(PublicKeyUse::Signature), _) => true,
            (Some(_), _) => false,
            (None, Some(operations)) => operations.contains(&KeyOperations::Verify),
            (None, None) => true,
        };
        let kind = match &key.algorithm {
            AlgorithmParameters::RSA(_) => Kind::Rsa,
            AlgorithmParameters::EllipticCurve(point) if point.curve == EllipticCurve::P256 => Kind::P256,
            AlgorithmParameters::EllipticCurve(point) if point.curve == EllipticCurve::P384 => Kind::P384,
            AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => Kind::Ed25519,
            _ => return None,
        };
        let (id, only_for) = (key.common.key_id.clone(), key.common.key_algorithm);
        let key = DecodingKey::from_jwk(&key).ok().filter(|_| is_for_signatures)?;
        Some(PublicKey { id, only_for, kind, key })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        let kind = match algorithm {
            Algorithm::RS256 | Algorithm::RS384 | Algorithm::RS512 => Kind::Rsa,
            Algorithm::PS256 | Algorithm::PS384 | Algorithm::PS512 => Kind::Rsa,
            Algorithm::ES256 => Kind::P256,
            Algorithm::ES384 => Kind::P384,
            Algorithm::EdDSA => Kind::Ed25519,
            _ => return false,
        };
        self.kind == kind && self.only_for.is_none_or(|only| only == KeyAlgorithm::from(algorithm))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn elliptic(id: &str, more: &Value) -> Value {
        let coordinate = "A".repeat(43);
        let mut key = json!({ "kty": "EC", "crv": "P-256", "kid": id, "x": coordinate, "y": coordinate });
        key.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        key
    }

    fn set(keys: &[Value]) -> Result<KeySet, Unusable> {
        KeySet::parse(json!({ "keys": keys }).to_string().as_bytes())
    }

    fn count(keys: &[Value], id: Option<&str>, algorithm: Algorithm) -> usize {
        set(keys).unwrap().candidates(id, algorithm).len()
    }

    #[test]
    fn a_key_is_used_only_for_its_purpose_and_algorithm() {
        let plain = elliptic("a", &json!({}));
        let one = std::slice::from_ref(&plain);
        assert_eq!(count(one, Some("a"), Algorithm::ES256), 1);
        assert_eq!(count(one, Some("a"), Algorithm::ES384), 0, "another curve");
        assert_eq!(count(one, Some("a"), Algorithm::RS256), 0, "another kind");
        assert_eq!(count(one, Some("b"), Algorithm::ES256), 0, "another id");
        for wrong in [json!({ "use": "enc" }), json!({ "key_ops": ["sign"] }), json!({ "alg": "ES384" })] {
            let keys = [plain.clone(), elliptic("b", &wrong)];
            assert_eq!(count(&keys, Some("b"), Algorithm::ES256), 0, "{wrong}");
        }
        for right in [json!({ "use": "sig" }), json!({ "key_ops": ["verify"] }), json!({ "alg": "ES256" })] {
            assert_eq!(count(&[elliptic("b", &right)], Some("b"), Algorithm::ES256), 1, "{right}");
        }
    }

    #[test]
    fn a_token_without_a_key_id_needs_a_single_key() {
        let keys = [elliptic("a", &json!({})), elliptic("b", &json!({}))];
        assert_eq!(count(&keys[..1], None, Algorithm::ES256), 1);
        assert_eq!(count(&keys, None, Algorithm::ES256), 0);
    }

    #[test]
    fn shared_secrets_and_other_documents_are_refused() {
        let secret = json!({ "kty": "oct", "kid": "a", "k": "c2VjcmV0" });
        assert!(set(&[secret]).is_err() && set(&[]).is_err());
        assert!(KeySet::parse(b"{}").is_err() && KeySet::parse(b"<html>").is_err());
        assert!(KeySet::parse(br#"{"keys":[],"keys":[]}"#).is_err());
        assert!(set(&vec![elliptic("a", &json!({})); MAX_KEYS + 1]).unwrap_err().0.contains("more than"));
    }
}
