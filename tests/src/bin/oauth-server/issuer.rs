//! The issuer's keys, and the access tokens that it signs: right ones, or wrong in the way that a test wants.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    error::Unspecified,
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
        RsaKeyPair, RsaPublicKeyComponents,
    },
};
use serde_json::{Map, Value, json};

/// The audience of tokens that do not name another one.
const AUDIENCE: &str = "https://tools.example.com/mcp";

/// A key for tests, because ring can't make one. It protects nothing.
pub(crate) const RSA: &[u8] = include_bytes!("rsa.pk8");

/// The lifetime of a token in seconds.
const LIFETIME: i64 = 300;

/// The issuer.
pub(crate) struct Issuer {
    /// The number of sets of keys so far.
    number: usize,
    current: Keys,
    retired: Option<Keys>,
    /// Whether it answers no requests.
    pub(crate) is_down: bool,
}

/// One key of each kind.
struct Keys {
    id: String,
    elliptic: EcdsaKeyPair,
    edwards: Ed25519KeyPair,
    rsa: RsaKeyPair,
}

impl Keys {
    fn new(id: String) -> Result<Self, Unspecified> {
        let random = SystemRandom::new();
        let elliptic = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)?;
        let edwards = Ed25519KeyPair::generate_pkcs8(&random)?;
        Ok(Keys {
            id,
            elliptic: EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, elliptic.as_ref(), &random)
                .map_err(|_| Unspecified)?,
            edwards: Ed25519KeyPair::from_pkcs8(edwards.as_ref()).map_err(|_| Unspecified)?,
            rsa: RsaKeyPair::from_pkcs8(RSA).map_err(|_| Unspecified)?,
        })
    }

    fn id(&self, algorithm: &str) -> String {
        format!("{}-{algorithm}", self.id)
    }

    fn public(&self) -> Vec<Value> {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let (x, y) = self.elliptic.public_key().as_ref()[1..].split_at(32);
        let rsa: RsaPublicKeyComponents<Vec<u8>> = self.rsa.public().into();
        vec![
            json!({ "kid": self.id("ES256"), "kty": "EC", "crv": "P-256", "x": text(x), "y": text(y), "use": "sig" }),
            json!({ "kid": self.id("EdDSA"), "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA",
                    "x": text(self.edwards.public_key().as_ref()) }),
            json!({ "kid": self.id("RS256"), "kty": "RSA", "n": text(&rsa.n), "e": text(&rsa.e), "alg": "RS256" }),
            // Keys that must not be used.
            json!({ "kid": "encryption", "kty": "EC", "crv": "P-256", "x": text(x), "y": text(y), "use": "enc" }),
            json!({ "kid": "secret", "kty": "oct", "k": text(b"a secret that everyone knows") }),
            json!({ "kid": "new", "kty": "of-the-future" }),
        ]
    }

    fn sign(&self, algorithm: &str, message: &[u8]) -> Result<Vec<u8>, Unspecified> {
        let random = SystemRandom::new();
        Ok(match algorithm {
            "ES256" => self.elliptic.sign(&random, message)?.as_ref().to_vec(),
            "EdDSA" => self.edwards.sign(message).as_ref().to_vec(),
            "RS256" => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                self.rsa.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)?;
                signature
            }
            // With the public key as the secret, which a careless verifier would use.
            "HS256" => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, self.elliptic.public_key().as_ref());
                hmac::sign(&key, message).as_ref().to_vec()
            }
            _ => Vec::new(),
        })
    }
}

impl Issuer {
    pub(crate) fn new() -> Result<Self, Unspecified> {
        Ok(Issuer { number: 1, current: Keys::new("key-1".to_owned())?, retired: None, is_down: false })
    }

    /// Replaces all keys.
    pub(crate) fn rotate(&mut self) -> Result<(), Unspecified> {
        self.number += 1;
        let next = Keys::new(format!("key-{}", self.number))?;
        self.retired = Some(std::mem::replace(&mut self.current, next));
        Ok(())
    }

    /// The public keys (RFC 7517).
    pub(crate) fn key_set(&self) -> Value {
        json!({ "keys": self.current.public() })
    }

    /// A token as `wanted` says: `alg` (default ES256), `key` (`current`, `retired`, or `foreign`: that of nobody with
    /// the id of the current one), and members of `header` and `claims`, where null removes one.
    pub(crate) fn token(&self, wanted: &Value, issuer: &str) -> Result<String, Unspecified> {
        let algorithm = wanted["alg"].as_str().unwrap_or("ES256");
        let foreign = Keys::new(self.current.id.clone())?;
        let keys = match wanted["key"].as_str() {
            Some("retired") => self.retired.as_ref().ok_or(Unspecified)?,
            Some("foreign") => &foreign,
            _ => &self.current,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        let header = json!({ "alg": algorithm, "typ": "at+jwt", "kid": keys.id(algorithm) });
        let claims = json!({
            "iss": issuer, "aud": AUDIENCE, "sub": "alice", "iat": now, "exp": now + LIFETIME, "client_id": "tests",
        });
        let times = |claims: Value| {
            // Times are relative to now.
            let mut claims = claims;
            for name in ["exp", "nbf", "iat"] {
                if let Some(offset) = claims[name].as_i64().filter(|offset| offset.abs() < 1_000_000) {
                    claims[name] = json!(now + offset);
                }
            }
            claims
        };
        let header = with(header, &wanted["header"]);
        let claims = times(with(claims, &wanted["claims"]));
        let text = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let message = format!("{}.{}", text(&header), text(&claims));
        let signature = keys.sign(algorithm, message.as_bytes())?;
        Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

fn with(mut object: Value, changes: &Value) -> Value {
    let Some(members) = object.as_object_mut() else { return object };
    for (name, value) in changes.as_object().unwrap_or(&Map::new()) {
        match value {
            Value::Null => drop(members.remove(name)),
            value => drop(members.insert(name.clone(), value.clone())),
        }
    }
    object
}
