//! The client `machine`: its secret, its private keys, and the check of what it sends to authenticate.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ring::{
    error::Unspecified,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED,
        ECDSA_P384_SHA384_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
        RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA512, RsaKeyPair, UnparsedPublicKey,
        VerificationAlgorithm,
    },
};
use serde_json::{Value, json};

use crate::{ParsedRequest, issuer::RSA};

/// The client's id and secret.
pub(crate) const MACHINE: (&str, &str) = ("machine", "secret-of-machine");

/// The longest lifetime of an assertion, in seconds.
const LIFETIME: u64 = 300;

/// The keys of the client, one of each kind.
pub(crate) struct MachineKeys(Vec<Key>);

struct Key {
    kind: &'static str,
    pem: String,
    public: Vec<u8>,
}

impl MachineKeys {
    pub(crate) fn new() -> Result<Self, Unspecified> {
        let random = SystemRandom::new();
        let curve = |kind, algorithm| -> Result<Key, Unspecified> {
            let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random)?;
            let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random);
            let public = pair.map_err(|_| Unspecified)?.public_key().as_ref().to_vec();
            Ok(Key { kind, pem: pem(document.as_ref()), public })
        };
        let edwards = Ed25519KeyPair::generate_pkcs8(&random)?;
        let pair = Ed25519KeyPair::from_pkcs8(edwards.as_ref()).map_err(|_| Unspecified)?;
        let rsa = RsaKeyPair::from_pkcs8(RSA).map_err(|_| Unspecified)?;
        Ok(MachineKeys(vec![
            curve("P-256", &ECDSA_P256_SHA256_FIXED_SIGNING)?,
            curve("P-384", &ECDSA_P384_SHA384_FIXED_SIGNING)?,
            Key { kind: "Ed25519", pem: pem(edwards.as_ref()), public: pair.public_key().as_ref().to_vec() },
            Key { kind: "RSA", pem: pem(RSA), public: rsa.public_key().as_ref().to_vec() },
        ]))
    }

    /// The private keys as PEM, by kind.
    pub(crate) fn private(&self) -> Value {
        self.0.iter().map(|key| (key.kind.to_owned(), json!(key.pem))).collect()
    }

    /// Checks an assertion for this authorization server (RFC 7523, section 3).
    pub(crate) fn check(&self, request: &ParsedRequest, issuer: &str) -> Result<Assertion, &'static str> {
        let assertion = request.field("client_assertion");
        let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
        // The assertion alone names the client.
        if request.field("client_assertion_type") != kind || !request.field("client_id").is_empty() {
            return Err("invalid_request");
        }
        let (message, signature) = assertion.rsplit_once('.').ok_or("invalid_client")?;
        let (header, claims) = message.split_once('.').ok_or("invalid_client")?;
        let header: Value = part(header).ok_or("invalid_client")?;
        let claims: Value = part(claims).ok_or("invalid_client")?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "invalid_client")?;
        let (kind, algorithm) = algorithm(header["alg"].as_str()).ok_or("invalid_client")?;
        let key = self.0.iter().find(|key| key.kind == kind).ok_or("invalid_client")?;
        let verified = UnparsedPublicKey::new(algorithm, &key.public).verify(message.as_bytes(), &signature);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let is_sound = verified.is_ok()
            && ["iss", "sub"].iter().all(|claim| claims[claim] == MACHINE.0)
            && claims["aud"] == issuer
            && claims["iat"].as_u64().is_some_and(|made| made <= now)
            && claims["exp"].as_u64().is_some_and(|end| (now..now + LIFETIME).contains(&end));
        let id = claims["jti"].as_str().filter(|_| is_sound).ok_or("invalid_client")?;
        Ok(Assertion { id: id.to_owned() })
    }
}

/// A right assertion.
pub(crate) struct Assertion {
    /// Its id, which is used once.
    pub(crate) id: String,
}

/// The kind of key of an algorithm, and how its signatures are verified.
fn algorithm(name: Option<&str>) -> Option<(&'static str, &'static dyn VerificationAlgorithm)> {
    Some(match name? {
        "ES256" => ("P-256", &ECDSA_P256_SHA256_FIXED),
        "ES384" => ("P-384", &ECDSA_P384_SHA384_FIXED),
        "EdDSA" => ("Ed25519", &ED25519),
        "RS256" => ("RSA", &RSA_PKCS1_2048_8192_SHA256),
        "PS512" => ("RSA", &RSA_PSS_2048_8192_SHA512),
        _ => return None,
    })
}

fn part(text: &str) -> Option<Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

fn pem(document: &[u8]) -> String {
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(document))
}
